// Sentence encoders that onnxruntime-web runs, which the page brings along. The twin of
// python/gossamer/embed/onnx.py: each text is computed alone.
import type { TextCore, Tokenizer } from "../core/text.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { encodeText } from "../text/text.ts";
import type { Embedder } from "./embedder.ts";
import { type EncoderSettings, fetchModelFolder } from "./folder.ts";
import { checkLengths, embedPieces, toUnit } from "./pieces.ts";

export interface OrtTensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}

export interface OrtSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, OrtTensor>): Promise<Record<string, OrtTensor>>;
}

/** What is used of onnxruntime-web: `import * as ort from "onnxruntime-web"` fits. */
export interface Ort {
  readonly env: { readonly wasm: { wasmPaths?: unknown; numThreads?: number } };
  readonly InferenceSession: {
    create(model: Uint8Array, options?: Record<string, unknown>): Promise<OrtSession>;
  };
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => OrtTensor;
}

export interface OnnxOptions {
  readonly ort: Ort;
  /** Where the page keeps onnxruntime's own .wasm files; nothing is fetched from elsewhere. */
  readonly wasmPaths: string;
  readonly model: Uint8Array;
  readonly vocabulary: Uint8Array; // vocab.txt: one piece a line
  readonly settings: EncoderSettings;
  readonly text: TextCore;
}

const OUTPUTS = ["sentence_embedding", "last_hidden_state"];
const INPUTS = ["input_ids", "attention_mask", "token_type_ids"];

/** Loads the model in a folder on a server: model.onnx, vocab.txt and gossamer-model.json. */
export async function openOnnxEmbedder(
  url: string | URL,
  options: Pick<OnnxOptions, "ort" | "wasmPaths" | "text"> & { fetch?: typeof fetch; signal?: AbortSignal },
): Promise<Embedder> {
  const folder = await fetchModelFolder(url, options.fetch ?? fetch, options.signal);
  return onnxEmbedder({ ...options, ...folder });
}

/** An embedder over an ONNX model with a WordPiece vocabulary. */
export async function onnxEmbedder(options: OnnxOptions): Promise<Embedder> {
  const { settings } = options;
  const tokenizer = options.text.tokenizer(options.vocabulary, settings.isLowercase);
  const frame = frameOf(tokenizer);
  const session = await openSession(options);
  const encode = (text: string) => encodeOne(options.ort, session, settings, idsOf(tokenizer, frame, text));
  const countOf = (text: string) => tokenizer.tokenStarts(encodeText(text)).length;
  const prompts = Math.max(countOf(settings.textPrompt), countOf(settings.questionPrompt));
  const maxTokens = settings.maxLength - frame.length - prompts;
  if (maxTokens < 1)
    throw new GossamerError(
      "InvalidArgument",
      `the model takes ${settings.maxLength} tokens, which leaves no room for a text; set max_length in ` +
        "its gossamer-model.json",
    );

  async function encodeAll(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    checkLengths(texts.map(countOf), settings.maxLength - frame.length);
    const rows: Float32Array[] = [];
    for (const text of texts) {
      throwIfAborted(signal);
      rows.push(await encode(text));
    }
    return rows;
  }

  return {
    name: settings.name,
    fingerprint: settings.fingerprint,
    dim: settings.dim || (await encode("")).length,
    maxTokens,
    tokenStarts: (bytes) => tokenizer.tokenStarts(bytes),
    embed: async (texts, signal) =>
      joined(await encodeAll(texts.map((text) => settings.textPrompt + text), signal)),
    embedQuestion: (text, signal) =>
      embedPieces(text, (bytes) => tokenizer.tokenStarts(bytes), maxTokens, (pieces) =>
        encodeAll(pieces.map((piece) => settings.questionPrompt + piece), signal),
      ),
  };
}

async function openSession(options: OnnxOptions): Promise<OrtSession> {
  const { env, InferenceSession } = options.ort;
  env.wasm.wasmPaths = options.wasmPaths;
  // Threads need headers that few sites send; one is what every page has.
  env.wasm.numThreads = 1;
  let session: OrtSession;
  try {
    session = await InferenceSession.create(options.model, { executionProviders: ["wasm"], logSeverityLevel: 4 });
  } catch (error) {
    throw new GossamerError(
      "MissingModel",
      `onnxruntime-web cannot load the model ${options.settings.name} (${String(error).slice(0, 300)}); ` +
        `check the file, and that ${options.wasmPaths} holds onnxruntime's .wasm files`,
    );
  }
  const others = session.inputNames.filter((name) => !INPUTS.includes(name));
  if (others.length > 0 || !session.inputNames.includes("input_ids"))
    throw new GossamerError(
      "InvalidArgument",
      `the model takes ${session.inputNames.join(", ")}, but expected is an encoder that takes ` +
        INPUTS.join(", "),
    );
  return session;
}

/** The ids of [CLS] and [SEP], which stand around every text. */
function frameOf(tokenizer: Tokenizer): readonly [number, number] {
  const [first, last] = ["[CLS]", "[SEP]"].map((piece) => tokenizer.idOf(piece)) as [number, number];
  if (first < 0 || last < 0)
    throw new GossamerError(
      "InvalidArgument",
      "the vocabulary holds no [CLS] and [SEP], which are to stand around every text; is it the model's?",
    );
  return [first, last];
}

function idsOf(tokenizer: Tokenizer, frame: readonly [number, number], text: string): BigInt64Array {
  return BigInt64Array.from([frame[0], ...tokenizer.tokenIds(encodeText(text)), frame[1]], BigInt);
}

async function encodeOne(
  ort: Ort,
  session: OrtSession,
  settings: EncoderSettings,
  ids: BigInt64Array,
): Promise<Float32Array> {
  const given: Record<string, BigInt64Array> = {
    input_ids: ids,
    attention_mask: new BigInt64Array(ids.length).fill(1n),
    token_type_ids: new BigInt64Array(ids.length),
  };
  const feeds = session.inputNames.map((name) => [
    name,
    new ort.Tensor("int64", given[name] ?? ids, [1, ids.length]),
  ]);
  const name = OUTPUTS.find((usual) => session.outputNames.includes(usual)) ?? session.outputNames[0] ?? "";
  let output: OrtTensor | undefined;
  try {
    output = (await session.run(Object.fromEntries(feeds)))[name];
  } catch (error) {
    throw new GossamerError(
      "Damaged",
      `the model failed on a text of ${ids.length} tokens: ${String(error).slice(0, 300)}; do its files ` +
        "belong together?",
    );
  }
  return toUnit(pool(output, ids.length, settings.pooling));
}

/** Makes one vector of those of the tokens. */
function pool(output: OrtTensor | undefined, tokens: number, pooling: "mean" | "cls"): Float32Array {
  const data = output?.data;
  const dims = output?.dims ?? [];
  const dim = dims[dims.length - 1] ?? 0;
  const rows = dims.length === 2 ? 1 : tokens;
  const isExpected = dims[0] === 1 && (dims.length === 2 || (dims.length === 3 && dims[1] === tokens));
  if (!(data instanceof Float32Array) || !isExpected || data.length !== rows * dim)
    throw new GossamerError(
      "InvalidArgument",
      `the model gave an array of shape ${dims.join(" × ")} for ${tokens} tokens; expected 32-bit floats, ` +
        "a vector for each token or for each text",
    );
  if (rows === 1 || pooling === "cls") return data.slice(0, dim);
  const mean = new Float32Array(dim);
  for (let at = 0; at < data.length; at += 1) mean[at % dim]! += data[at] ?? 0;
  return mean.map((value) => value / rows);
}

function joined(rows: readonly Float32Array[]): Float32Array {
  const dim = rows[0]?.length ?? 0;
  const all = new Float32Array(rows.length * dim);
  rows.forEach((row, at) => all.set(row, at * dim));
  return all;
}
