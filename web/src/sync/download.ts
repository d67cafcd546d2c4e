// Fetching a package: kept in the folder while it comes, gone on with where it broke off. The twin of
// python/gossamer/sync/download.py.

import { GossamerError } from "../errors.ts";
import type { OnProgress } from "../records.ts";
import { NoAnswer } from "../server/client.ts";
import type { Client } from "../server/client.ts";
import type { Wanted } from "../server/records.ts";
import type { Folder } from "../storage/storage.ts";
import { objectOf } from "../text/json.ts";
import { forgetPart, openPart } from "./part.ts";
import type { Part } from "./part.ts";
import { pauseFor } from "./pause.ts";
import type { PauseOptions } from "./pause.ts";

export interface DownloadOptions extends PauseOptions {
  readonly onProgress?: OnProgress | undefined;
}

const MOST_PACKAGE_BYTES = 2 ** 30; // it is in memory while it is verified
const MOST_SAID_BYTES = 1 << 16;
const ATTEMPTS = 5;
const PAUSE_MS = 1000;
const SHORTEST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 30_000;

/** Fetches a package; null if the edge is up to date.
 *
 * Unreachable if the connection breaks off again and again, Cancelled if the signal says so: what came is
 * kept, and the next call goes on from there. Unwritable if storage is full; nothing stays then. To be
 * called while writing (Folder.whileWriting). */
export async function download(
  client: Client,
  folder: Folder,
  wanted: Wanted,
  options: DownloadOptions = {},
): Promise<Uint8Array | null> {
  const part = await openPart(folder, JSON.stringify([client.url, wanted]));
  for (let attempt = 1; ; ++attempt) {
    const begun = part.size;
    try {
      const found = await askUntilThere(client, folder, wanted, part, options);
      return found === "whole" ? await part.read() : null;
    } catch (error) {
      await keepWhatCame(folder, part, error);
      if (!(error instanceof NoAnswer)) throw error;
      if (part.size === 0) throw client.unreachable(error.message);
      if (part.size <= begun || attempt === ATTEMPTS) {
        throw new GossamerError(
          "Unreachable",
          `the server at ${client.url} ${error.message}; the next pull goes on after the ${part.size} ` +
            "bytes that came",
        );
      }
      await pauseFor(PAUSE_MS, options);
    }
  }
}

/** Half a package is no reason to keep storage full. */
async function keepWhatCame(folder: Folder, part: Part, error: unknown): Promise<void> {
  const isFull = (why: unknown) => why instanceof GossamerError && why.reason === "Unwritable";
  const flushed = isFull(error) ? error : await part.flush().catch((why: unknown) => why);
  if (!isFull(flushed)) return;
  await forgetPart(folder);
  throw flushed;
}

type Found = "whole" | "current";

async function askUntilThere(
  client: Client,
  folder: Folder,
  wanted: Wanted,
  part: Part,
  options: DownloadOptions,
): Promise<Found> {
  for (;;) {
    const found = await ask(client, folder, wanted, part, options);
    if (typeof found !== "number") return found;
    await pauseFor(found, options);
  }
}

/** Asks once; how many milliseconds to wait before the server is asked again, or what came of it. */
function ask(
  client: Client,
  folder: Folder,
  wanted: Wanted,
  part: Part,
  options: DownloadOptions,
): Promise<Found | number> {
  const isBegun = part.etag !== "" && part.size > 0;
  const headers: Record<string, string> = isBegun
    ? { range: `bytes=${part.size}-`, "if-range": part.etag }
    : {};
  const take = async (answer: Response, heard: () => void): Promise<Found | number> => {
    if (answer.status === 202) return waitOf(answer, options);
    if (answer.status === 416) return endOf(answer, part);
    if (answer.status === 204) {
      await forgetPart(folder);
      if (wanted.base) return "current";
      throw new NoAnswer("says that nothing has changed, to an edge that has nothing yet");
    }
    await receive(answer, part, heard, options);
    return "whole";
  };
  return client.package(wanted, headers, take, options.signal);
}

/** Takes a package, or the rest of one. */
async function receive(
  answer: Response,
  part: Part,
  heard: () => void,
  options: DownloadOptions,
): Promise<void> {
  const etag = answer.headers.get("etag") ?? "";
  let total = numberOf(answer.headers.get("content-length"));
  if (answer.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers.get("content-range") ?? "");
    const isRight = numberOf(range?.[1]) === part.size && (etag === "" || etag === part.etag);
    if (!range || !isRight) {
      await part.restart("");
      throw new NoAnswer("sent another part of the package than was asked for");
    }
    total = numberOf(range[2]);
  } else {
    await part.restart(etag);
  }
  if (total > MOST_PACKAGE_BYTES) throw tooLarge(total);
  await takeBody(answer, part, total, heard, options.onProgress);
  if (total > 0 && part.size !== total) throw new NoAnswer(`broke off after ${part.size} of ${total} bytes`);
}

async function takeBody(
  answer: Response,
  part: Part,
  total: number,
  heard: () => void,
  onProgress?: OnProgress,
): Promise<void> {
  const reader = answer.body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      heard();
      await part.add(next.value);
      if (part.size > (total || MOST_PACKAGE_BYTES)) {
        await part.restart("");
        throw new NoAnswer("sent more than it had said");
      }
      onProgress?.({ phase: "receiving", done: part.size, total });
    }
  } finally {
    void reader?.cancel().catch(() => {});
  }
}

/** There is nothing behind what came: it is all, or it is of something else. */
async function endOf(answer: Response, part: Part): Promise<Found | number> {
  const [, total] = /\/(\d+)$/.exec(answer.headers.get("content-range") ?? "") ?? [];
  if (part.size > 0 && numberOf(total) === part.size) return "whole";
  if (part.size === 0) throw new NoAnswer("has no package to give");
  await part.restart("");
  return 0;
}

async function waitOf(answer: Response, { onProgress }: DownloadOptions): Promise<number> {
  const length = numberOf(answer.headers.get("content-length"));
  const said = length <= MOST_SAID_BYTES ? objectOf(await answer.text()) : null;
  const count = (value: unknown) => (Number.isSafeInteger(value) ? (value as number) : 0);
  const [done, total] = [count(said?.["done"]), count(said?.["total"])];
  onProgress?.({ phase: "the server prepares", done, total });
  const wait = 1000 * Number(answer.headers.get("retry-after") ?? 0);
  return Math.min(Math.max(Number.isFinite(wait) ? wait : 0, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
}

function numberOf(text: string | null | undefined): number {
  return text && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function tooLarge(size: number): GossamerError {
  return new GossamerError(
    "TooLarge",
    `the package has ${size} bytes, and ${MOST_PACKAGE_BYTES} are the most in a page; choose ` +
      'texts: "away", or mode: "codes"',
  );
}
