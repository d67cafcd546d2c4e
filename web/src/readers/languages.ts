// Which programming language a file is written in, by its name or its first line. The twin of
// readers/languages.py, over the same table.

import table from "../../../python/gossamer/readers/languages.json" with { type: "json" };
import { byteString } from "../bytes/strings.ts";
import { nameOf, suffixOf } from "./paths.ts";

const LANGUAGE_OF_NAME = new Map(Object.entries(table.names));
const LANGUAGE_OF_INTERPRETER = new Map(Object.entries(table.interpreters));
const LANGUAGE_OF_EXTENSION = new Map(
  Object.entries(table.extensions).flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension): [string, string] => [`.${extension}`, language]),
  ),
);
// The program, after an optional `env` with its options and settings.
const SHEBANG = /^#!\s*(?:\S*\/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*)?(?:\S*\/)?([A-Za-z]+)/;

/** The language that the file's name stands for; "" where it stands for none. */
export function languageOf(path: string): string {
  return fullNameLanguage(path) || (LANGUAGE_OF_EXTENSION.get(suffixOf(path)) ?? "");
}

/** The language that is always in files of this name, whatever its extension says. */
export function fullNameLanguage(path: string): string {
  return LANGUAGE_OF_NAME.get(nameOf(path).toLowerCase()) ?? "";
}

/** The language of a script by its `#!` line; "" where it has none that is known. */
export function shebangLanguage(head: Uint8Array): string {
  if (head[0] !== 0x23 || head[1] !== 0x21) return "";
  const line = byteString(head.subarray(0, 256)).split("\n", 1)[0] ?? "";
  return LANGUAGE_OF_INTERPRETER.get(SHEBANG.exec(line)?.[1] ?? "") ?? "";
}
