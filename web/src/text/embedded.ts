// What is embedded of a chunk, to the byte as in Python (core/chunking/context.cpp, passages.py): its check
// and its vector depend on it.

import { splitWords } from "./python_text.ts";

// A path or title longer than this says nothing more, and would take the chunk's own room.
const MAX_LINE_BYTES = 120;
// How much of a file's path tells what the file is about.
const PATH_PARTS = 3;

/**
 * The line that is embedded before every chunk of a document.
 *
 * `name` is the path below the folder that was added; texts that programs give have none ("").
 */
export function contextLine(name: string, title: string): string {
  if (title !== "") return title;
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  return parts.slice(-PATH_PARTS).join("/");
}

/**
 * Joins what is embedded and hashed: context line, headings outermost first, body.
 *
 * Empty parts leave no line behind. An empty heading says that the context line is left out. Of a long
 * context line the beginning is taken.
 */
export function embeddedText(line: string, headings: readonly string[], body: string): string {
  const first = headings.includes("") ? "" : shortened(line);
  return [first, ...headings, body].filter((part) => part !== "").join("\n");
}

/** Puts a title or path on one line of bounded length, cut between words where it can be. */
export function shortened(line: string): string {
  const words = splitWords(line).join(" ");
  const bytes = new TextEncoder().encode(words);
  if (bytes.length <= MAX_LINE_BYTES) return words;
  const kept = decodeWhole(bytes.subarray(0, MAX_LINE_BYTES));
  const space = kept.lastIndexOf(" ");
  return space > 0 ? kept.slice(0, space) : kept;
}

/** Text without the character that its end cuts through. */
function decodeWhole(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}
