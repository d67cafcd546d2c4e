// A folder of model files on a server: model.onnx, vocab.txt, gossamer-model.json.
import { hexOf } from "../bytes/hashes.ts";
import { GossamerError, throwIfAborted } from "../errors.ts";
import { inAscii } from "../text/text.ts";

/** How the vectors of an encoder are made, as gossamer-model.json says. */
export interface EncoderSettings {
  readonly name: string;
  readonly fingerprint: string;
  readonly dim: number; // 0: seen when the model runs
  readonly maxLength: number; // tokens of one text, special ones included
  readonly pooling: "mean" | "cls";
  readonly questionPrompt: string;
  readonly textPrompt: string;
  readonly isLowercase: boolean;
}

export interface ModelFolder {
  readonly model: Uint8Array;
  readonly vocabulary: Uint8Array;
  readonly settings: EncoderSettings;
}

const SETTINGS = "gossamer-model.json";
const MOST_BYTES = { [SETTINGS]: 1 << 20, "vocab.txt": 8 << 20, "model.onnx": 1 << 30 };
const DEFAULT_LENGTH = 512;
const EMBEDDING_REVISION = 1;

/** Fetches the three files. MissingModel if one is not there. */
export async function fetchModelFolder(
  url: string | URL,
  send: typeof fetch,
  signal?: AbortSignal,
): Promise<ModelFolder> {
  const base = String(url).replace(/\/*$/, "/");
  const get = (name: keyof typeof MOST_BYTES) => fetchFile(base + name, MOST_BYTES[name] ?? 0, send, signal);
  const stated = parseJson(await get(SETTINGS), base + SETTINGS);
  const [vocabulary, model] = await Promise.all([get("vocab.txt"), get("model.onnx")]);
  return { model, vocabulary, settings: await readSettings(stated, model, vocabulary) };
}

/** What the settings say, with Python's defaults, and the fingerprint that Python gives this folder
 * unless they state one. */
export async function readSettings(
  stated: Readonly<Record<string, unknown>>,
  model: Uint8Array,
  vocabulary: Uint8Array,
): Promise<EncoderSettings> {
  const text = (key: string) => (typeof stated[key] === "string" ? stated[key] : "");
  const count = (key: string, usual: number) => {
    const value = stated[key] ?? usual;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= 1 << 20) return value;
    throw new GossamerError("InvalidArgument", `${SETTINGS} says ${key} = ${String(value)}; expected a count`);
  };
  const pooling = stated["pooling"] ?? "mean";
  if (pooling !== "mean" && pooling !== "cls")
    throw new GossamerError("InvalidArgument", `${SETTINGS} says pooling = ${String(pooling)}; expected mean or cls`);
  const settings = {
    name: text("name") || "model",
    dim: count("dim", 0),
    maxLength: count("max_length", DEFAULT_LENGTH),
    pooling: pooling as "mean" | "cls",
    questionPrompt: text("question_prompt"),
    textPrompt: text("text_prompt"),
    isLowercase: stated["lowercase"] !== false,
  };
  const fingerprint = text("fingerprint") || (await fingerprintOf(settings, model, vocabulary));
  return { ...settings, fingerprint };
}

/** The twin of Model.fingerprint in python/gossamer/models/records.py: keys sorted, written as Python's
 * json does. */
async function fingerprintOf(
  settings: Omit<EncoderSettings, "fingerprint">,
  model: Uint8Array,
  vocabulary: Uint8Array,
): Promise<string> {
  const prompts = [settings.questionPrompt, settings.textPrompt].map(asciiJson).join(", ");
  const facts =
    `{"drops_unknown": false, "graphs": [], "max_length": ${settings.maxLength}, ` +
    `"pooling": "${settings.pooling}", "prompts": [${prompts}], "revision": ${EMBEDDING_REVISION}, ` +
    `"tokenizer": "${await sha256(vocabulary)}", "weights": "${await sha256(model)}"}`;
  return sha256(new TextEncoder().encode(facts));
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const { subtle } = globalThis.crypto;
  if (!subtle)
    throw new GossamerError(
      "Unavailable",
      `the model cannot be told from others in this page: serve it by https, or state its fingerprint in ${SETTINGS}`,
    );
  return hexOf(new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)));
}

function asciiJson(text: string): string {
  return inAscii(JSON.stringify(text));
}

async function fetchFile(
  url: string,
  most: number,
  send: typeof fetch,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  let response: Response;
  let bytes: Uint8Array;
  try {
    response = await send(url, signal ? { signal } : {});
    if (response.ok && Number(response.headers.get("content-length") ?? 0) > most) throw tooLarge(url, most);
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (error) {
    if (error instanceof GossamerError) throw error;
    throwIfAborted(signal);
    throw new GossamerError("Unreachable", `${url} could not be fetched (${String(error)}); check the connection`);
  }
  if (!response.ok)
    throw new GossamerError(
      "MissingModel",
      `${url} answered with status ${response.status}: a model's folder holds model.onnx, vocab.txt and ${SETTINGS}`,
    );
  if (bytes.length > most) throw tooLarge(url, most);
  return bytes;
}

function tooLarge(url: string, most: number): GossamerError {
  return new GossamerError("TooLarge", `${url} has more than ${most} bytes; is it the right file?`);
}

function parseJson(bytes: Uint8Array, url: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return { ...found };
  } catch {
    // Said below, like what is JSON of another kind.
  }
  throw new GossamerError("Unreadable", `${url} is no JSON object; expected the settings of a model`);
}
