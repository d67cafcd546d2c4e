// What a server answers, taken as far as it is what was asked for.
import { GossamerError, type Reason } from "../errors.ts";
import { joinBytes } from "./join.ts";
import type { ByteRange } from "./source.ts";

export interface Question {
  readonly range?: ByteRange; // without: the whole file
  readonly mostWhole?: number; // most bytes of a whole file; without, only ranges are taken
  readonly version?: string; // of the file that was opened
  readonly known?: string; // a version of which nothing is to come if it is still the one
  readonly size?: number;
  readonly signal?: AbortSignal | undefined;
}

/** What came: the part that was asked for, the whole file, nothing of an empty file, a part of
 * compressed bytes (of no use), or the news that the file is another one now, or still the one known. */
export interface Answer {
  readonly kind: "part" | "whole" | "empty" | "encoded" | "changed" | "known";
  readonly bytes: Uint8Array;
  readonly size: number | null; // of the file; null where the server does not let the page see it
  readonly version: string;
  readonly isEncoded: boolean;
}

/** Worth another try. */
export class Transient extends Error {
  constructor(
    message: string,
    readonly reason: Reason = "Unreachable",
  ) {
    super(message);
  }
}

/** The server makes the file just now, and says when to ask again. */
export class NotYet extends Transient {
  constructor(readonly afterMs: number) {
    super("it is still being made");
  }
}

/** Makes an answer of what the server sent. Transient if another try may help. */
export async function understand(
  url: string,
  question: Question,
  response: Response,
  take: Taker,
): Promise<Answer> {
  const { range, version, size } = question;
  const encoding = response.headers.get("content-encoding") ?? "identity";
  const isEncoded = encoding !== "identity";
  const found = versionOf(response);
  const answer = { bytes: new Uint8Array(0), size: null, version: found, isEncoded };
  const isLater = version !== undefined;
  const isOther = isLater && !isSameVersion(version, found);
  if (question.known !== undefined) {
    await take.nothing();
    if (response.status !== 304) checkStatus(url, response);
    // Some servers send the same again, and say that it is.
    const isKnown = response.status === 304 || isSameVersion(question.known, found);
    return { ...answer, kind: isKnown ? "known" : "changed" };
  }
  if (response.status === 416) {
    await take.nothing();
    const isEmpty = !isLater && /^bytes \*\/0$/.test(response.headers.get("content-range") ?? "");
    return { ...answer, kind: isEmpty ? "empty" : "changed" };
  }
  if (response.status === 202 && isLater) {
    // The server makes another file by now: who reads this one does not wait for it.
    await take.nothing();
    return { ...answer, kind: "changed" };
  }
  checkStatus(url, response);
  if (response.status === 206 && isEncoded && !isOther) {
    await take.nothing();
    return { ...answer, kind: "encoded" };
  }
  if (response.status === 206 && range) {
    const place = placeOf(url, response, range);
    const isOtherSize = size !== undefined && place.size !== null && place.size !== size;
    if (isOther || isOtherSize) {
      await take.nothing();
      return { ...answer, kind: "changed" };
    }
    return { ...answer, kind: "part", size: place.size, bytes: await take.exactly(place.length) };
  }
  if (question.mostWhole !== undefined) {
    return { ...answer, kind: "whole", bytes: await take.upTo(question.mostWhole, isEncoded) };
  }
  await take.nothing();
  if (isOther) return { ...answer, kind: "changed" };
  const what = "was answered by byte ranges before and is not any more";
  throw new GossamerError("Unreachable", `${url} ${what}: open it again`);
}

/** Takes the body of an answer, counted and limited. */
export interface Taker {
  exactly(length: number): Promise<Uint8Array>;
  upTo(most: number, isEncoded: boolean): Promise<Uint8Array>;
  nothing(): Promise<void>;
}

/** Counts into `counters`; calls `heard` when something came. */
export function makeTaker(
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
    return joinBytes(parts);
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

/** Where a part lies in the file; it may be shorter than what was asked for. Servers of other origins
 * may hide this from the page: then the part is taken to be what was asked for, from its start. */
function placeOf(url: string, response: Response, range: ByteRange): { length: number; size: number | null } {
  const said = response.headers.get("content-range");
  if (said === null) {
    const length = Number(response.headers.get("content-length") ?? range.length);
    if (length === 0) throw cutShort(range.length, 0);
    if (length > range.length) throw strange(url, `${length} bytes where ${range.length} were asked for`);
    return { length, size: null };
  }
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(said);
  const [first, last, size] = (match ?? []).slice(1).map(Number) as [number?, number?, number?];
  const isSound =
    first === range.at && last !== undefined && size !== undefined && Number.isSafeInteger(size);
  if (isSound && last === range.at - 1) throw cutShort(range.length, 0);
  if (!isSound || last < range.at || last >= size || last >= range.at + range.length) {
    const asked = `${range.length} bytes from ${range.at} on were asked for`;
    throw strange(url, `the range ${said.slice(0, 60)} where ${asked}`);
  }
  return { length: last - range.at + 1, size };
}

function checkStatus(url: string, response: Response): void {
  const { status } = response;
  if (status === 200 || status === 206) return;
  void response.body?.cancel().catch(() => {});
  if (status === 202) throw new NotYet(secondsOf(response.headers.get("retry-after")) * 1000);
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

/** Between a second and a minute. */
function secondsOf(header: string | null): number {
  return Math.min(60, Math.max(1, Number(header) || 1));
}

/** The size that the answer to a HEAD request names. */
export async function sizeOf(url: string, response: Response): Promise<number> {
  checkStatus(url, response);
  const size = Number(response.headers.get("content-length") ?? Number.NaN);
  const isEncoded = (response.headers.get("content-encoding") ?? "identity") !== "identity";
  if (Number.isSafeInteger(size) && size >= 0 && !isEncoded) return size;
  throw strange(url, "no size of the file; let it expose Content-Range to pages of other origins");
}

function versionOf(response: Response): string {
  return response.headers.get("etag") ?? response.headers.get("last-modified") ?? "";
}

function isSameVersion(one: string, other: string): boolean {
  return one.replace(/^W\//, "") === other.replace(/^W\//, "");
}

function cutShort(expected: number, came: number): Transient {
  return new Transient(`${came} bytes came of ${expected}`, "Truncated");
}

function strange(url: string, what: string): GossamerError {
  const came = `${url} answered with something else than was asked for`;
  return new GossamerError("Unreachable", `${came} (${what}): check that it is the address of an index`);
}

function tooLarge(url: string, most: number): GossamerError {
  const advice = "serve it from a host with byte ranges, or download it and open the file";
  const what = `${url} has no byte ranges and is larger than ${most} bytes`;
  return new GossamerError("TooLarge", `${what}: ${advice}`);
}

/** Whether this is a web page: many hosts answer with their first one where they have nothing. */
export function isPage(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, 99)).trimStart().startsWith("<");
}
