// What a server is asked for during a search: vectors and texts of chunks that are not here.

import { GossamerError, throwIfAborted } from "../errors.ts";

/** A server, and the index it must have: chunks of another one with the same ids are others. */
export interface AskedServer {
  readonly url: string;
  readonly token?: string | undefined;
  readonly index?: string | undefined; // uuid
}

/** The text of a chunk as a server gives it. */
export interface AwayChunk {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly embedded: string;
  readonly first: number;
  readonly last: number;
}

const TIMEOUT_MS = 20_000;
const MOST_AT_ONCE = 512;
const MOST_CHUNK_BYTES = 1 << 20; // of one chunk's answer
const MOST_SAID = 200;

/** The vectors of chunks: `mask` says which the server gave (1), `rows` are those, end to end.
 * Unreachable if it does not answer as it should, WrongState if it has another index now. */
export async function askVectors(
  server: AskedServer,
  ids: readonly number[],
  dim: number,
  signal?: AbortSignal,
): Promise<{ mask: Uint8Array; rows: Float32Array }> {
  const mask = new Uint8Array(ids.length);
  const rows: Float32Array[] = [];
  for (let first = 0; first < ids.length; first += MOST_AT_ONCE) {
    const some = ids.slice(first, first + MOST_AT_ONCE);
    const bytes = await post(server, "vectors", some, some.length * (1 + 2 * dim), signal);
    const given = bytes.subarray(0, some.length);
    const count = given.reduce((sum, one) => sum + Number(one === 1), 0);
    if (bytes.length !== some.length + 2 * dim * count) {
      throw strange(server, `${bytes.length} bytes for the vectors of ${some.length} chunks`);
    }
    given.forEach((one, i) => (mask[first + i] = Number(one === 1)));
    rows.push(floatsOf(bytes.subarray(some.length)));
  }
  return { mask, rows: joined(rows) };
}

/** The texts of chunks; null for those that the server cannot read. */
export async function askChunks(
  server: AskedServer,
  ids: readonly number[],
  signal?: AbortSignal,
): Promise<(AwayChunk | null)[]> {
  const bytes = await post(server, "chunks", ids, ids.length * MOST_CHUNK_BYTES, signal);
  const found = parse(bytes)?.["chunks"];
  if (!Array.isArray(found) || found.length !== ids.length) {
    throw strange(server, "other chunks than were asked for");
  }
  return found.map((one: unknown, i) => {
    if (one === null) return null;
    if (isChunk(one) && one.id === ids[i]) return one;
    throw strange(server, "other chunks than were asked for");
  });
}

async function post(
  server: AskedServer,
  what: "vectors" | "chunks",
  ids: readonly number[],
  most: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  throwIfAborted(signal);
  const address = `${server.url.replace(/\/+$/, "")}/v1/sync/${what}`;
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (server.token) headers["authorization"] = `Bearer ${server.token}`;
  const body = JSON.stringify({ ids, ...(server.index ? { index: server.index } : {}) });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    const response = await fetch(address, { method: "POST", headers, body, signal: either });
    if (!response.ok) throw await refusal(server, response);
    return await readAtMost(server, response, most);
  } catch (error) {
    if (error instanceof GossamerError) throw error;
    throwIfAborted(signal);
    throw new GossamerError("Unreachable", `${address} did not answer (${String(error)}); is the server up?`);
  }
}

/** Reads an answer of at most so many bytes; no more of another is taken into memory. */
async function readAtMost(server: AskedServer, response: Response, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const part = (await reader?.read())?.value;
    if (!part) break;
    length += part.length;
    if (length > most) {
      await reader?.cancel();
      throw strange(server, `more than ${most} bytes`);
    }
    parts.push(part);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function refusal({ url }: AskedServer, response: Response): Promise<GossamerError> {
  const said = (await response.text().catch(() => "")).slice(0, MOST_SAID);
  const { status } = response;
  if (status === 401 || status === 403) {
    const said = `the server at ${url} wants a token, or another one`;
    return new GossamerError("WrongState", `${said}; give the right one`);
  }
  if (status === 409) {
    const now = `the server at ${url} has another index now (${said})`;
    return new GossamerError("WrongState", `${now}; open it again`);
  }
  return new GossamerError("Unreachable", `the server at ${url} answered with status ${status}: ${said}`);
}

function strange({ url }: AskedServer, what: string): GossamerError {
  return new GossamerError(
    "Unreachable",
    `${url} answered with something else than was asked for (${what}); is it a gossamer server?`,
  );
}

function parse(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isChunk(value: unknown): value is AwayChunk {
  if (typeof value !== "object" || value === null) return false;
  const chunk = value as Record<string, unknown>;
  const areTexts = ["title", "body", "embedded"].every((name) => typeof chunk[name] === "string");
  return areTexts && ["id", "first", "last"].every((name) => Number.isSafeInteger(chunk[name]));
}

/** 16-bit floats as 32-bit ones. */
function floatsOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => {
    const bits = view.getUint16(2 * i, true);
    const sign = bits & 0x8000 ? -1 : 1;
    const [exponent, rest] = [(bits >> 10) & 0x1f, bits & 0x3ff];
    if (exponent === 0x1f) return NaN; // no vector has it
    return exponent === 0 ? sign * rest * 2 ** -24 : sign * (1024 + rest) * 2 ** (exponent - 25);
  });
}

function joined(rows: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(rows.reduce((sum, some) => sum + some.length, 0));
  let at = 0;
  for (const some of rows) {
    whole.set(some, at);
    at += some.length;
  }
  return whole;
}
