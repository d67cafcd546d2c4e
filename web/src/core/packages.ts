// What packages say of themselves, read and checked by the core (core/store/package.h).

import { joinBytes } from "../bytes/join.ts";
import { decodeText, encodeText } from "../text/text.ts";
import type { Core } from "./memory.ts";

export interface PackageReader {
  /** The head of a package, in which every field is there and of its kind, and where its sections begin. */
  packageHead(file: Uint8Array): { readonly start: number; readonly head: Readonly<Record<string, unknown>> };
  /** The rows of a section; the letters say what each value of one is. */
  packageRows(section: Uint8Array, letters: string): readonly unknown[];
}

// All that the head of a package may take.
const MOST_START = 12 + (1 << 20);

/** What PackageReader gives, by a module that can. */
export function packageReader(core: () => Core): PackageReader {
  return {
    packageHead: (file) => ask(core(), "package_head", [file.subarray(0, MOST_START)], file.length),
    packageRows: (section, letters) => ask(core(), "package_rows", [section, encodeText(letters)]),
  };
}

/** What a function says of bytes that stand end to end: it is told how many there are of each, and these
 * numbers. */
function ask<T>(core: Core, name: string, bytes: readonly Uint8Array[], ...numbers: number[]): T {
  const sizes = bytes.map(({ length }) => length);
  const size = core.lend([joinBytes(bytes)], (at) => core.call(name, at as number, ...sizes, ...numbers));
  return JSON.parse(decodeText(core.bytes(size)) ?? "null") as T;
}
