// Which kind a file is of, and what is left out unopened. The twin of readers/formats.py, over
// the same table.

import table from "../../../python/gossamer/readers/formats.json" with { type: "json" };
import { byteString } from "../bytes/strings.ts";
import { isBinary } from "./encoding.ts";
import { fullNameLanguage, languageOf, shebangLanguage } from "./languages.ts";
import { nameOf, parentNameOf, suffixOf } from "./paths.ts";

/** Bytes of a file that `kindOf` may look at. */
export const HEAD_BYTES = 8192;

/** What to do about a file that is left out, and should not be. */
export const GIVE_TEXT = "add what is in it as a text to find it nevertheless";

const KIND_OF_EXTENSION = byExtension(
  Object.entries(table.kinds).map(([kind, { extensions }]) => [kind, extensions]),
);
const BINARY_OF_EXTENSION = byExtension(Object.entries(table.without_text));
const SECRETS = table.secrets.split(" ").map(patternOf);
const PUBLIC_NAMES = table.public.split(" ");
const LOCK_FILES = table.generated.split(" ");
const HTML_BEGIN = /^(?:\xef\xbb\xbf)?\s*(?:<!--[^>]*-->\s*)?<(?:!doctype html|html)[\s>]/i;
// An mbox "From " line, or header lines of which one is known to stand in every message.
const MAIL_BEGIN = new RegExp(
  "^(?:From \\S+ [^\\n]*\\n)?(?:[A-Za-z][\\w-]*:[^\\n]*\\n(?:[ \\t][^\\n]*\\n)*){0,64}?" +
    "(?:Return-Path|Received|Message-ID|MIME-Version|Delivered-To):",
  "i",
);

/** The kind of a file by its name, or else by its first HEAD_BYTES; "" if it is binary. Source code
 * gives the name of its language, text of no other kind gives "text". */
export function kindOf(path: string, head: Uint8Array): string {
  const begin = byteString(head.subarray(0, HEAD_BYTES));
  // Files of a maildir end in their flags and a host name, which says nothing.
  if (["cur", "new"].includes(parentNameOf(path)) && MAIL_BEGIN.test(begin)) return "mail";
  const named =
    fullNameLanguage(path) || KIND_OF_EXTENSION.get(suffixOf(path)) || languageOf(path);
  if (named) return named;
  if (HTML_BEGIN.test(begin)) return "html";
  if (begin.slice(0, 1024).includes("%PDF-")) return "pdf";
  if (MAIL_BEGIN.test(begin)) return "mail";
  return shebangLanguage(head) || (isBinary(head.subarray(0, HEAD_BYTES)) ? "" : "text");
}

/** Why a file is left out, judged by its name alone; "" if it is to be read. */
export function reasonToSkip(path: string): string {
  const name = nameOf(path).toLowerCase();
  const maySecret = !PUBLIC_NAMES.includes(name) && SECRETS.some((pattern) => pattern.test(name));
  if (maySecret) return `may hold secrets (${GIVE_TEXT})`;
  if (name.includes(".min.") || LOCK_FILES.includes(name)) {
    return `generated (${GIVE_TEXT})`;
  }
  const what = BINARY_OF_EXTENSION.get(suffixOf(path));
  return what === undefined ? "" : `${what}, which holds no text to read`;
}

function byExtension(extensionsOf: readonly [string, string][]): Map<string, string> {
  return new Map(
    extensionsOf.flatMap(([kind, extensions]) =>
      extensions.split(" ").map((extension): [string, string] => [`.${extension}`, kind]),
    ),
  );
}

function patternOf(glob: string): RegExp {
  const escaped = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${escaped}$`, "s");
}
