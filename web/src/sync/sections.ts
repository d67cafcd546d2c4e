// What the small sections of a package hold, as records.

import type { PackageReader } from "../core/packages.ts";
import type { SourceName } from "../format/put.ts";
import type { Conflict } from "../server/records.ts";

/** What sections of JSON have at most: they take many times as much once they are read. More changes than
 * that are better taken as a snapshot. */
export const MOST_JSON_BYTES = 2 ** 26;

/** A source whose content is the same, read at another time or by another reader. */
export interface Touched extends SourceName {
  readonly mtimeNs: bigint;
  readonly readerVersion: number;
}

/** The names of sources that are gone; none from no bytes. */
export function unpackRemoved(core: PackageReader, bytes: Uint8Array): SourceName[] {
  const rows = core.packageRows(bytes, "bt") as [boolean, string][];
  return rows.map(([isFile, path]) => ({ isFile, path }));
}

/** Sources that are as they were, with their times; none from no bytes. */
export function unpackTouched(core: PackageReader, bytes: Uint8Array): Touched[] {
  const rows = core.packageRows(bytes, "btin") as [boolean, string, string, number][];
  return rows.map(([isFile, path, mtimeNs, readerVersion]) => {
    return { isFile, path, mtimeNs: BigInt(mtimeNs), readerVersion };
  });
}

/** The first chunk of each document whose text is not in the package; none from no bytes. */
export function unpackAbsent(core: PackageReader, bytes: Uint8Array): Set<number> {
  return new Set(core.packageRows(bytes, "N") as number[]);
}

/** Conflicts, without the texts that they replaced; none from no bytes. */
export function unpackConflicts(core: PackageReader, bytes: Uint8Array): Conflict[] {
  const rows = core.packageRows(bytes, "nttnt") as [number, string, string, number, string][];
  return rows.map(([number, id, at, version, note]) => ({ number, id, at, version, note }));
}
