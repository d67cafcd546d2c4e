// Questions are embedded by the server that the index comes from, for pages without the model.
import { GossamerError, throwIfAborted } from "../errors.ts";
import type { Embedder } from "./embedder.ts";

export interface ServerModel {
  readonly name: string;
  readonly fingerprint: string;
  readonly dim: number;
  readonly index?: string; // uuid: the server refuses if it has another one now
  readonly epoch?: string;
}

export interface ServerOptions {
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number; // 30 seconds
}

const TIMEOUT_MS = 30_000;
const MOST_SAID = 200;

/** An embedder of questions alone: texts cannot be embedded by it (Unavailable). */
export function serverEmbedder(
  url: string | URL,
  token: string,
  model: ServerModel,
  options: ServerOptions = {},
): Embedder {
  const address = `${String(url).replace(/\/+$/, "")}/v1/sync/question`;
  return {
    name: model.name,
    fingerprint: model.fingerprint,
    dim: model.dim,
    maxTokens: 0,
    tokenStarts: () => {
      throw questionsOnly(model.name);
    },
    embed: async () => {
      throw questionsOnly(model.name);
    },
    async embedQuestion(text, signal) {
      const asked = { question: text, ...(model.index ? { index: model.index } : {}) };
      const body = JSON.stringify(model.epoch ? { ...asked, epoch: model.epoch } : asked);
      const bytes = await post(address, token, body, 2 * model.dim, options, signal);
      return checkRow(floatsOf(bytes), address);
    },
  };
}

async function post(
  address: string,
  token: string,
  body: string,
  size: number,
  options: ServerOptions,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  throwIfAborted(signal);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (token !== "") headers["authorization"] = `Bearer ${token}`;
  const timeout = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const send = options.fetch ?? fetch;
  try {
    const response = await send(address, { method: "POST", headers, body, signal: either });
    if (!response.ok) throw await refusal(address, response);
    return await readExactly(response, size, address);
  } catch (error) {
    if (error instanceof GossamerError) throw error;
    throwIfAborted(signal);
    throw new GossamerError(
      "Unreachable",
      `${address} did not answer (${String(error)}); check the connection and that the server runs`,
    );
  }
}

/** Reads an answer that has so many bytes; no more of another is taken into memory. */
async function readExactly(response: Response, size: number, address: string): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const part = (await reader?.read())?.value;
    if (part === undefined) break;
    if (at + part.length > size) {
      await reader?.cancel();
      throw wrongLength(address, size, "more");
    }
    bytes.set(part, at);
    at += part.length;
  }
  if (at < size) throw wrongLength(address, size, `${at}`);
  return bytes;
}

async function refusal(address: string, response: Response): Promise<GossamerError> {
  const said = (await response.text().catch(() => "")).slice(0, MOST_SAID);
  if (response.status === 401 || response.status === 403)
    return new GossamerError("WrongState", `${address} wants a token, or another one; give the right one`);
  if (response.status === 409)
    return new GossamerError("WrongState", `${address} has another index now (${said}); fetch it again`);
  if (response.status === 413 || response.status === 422 || response.status === 400)
    return new GossamerError("InvalidArgument", `${address} does not take this question: ${said}`);
  return new GossamerError("Unreachable", `${address} answered with status ${response.status}: ${said}`);
}

function wrongLength(address: string, size: number, came: string): GossamerError {
  return new GossamerError(
    "Unreachable",
    `${address} should answer with a vector of ${size} bytes and sent ${came}; is it the index's server?`,
  );
}

/** 16-bit floats as 32-bit ones. */
function floatsOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => halfOf(view.getUint16(2 * i, true)));
}

function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const rest = bits & 0x3ff;
  if (exponent === 0x1f) return rest ? NaN : sign * Infinity;
  if (exponent === 0) return sign * rest * 2 ** -24;
  return sign * (1024 + rest) * 2 ** (exponent - 25);
}

/** Rounded as the server itself searches with it, so that both find the same: not scaled again. */
function checkRow(row: Float32Array, address: string): Float32Array {
  const length = Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));
  if (!(length > 0 && Number.isFinite(length)))
    throw new GossamerError("NotFinite", `${address} sent a vector without a direction; its model is broken`);
  return row;
}

function questionsOnly(name: string): GossamerError {
  return new GossamerError(
    "Unavailable",
    `texts cannot be embedded here: the model ${name} is on the server, which embeds questions only; ` +
      "give the model file to add texts in the page",
  );
}
