// Whether a package is what was asked for: of this index, from this state, and not seen before.

import { GossamerError } from "../errors.ts";
import type { Manifest } from "../format/manifest.ts";
import { baseOf } from "../server/following.ts";
import type { Base, Head, Wanted } from "../server/records.ts";

/** Refuses a package for another index than this one. */
export function checkIndex(head: Head, manifest: Manifest | null, name: string): void {
  if (!manifest) return;
  const { origin } = manifest;
  if (Object.keys(origin).length === 0) {
    throw new GossamerError(
      "WrongState",
      `the index ${name} follows no server; choose another name for one that does`,
    );
  }
  if (head.index !== origin["index"]) {
    throw new GossamerError(
      "WrongState",
      `the package is of another index (${head.index}) than the one that ${name} follows ` +
        `(${String(origin["index"])}); pull it under another name`,
    );
  }
}

/** Refuses a package that was not asked for, that begins elsewhere, or that was seen before. */
export function checkHead(head: Head, manifest: Manifest | null, wanted: Wanted, mayGoBack: boolean): void {
  const own = baseOf(manifest);
  if (head.mode !== wanted.mode || head.texts !== wanted.texts) {
    throw new GossamerError(
      "Damaged",
      `the package is for an edge with ${head.mode} and texts ${head.texts}, and one with ${wanted.mode} ` +
        `and texts ${wanted.texts} was asked for`,
    );
  }
  if (head.base && (!wanted.base || !isSameBase(head.base, own))) {
    throw new GossamerError(
      "Damaged",
      `the package begins from ${named(head.base)}, and the edge is ${named(own)}`,
    );
  }
  const isReplay = own && (head.base ? head.version <= own.version : head.version < own.version);
  if (isReplay && !mayGoBack) {
    throw new GossamerError(
      "Damaged",
      `the package is of version ${head.version}, and the edge is at ${named(own)} already`,
    );
  }
}

function isSameBase(one: Base, other: Base | null): boolean {
  const isSame = one.epoch === other?.epoch && one.version === other.version;
  return isSame && one.state === other.state;
}

function named(base: Base | null): string {
  return base ? `version ${base.version} (${base.state.slice(0, 12)})` : "nothing";
}
