// One question to a server for bytes of one file: retried, limited, counted, and checked to be what
// was asked for.
import { GossamerError, type Reason, throwIfAborted } from "../errors.ts";
import type { ByteRange } from "./source.ts";

export interface AskOptions {
  readonly fetch?: typeof fetch;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delay?: (ms: number) => Promise<void>; // between tries
  readonly silenceMs?: number; // how long a server may send nothing; 30 seconds
}

export interface Question {
  readonly range?: ByteRange; // without: the whole file
  readonly mostWhole?: number; // most bytes of a whole file; without, only ranges are taken
  readonly version?: string; // of the file that was opened
  readonly size?: number;
  readonly signal?: AbortSignal | undefined;
}

/** What came: the part that was asked for, the whole file, nothing of an empty file, a part of
 * compressed bytes (of no use), or the news that the file is another one now. */
export interface Answer {
  readonly kind: "part" | "whole" | "empty" | "encoded" | "changed";
  readonly bytes: Uint8Array;
  readonly size: number | null; // of the file; null where the server does not let the page see it
  readonly version: string;
  readonly isEncoded: boolean;
}

const TRIES = 3;
const FIRST_DELAY_MS = 200;
const SILENCE_MS = 30_000;
const AT_ONCE = 6; // what browsers open to one host

export interface Asker {
  readonly url: string;
  readonly counters: { bytes: number; requests: number };
  ask(question: Question): Promise<Answer>;
  /** The size of the file, where an answer with a range may not show it (another origin). */
  askSize(signal?: AbortSignal): Promise<number>;
  close(): void;
}

/** Asks one address. InvalidArgument if it is not one of HTTP. */
export function makeAsker(address: string | URL, options: AskOptions): Asker {
  const url = checkUrl(address);
  const counters = { bytes: 0, requests: 0 };
  const closing = new AbortController();
  const takeTurn = makeTurns(AT_ONCE);
  const delay = options.delay ?? ((ms: number) => new Promise<void>((done) => setTimeout(done, ms)));

  async function once<T>(
    method: "GET" | "HEAD",
    question: Question,
    receive: (response: Response, take: Taker) => Promise<T>,
  ): Promise<T> {
    const watch = watchSilence(options.silenceMs ?? SILENCE_MS);
    const signals = [closing.signal, watch.signal, ...(question.signal ? [question.signal] : [])];
    const headers = { ...options.headers, ...rangeHeaders(url, question) };
    const send = options.fetch ?? globalThis.fetch;
    try {
      counters.requests += 1;
      // The browser's own cache answers ranges of one file one after the other; storage keeps them.
      const cache: RequestCache = "no-store";
      const init = { method, headers, cache, signal: AbortSignal.any(signals) };
      const response = await send(url, init);
      return await receive(response, makeTaker(url, response, watch.heard, counters));
    } catch (error) {
      if (error instanceof GossamerError) throw error;
      throw closing.signal.aborted || question.signal?.aborted ? cancelled() : new Transient(String(error));
    } finally {
      watch.stop();
    }
  }

  async function retried<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    for (let tried = 1; ; ++tried) {
      throwIfAborted(signal);
      try {
        return await takeTurn(work);
      } catch (error) {
        if (!(error instanceof Transient)) throw error;
        if (tried === TRIES) throw unreachable(url, error);
      }
      await delay(FIRST_DELAY_MS * 4 ** (tried - 1));
    }
  }

  return {
    url,
    counters,
    ask: (question) =>
      retried(question.signal, () =>
        once("GET", question, (response, take) => understand(url, question, response, take)),
      ),
    askSize: (signal) => retried(signal, () => once("HEAD", { signal }, (response) => sizeOf(url, response))),
    close: () => closing.abort(),
  };
}

/** Worth another try. */
class Transient extends Error {
  constructor(
    message: string,
    readonly reason: Reason = "Unreachable",
  ) {
    super(message);
  }
}

async function understand(url: string, question: Question, response: Response, take: Taker): Promise<Answer> {
  const { range, version, size } = question;
  const encoding = response.headers.get("content-encoding") ?? "identity";
  const isEncoded = encoding !== "identity";
  const found = versionOf(response);
  const answer = { bytes: new Uint8Array(0), size: null, version: found, isEncoded };
  const isLater = version !== undefined;
  const isOther = isLater && !isSameVersion(version, found);
  if (response.status === 416) {
    await take.nothing();
    const isEmpty = !isLater && /^bytes \*\/0$/.test(response.headers.get("content-range") ?? "");
    return { ...answer, kind: isEmpty ? "empty" : "changed" };
  }
  checkStatus(url, response);
  if (response.status === 206 && range) {
    const place = placeOf(url, response, range);
    const isOtherSize = size !== undefined && place.size !== null && place.size !== size;
    if (isOther || isOtherSize || isEncoded) {
      await take.nothing();
      return { ...answer, kind: isOther || isOtherSize ? "changed" : "encoded" };
    }
    return { ...answer, kind: "part", size: place.size, bytes: await take.exactly(place.length) };
  }
  if (question.mostWhole !== undefined) {
    return { ...answer, kind: "whole", bytes: await take.upTo(question.mostWhole, isEncoded) };
  }
  await take.nothing();
  if (isOther) return { ...answer, kind: "changed" };
  throw new GossamerError("Unreachable", `${url} was answered by ranges before and is not any more: open it again`);
}

/** Takes the body of an answer, counted and limited. */
interface Taker {
  exactly(length: number): Promise<Uint8Array>;
  upTo(most: number, isEncoded: boolean): Promise<Uint8Array>;
  nothing(): Promise<void>;
}

function makeTaker(
  url: string,
  response: Response,
  heard: () => void,
  counters: { bytes: number },
): Taker {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const reader = response.body?.getReader();
    if (!reader) return;
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        heard();
        counters.bytes += next.value.length;
        yield next.value;
      }
    } finally {
      void reader.cancel().catch(() => {});
    }
  }

  async function upTo(most: number, isEncoded: boolean): Promise<Uint8Array> {
    const announced = Number(response.headers.get("content-length") ?? Number.NaN);
    const parts: Uint8Array[] = [];
    let length = 0;
    if (announced > most) throw tooLarge(url, most);
    for await (const part of chunks()) {
      parts.push(part);
      length += part.length;
      if (length > most) throw tooLarge(url, most);
    }
    if (!isEncoded && length < announced) throw cutShort(announced, length);
    const whole = new Uint8Array(length);
    length = 0;
    for (const part of parts) {
      whole.set(part, length);
      length += part.length;
    }
    return whole;
  }

  async function exactly(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let at = 0;
    for await (const part of chunks()) {
      if (at + part.length > length) throw strange(url, `more than the ${length} bytes it announced`);
      bytes.set(part, at);
      at += part.length;
    }
    if (at < length) throw cutShort(length, at);
    return bytes;
  }

  return { exactly, upTo, nothing: async () => void response.body?.cancel().catch(() => {}) };
}

/** Where a part lies in the file. Servers of other origins may hide this from the page: then the
 * part is taken to be what was asked for, if it is as long. */
function placeOf(url: string, response: Response, range: ByteRange): { length: number; size: number | null } {
  const said = response.headers.get("content-range");
  if (said === null) {
    const length = Number(response.headers.get("content-length") ?? range.length);
    if (length > range.length) throw strange(url, `${length} bytes where ${range.length} were asked for`);
    return { length, size: null };
  }
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(said);
  const [first, last, size] = (match ?? []).slice(1).map(Number) as [number?, number?, number?];
  const isSound =
    first === range.at && last !== undefined && size !== undefined && Number.isSafeInteger(size);
  if (!isSound || last < range.at || last >= size || last >= range.at + range.length) {
    throw strange(url, `the range ${said.slice(0, 60)} where ${range.at} and ${range.length} more were asked for`);
  }
  const length = last - range.at + 1;
  if (length < Math.min(range.length, size - range.at)) throw cutShort(range.length, length);
  return { length, size };
}

function checkStatus(url: string, response: Response): void {
  const { status } = response;
  if (status === 200 || status === 206) return;
  void response.body?.cancel().catch(() => {});
  if (status >= 500 || status === 429 || status === 408) throw new Transient(`status ${status}`);
  if (status === 404 || status === 410) {
    throw new GossamerError("NoIndex", `there is nothing at ${url} (status ${status}): check the address`);
  }
  if (status === 401 || status === 403) {
    const what = `${url} was refused (status ${status})`;
    throw new GossamerError("WrongState", `${what}: give the token that this server expects`);
  }
  throw strange(url, `status ${status}`);
}

async function sizeOf(url: string, response: Response): Promise<number> {
  checkStatus(url, response);
  const size = Number(response.headers.get("content-length") ?? Number.NaN);
  const isEncoded = (response.headers.get("content-encoding") ?? "identity") !== "identity";
  if (Number.isSafeInteger(size) && size >= 0 && !isEncoded) return size;
  throw strange(url, "no size of the file; let it expose Content-Range to pages of other origins");
}

function rangeHeaders(url: string, { range, version }: Question): Record<string, string> {
  if (!range) return {};
  const headers = { Range: `bytes=${range.at}-${range.at + range.length - 1}` };
  // Not asked of another origin, where it takes one more request each time: what comes back is
  // compared anyway. Weak tags are not allowed here.
  const origin = globalThis.location?.origin;
  const isSame = origin === undefined || origin === new URL(url).origin;
  return version && isSame && !version.startsWith("W/") ? { ...headers, "If-Range": version } : headers;
}

function versionOf(response: Response): string {
  return response.headers.get("etag") ?? response.headers.get("last-modified") ?? "";
}

function isSameVersion(one: string, other: string): boolean {
  return one.replace(/^W\//, "") === other.replace(/^W\//, "");
}

/** Lets so many run at once; the others wait for their turn. */
function makeTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

function watchSilence(ms: number): { signal: AbortSignal; heard(): void; stop(): void } {
  const controller = new AbortController();
  const expire = () => controller.abort(new Error(`nothing came for ${ms / 1000} seconds`));
  let timer = setTimeout(expire, ms);
  const stop = () => clearTimeout(timer);
  const heard = () => {
    stop();
    timer = setTimeout(expire, ms);
  };
  return { signal: controller.signal, heard, stop };
}

function checkUrl(address: string | URL): string {
  try {
    const url = new URL(address, globalThis.location?.href);
    if (url.protocol === "http:" || url.protocol === "https:") return url.href;
  } catch {
    // Said below.
  }
  throw new GossamerError("InvalidArgument", `"${String(address).slice(0, 200)}" is no address of http or https`);
}

function cutShort(expected: number, came: number): Transient {
  return new Transient(`${came} bytes came of ${expected}`, "Truncated");
}

function unreachable(url: string, why: Transient): GossamerError {
  const advice = "check the connection and the address, then try again";
  return new GossamerError(why.reason, `${url} did not answer in ${TRIES} tries (${why.message}): ${advice}`);
}

function strange(url: string, what: string): GossamerError {
  return new GossamerError("Unreachable", `${url} answered with something else than was asked for (${what})`);
}

function tooLarge(url: string, most: number): GossamerError {
  const advice = "serve it from a host with byte ranges, or download it and open the file";
  return new GossamerError("TooLarge", `${url} has no byte ranges and is larger than ${most} bytes: ${advice}`);
}

function cancelled(): GossamerError {
  return new GossamerError("Cancelled", "the job was cancelled before it finished");
}
