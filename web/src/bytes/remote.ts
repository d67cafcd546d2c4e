// A file on a server, read by byte ranges.
import { GossamerError } from "../errors.ts";
import type { Answer } from "./answer.ts";
import { Asker, type AskOptions, isOwnOrigin } from "./http.ts";
import { joinBytes } from "./join.ts";
import { memorySource } from "./memory.ts";
import { checkRange, mergeRanges, readMerged } from "./ranges.ts";
import type { ByteRange, ByteSource } from "./source.ts";

export interface RemoteOptions extends AskOptions {
  readonly signal?: AbortSignal; // for opening
  readonly headBytes?: number; // what the first request asks for; 64 KiB
  readonly gapBytes?: number; // ranges this close are fetched as one; 4 KiB
  readonly mostWholeBytes?: number; // of a file whose server has no ranges; 256 MiB
}

/** A file on a server. Once the server says that it is another file, every read fails with Damaged:
 * open it again. */
export interface RemoteSource extends ByteSource {
  readonly url: string;
  /** What tells versions of the file apart: its ETag, else when it was last modified, else "". */
  readonly etag: string;
  readonly hasRanges: boolean;
  /** Bytes of answers so far, without headers; and how many requests were sent. */
  readonly bytesFetched: number;
  readonly requests: number;
  /** What to know of this server, for the user. */
  readonly notes: readonly string[];
}

const HEAD = 64 * 1024;
/** What is asked for to see which file is there. Not one byte: some servers take `0-0` for no range at all. */
export const PROBE_BYTES = 2;
const GAP = 1024;
const MOST_WHOLE = 256 * 1024 * 1024;
const MOST_PARTS = 64; // of one range, from a server that gives less at a time
const MOST_READ = 2 ** 30; // in memory at one time
const MOST_AT_ONCE = 4 * 1024 * 1024; // of one request: what is retried when it is cut

/** Opens a file on a server with one request, which gives its size, its version and its head.
 *
 * NoIndex if there is none, WrongState if the server wants a token or refuses the one given,
 * Unreachable if it does not answer as it should, TooLarge if it has no ranges and the file is large. */
export async function openRemote(url: string | URL, options: RemoteOptions = {}): Promise<RemoteSource> {
  const asker = new Asker(url, options);
  const most = options.mostWholeBytes ?? MOST_WHOLE;
  const asked = { at: 0, length: Math.max(1, options.headBytes ?? HEAD) };
  let first = await asker.ask({ range: asked, mostWhole: most, signal: options.signal });
  if (first.kind === "encoded") first = await asker.ask({ mostWhole: most, signal: options.signal });
  if (first.kind === "encoded" || first.kind === "changed") {
    const expected = "the file or its first bytes were expected";
    throw new GossamerError("Unreachable", `${asker.shown} gives neither: ${expected}; check the address`);
  }
  const size = await sizeOf(first, () => asker.askSize(options.signal));
  const ranged = { size, version: first.version, head: first.bytes };
  const source = first.kind === "part" ? rangedSource(asker, ranged, options) : memorySource(first.bytes);
  warnOfWhole(first, asker.shown);
  return {
    ...source,
    url: asker.url,
    etag: first.version,
    hasRanges: first.kind === "part" || first.kind === "empty",
    notes: [],
    get bytesFetched() {
      return asker.counters.bytes;
    },
    get requests() {
      return asker.counters.requests;
    },
  };
}

/** Whether a file on a server is still of this version, which comes with few bytes. False where that cannot be
 * asked: of another origin, that would need its leave. Unreachable if the server does not answer. */
export async function isUnchanged(url: string, version: string, options: RemoteOptions): Promise<boolean> {
  if (version === "" || !isOwnOrigin(url)) return false;
  const asker = new Asker(url, options);
  const answer = await asker.ask({ range: { at: 0, length: PROBE_BYTES }, known: version, signal: options.signal });
  return answer.kind === "known";
}

async function sizeOf(first: Answer, askSize: () => Promise<number>): Promise<number> {
  if (first.kind !== "part") return first.bytes.length;
  return first.size ?? (await askSize());
}

/** Tells whoever looks after the page: its visitors can do nothing about it. */
function warnOfWhole(first: Answer, url: string): void {
  if (first.kind !== "whole") return;
  const why = first.isEncoded ? "compresses the file" : "has no byte ranges";
  const bytes = first.bytes.length;
  console.warn(`Gossamer: the server of ${url} ${why}: all ${bytes} bytes of it were fetched, not only what is needed`);
}

interface Ranged {
  readonly size: number;
  readonly version: string;
  readonly head: Uint8Array;
}

function rangedSource(
  asker: Asker,
  { size, version, head }: Ranged,
  options: RemoteOptions,
): ByteSource {
  const gap = options.gapBytes ?? GAP;
  let changed: GossamerError | null = null;

  async function fetchRange(range: ByteRange, signal?: AbortSignal): Promise<Uint8Array> {
    if (range.at + range.length <= head.length) return head.subarray(range.at, range.at + range.length);
    if (changed) throw changed;
    const parts: Uint8Array[] = [];
    // Servers may give less than they are asked for, if they say so: the rest is asked for again.
    for (let done = 0; done < range.length; ) {
      if (parts.length === MOST_PARTS) throw meagre(asker.shown, range.length, done);
      const rest = { at: range.at + done, length: range.length - done };
      const answer = await asker.ask({ range: rest, version, size, signal });
      if (answer.kind !== "part") throw noteChange();
      parts.push(answer.bytes);
      done += answer.bytes.length;
    }
    return joinBytes(parts);
  }

  function noteChange(): GossamerError {
    const what = `${asker.shown} is another file now than when it was opened`;
    changed = new GossamerError("Damaged", `${what}: open it again`);
    return changed;
  }

  async function fetchMany(ranges: readonly ByteRange[], signal?: AbortSignal): Promise<Uint8Array[]> {
    for (const range of ranges) checkRange(asker.shown, size, range.at, range.length);
    // Nobody waits for the others once one has failed.
    const stop = new AbortController();
    const both = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    try {
      const merged = mergeRanges(ranges, gap, MOST_AT_ONCE);
      return await readMerged(ranges, merged, (range) => fetchRange(range, both));
    } catch (error) {
      stop.abort();
      throw error;
    }
  }

  return {
    size,
    async read(at, length, signal) {
      checkRange(asker.shown, size, at, length);
      if (length > MOST_READ) {
        const what = `${length} bytes of ${asker.shown} were wanted at once, ${MOST_READ} are the most`;
        throw new GossamerError("TooLarge", `${what}: use a smaller index`);
      }
      return joinBytes(await fetchMany(pieces(at, length), signal));
    },
    readMany: fetchMany,
    close: () => asker.close(),
  };
}

function meagre(url: string, expected: number, came: number): GossamerError {
  const what = `${url} gave ${came} bytes of ${expected} in ${MOST_PARTS} answers`;
  return new GossamerError("Truncated", `${what}: use a server that gives more at a time`);
}

/** A long range in pieces that are fetched side by side and retried alone. */
function pieces(at: number, length: number): ByteRange[] {
  const found: ByteRange[] = [];
  for (let start = 0; start < length || start === 0; start += MOST_AT_ONCE) {
    found.push({ at: at + start, length: Math.min(MOST_AT_ONCE, length - start) });
  }
  return found;
}
