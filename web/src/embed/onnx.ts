// Sentence encoders that onnxruntime-web runs, which the page brings along. The twin of
// python/gossamer/embed/onnx.py: each text is computed alone.
import type { QuestionVectors, TextVectors } from "../core/query.ts";
import type { TextCore, Tokenizer } from "../core/text.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { encodeText } from "../text/text.ts";
import type { Embedder } from "./embedder.ts";
import { type EncoderSettings, fetchModelFolder } from "./folder.ts";
import { checkLengths, cutIntoPieces, meanOfPieces, pieceStarts, toUnit } from "./pieces.ts";
import { joinRows } from "./rows.ts";

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

const TOKENS = "last_hidden_state";
const OUTPUTS = ["sentence_embedding", TOKENS];
const INPUTS = ["input_ids", "attention_mask", "token_type_ids"];

/** The vector of a text, and those of its tokens, if the model gives them. */
interface Encoded {
  readonly row: Float32Array;
  readonly tokens: Float32Array | null;
}

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
  const tokenStarts = (bytes: Uint8Array) => tokenizer.tokenStarts(bytes);
  const countOf = (text: string) => tokenStarts(encodeText(text)).length;
  const prompts = Math.max(countOf(settings.textPrompt), countOf(settings.questionPrompt));
  const maxTokens = settings.maxLength - frame.length - prompts;
  if (maxTokens < 1)
    throw new GossamerError(
      "InvalidArgument",
      `the model takes ${settings.maxLength} tokens, which leaves no room for a text; set max_length in ` +
        "its gossamer-model.json",
    );

  async function encodeAll(prompt: string, texts: readonly string[], signal?: AbortSignal): Promise<Encoded[]> {
    const prompted = texts.map((text) => prompt + text);
    checkLengths(prompted.map(countOf), settings.maxLength - frame.length);
    const before = 1 + countOf(prompt); // [CLS]
    const encoded: Encoded[] = [];
    for (const text of prompted) {
      throwIfAborted(signal);
      const { row, tokens } = await encode(text);
      encoded.push({ row, tokens: tokens && tokens.subarray(before * row.length, -row.length) });
    }
    return encoded;
  }
  const embedTexts = async (texts: readonly string[], signal?: AbortSignal): Promise<TextVectors> => {
    const encoded = await encodeAll(settings.textPrompt, texts, signal);
    const rows = joinRows(encoded.map(({ row }) => row));
    const made = tokensOf(encoded);
    const starts = (made.counts.length > 0 ? texts : []).flatMap((text) => [...pieceStarts([text], tokenStarts)]);
    return { rows, ...made, starts: Uint32Array.from(starts) };
  };
  const embedPieces = async (text: string, signal?: AbortSignal): Promise<QuestionVectors> => {
    const pieces = cutIntoPieces(text, tokenStarts, maxTokens);
    const encoded = await encodeAll(settings.questionPrompt, pieces, signal);
    const row = meanOfPieces(encoded.map((one) => one.row), pieces.map(countOf));
    const { tokens, counts } = tokensOf(encoded);
    return { row, tokens, starts: pieceStarts(counts.length > 0 ? pieces : [], tokenStarts) };
  };

  return {
    name: settings.name,
    fingerprint: settings.fingerprint,
    dim: settings.dim || (await encode("")).row.length,
    maxTokens,
    tokenStarts,
    embed: async (texts, signal) => (await embedTexts(texts, signal)).rows,
    embedQuestion: async (text, signal) => (await embedPieces(text, signal)).row,
    ...(session.outputNames.includes(TOKENS) ? { embedTokens: embedTexts, embedQuestionTokens: embedPieces } : {}),
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
): Promise<Encoded> {
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
  let outputs: Record<string, OrtTensor>;
  try {
    outputs = await session.run(Object.fromEntries(feeds));
  } catch (error) {
    throw new GossamerError(
      "Damaged",
      `the model failed on a text of ${ids.length} tokens: ${String(error).slice(0, 300)}; do its files ` +
        "belong together?",
    );
  }
  const row = toUnit(pool(outputs[name], ids.length, settings.pooling));
  const { data, dims } = outputs[TOKENS] ?? { data: null, dims: [] };
  const isOfTokens = data instanceof Float32Array && dims.join() === [1, ids.length, row.length].join();
  return { row, tokens: isOfTokens ? data : null };
}

/** The vectors of tokens of all texts; none where a text has none. */
function tokensOf(encoded: readonly Encoded[]): Pick<TextVectors, "tokens" | "counts"> {
  const found = encoded.flatMap(({ row, tokens }) => (tokens ? [{ tokens, count: tokens.length / row.length }] : []));
  const all = found.length === encoded.length ? found : [];
  return {
    tokens: joinRows(all.map(({ tokens }) => tokens)),
    counts: Uint32Array.from(all, ({ count }) => count),
  };
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
