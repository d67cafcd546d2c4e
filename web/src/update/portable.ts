// An index as it may leave a machine: without folders of that machine. The twin of
// python/gossamer/single/portable.py.

import type { SourceEditor } from "../core/sources.ts";
import { GossamerError } from "../errors.ts";
import { AWAY, VERBATIM, type Catalogue } from "../format/catalogue.ts";
import { travelCatalogue, type TravelCatalogue } from "../format/changes.ts";
import { compareTexts } from "../text/text.ts";

const NAMELESS = "files"; // a folder without a name: the root of a disk

/** The sources that are indexed, under short names of their folders, in one piece; what was skipped tells
 * of the machine's own files alone. WrongState if texts of them are not here. */
export function portable(editor: SourceEditor, catalogue: Catalogue): TravelCatalogue {
  const { segments } = catalogue.textPlaces;
  if (segments.includes(AWAY) || segments.includes(VERBATIM)) {
    throw new GossamerError(
      "WrongState",
      "texts of this index are kept elsewhere, and a file needs them; follow it with texts kept",
    );
  }
  const rows = [...catalogue.paths.keys()].filter((row) => catalogue.source(row).status === "indexed");
  return travelCatalogue(editor, catalogue, rows, shortRoots(catalogue));
}

/** What each folder is called: the last part of its path. */
export function shortRoots(catalogue: Catalogue): (root: string) => string {
  const rows = Array.from({ length: catalogue.sourceCount }, (_, row) => row);
  const roots = new Set(rows.map((row) => catalogue.source(row).root).filter((root) => root !== ""));
  const used = [...roots].sort(compareTexts);
  const names = new Map(shortNames(used).map((name, place) => [used[place], name]));
  return (root) => names.get(root) ?? root;
}

/** A model's name; of one that lies in a folder of this machine the last part of its path. */
export function shortModelName(name: string): string {
  return /^(?:\/|\\\\|[A-Za-z]:[\\/])/.test(name) ? lastPart(name) : name;
}

/** A name of its own for each folder. */
function shortNames(roots: readonly string[]): string[] {
  const names: string[] = [];
  for (const root of roots) {
    const last = lastPart(root) || NAMELESS;
    let name = last;
    for (let number = 2; names.includes(name); ++number) name = `${last}-${number}`;
    names.push(name);
  }
  return names;
}

/** What stands last in a path, of Windows unless it begins with a slash; "" where nothing does. */
function lastPart(path: string): string {
  const isPosix = path.startsWith("/");
  const parts = (isPosix ? path : path.replace(/^[A-Za-z]:/, "")).split(isPosix ? "/" : /[\\/]/);
  const last = parts.filter((part) => part !== "" && part !== ".").at(-1) ?? "";
  return last === ".." ? "" : last;
}
