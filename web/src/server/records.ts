// What server and edge speak of: modes, states, packages. The twin of python/gossamer/sync/records.py.

import { GossamerError } from "../errors.ts";
import type { JsonObject } from "../format/manifest.ts";

/** The version of packages and of the routes that carry them. */
export const PROTOCOL = 1;

export type Texts = "kept" | "away";

/** The state that an edge is in: what a delta begins from. */
export interface Base {
  readonly epoch: string;
  readonly version: number;
  readonly state: string; // hexadecimal
}

/** One section of a package. */
export interface SectionEntry {
  readonly name: string;
  readonly size: number; // bytes as packed
  readonly unpacked: number;
  readonly crc32: number;
}

/** What a package says of itself. */
export interface Head {
  readonly kind: "delta" | "snapshot";
  readonly index: string; // uuid of the server's index
  readonly mode: string;
  readonly texts: Texts;
  readonly base: Base | null; // null for a snapshot
  readonly epoch: string;
  readonly version: number; // of the index that the package leads to
  readonly state: string;
  readonly nextChunkId: number;
  readonly isSigned: boolean;
  readonly model: JsonObject;
  readonly settings: JsonObject;
  readonly sections: readonly SectionEntry[];
}

/** What a package is asked for: from a state (null: from nothing) to the newest one. */
export interface Wanted {
  readonly mode: string;
  readonly texts: Texts;
  readonly base: Base | null;
}

/** A change on the server that took the place of one it did not know of. The last to arrive won. */
export interface Conflict {
  readonly number: number;
  readonly id: string;
  readonly at: string; // ISO 8601, by the server's clock
  readonly version: number; // that the winner came with
  readonly note: string;
}

/** What a pull did. */
export interface PullReport {
  readonly kind: "delta" | "snapshot" | "current"; // current: there was nothing to do
  readonly fromVersion: number; // 0 if there was nothing before
  readonly version: number;
  readonly bytesReceived: number;
  readonly bytesBySection: Readonly<Record<string, number>>; // as they were sent
  readonly documentsChanged: number;
  readonly documentsRemoved: number;
  readonly conflicts: readonly Conflict[]; // that came since the last pull
  readonly fellBack: string; // why a snapshot was taken where a delta was asked for
}

const LEAST_DEGREE = 2;
const MOST_DEGREE = 32;
const USUAL_DEGREE = "8";
const SLIM = /^slim(?::(?:(f16|int8)(?::(\d{1,3}))?|:(\d{1,3})))?$/;

/** A mode in the one form that servers and states have; InvalidArgument says what there is. A page keeps
 * vectors that are asked for often in memory, so there is none that keeps them in storage. */
export function parseMode(text: string): string {
  if (text === "codes") return text;
  const found = SLIM.exec(text);
  const degree = Number(found?.[2] ?? found?.[3] ?? USUAL_DEGREE);
  if (found && degree >= LEAST_DEGREE && degree <= MOST_DEGREE) return `slim:${found[1] ?? "f16"}:${degree}`;
  throw new GossamerError(
    "InvalidArgument",
    `in a page a mode is codes, or slim, slim:int8, slim:f16:8; got ${JSON.stringify(text)}`,
  );
}

/** Whether texts are kept; InvalidArgument for anything else than the two words. */
export function checkTexts(texts: string): Texts {
  if (texts === "kept" || texts === "away") return texts;
  throw new GossamerError(
    "InvalidArgument",
    `texts are "kept" or "away" on an edge, got ${JSON.stringify(texts)}`,
  );
}
