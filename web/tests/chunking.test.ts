import assert from "node:assert/strict";
import test from "node:test";

import { byteString } from "../src/bytes/strings.ts";
import type { TokenStarts } from "../src/core/chunks.ts";
import { loadChunks, loadText } from "../src/core/load.ts";
import { GossamerError } from "../src/errors.ts";
import type { ChunkSpan } from "../src/records.ts";
import { builtWasm } from "./wasm_files.ts";

/** Up to four letters or any other character. */
const simpleStarts: TokenStarts = (text) => {
  const found = byteString(text).matchAll(
    /[A-Za-z0-9]{1,4}|[\xc0-\xff][\x80-\xbf]{1,3}|[!-/:-@[-`{-~]/g,
  );
  return Uint32Array.from(found, (match) => match.index);
};

const CHUNKS = await loadChunks(builtWasm);

function cut(text: string, size: number, markup = "plain", line = ""): ChunkSpan[] {
  return CHUNKS.cut(new TextEncoder().encode(text), simpleStarts, { size, markup, line });
}

function plain(spans: readonly ChunkSpan[]): unknown {
  return spans.map((span) => [span.start, span.end, span.context]);
}

test("a chunk stands under its headings, outermost first, and a line that finds no room is left out", () => {
  const text = `# Ark\n\n## Deck\n\n${"It is wet. ".repeat(30)}`;
  const line = "a title of some words that is far too long for a chunk of so few tokens";

  const last = cut(text, 64, "markdown").at(-1);
  const narrow = cut(text, 64, "markdown", line).at(-1);

  assert.deepEqual(last?.context.map(([start, end]) => text.slice(start, end)), ["Ark", "Deck"]);
  assert.deepEqual(narrow?.context[0], [0, 0]);
});

test("what the tokenizer throws is thrown, and the next text is cut", () => {
  const broken = (): Uint32Array => {
    throw new GossamerError("MissingModel", "no tokens here");
  };
  const options = { size: 64, markup: "plain" };

  const foreign = (): Uint32Array => {
    throw new RangeError("out of bounds");
  };

  assert.throws(() => CHUNKS.cut(new Uint8Array(9), broken, options), { reason: "MissingModel" });
  assert.throws(() => CHUNKS.cut(new Uint8Array(9), foreign, options), RangeError);
  assert.deepEqual(plain(cut("hello", 64)), [[0, 5, []]]);
});

test("a text that fits is one chunk without the space around it", () => {
  const found = cut("\n  hello there \u3000\n", 64);

  assert.deepEqual(plain(found), [[3, 14, []]]);
});

test("a text without tokens has no chunks", () => {
  assert.deepEqual(cut(" \u00a0\n", 64), []);
});

test("a chunk size without room is refused", () => {
  assert.throws(() => cut("a", 31), { reason: "InvalidArgument" });
});

test("code is cut at blank lines at the margin rather than within functions", () => {
  const body = "    value = compute(value)\n\n".repeat(6);
  const text = `def first():\n${body}\ndef second():\n${body}\ndef third():\n${body}`;

  const found = cut(text, 70, "code/python");

  const begins = found.map((span) => text.slice(span.start, span.start + 3));
  assert.deepEqual(begins, ["def", "def", "def"]);
});

test("a text of several stretches is cut whole, and every word is in one chunk", () => {
  const text = "A sentence of seven words stands here.\n\n".repeat(30_000);

  const found = cut(text, 128);

  const kept = found.map((span) => text.slice(span.start, span.end)).join("");
  assert.equal(kept.replace(/\s/g, ""), text.replace(/\s/g, ""));
});

test("a page cuts the same text at the same places", async () => {
  // The twin of a test in core/tests/chunking_test.cpp, which knows the same numbers.
  const bits = ["word ", "Sentences. ", "\n\n", "# Title\n\n", "- item\n", "```\n", "日本。", "1.2  Part\n\n"];
  let random = 1;
  let text = "";
  for (let i = 0; i < 20000; i += 1) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    text += bits[random >>> 29];
  }
  const isLetter = (byte: number | undefined): boolean => byte !== undefined && byte > 32;
  const findWords: TokenStarts = (bytes) =>
    Uint32Array.from([...bytes.keys()].filter((at) => isLetter(bytes[at]) && !isLetter(bytes[at - 1])));
  const bytes = new TextEncoder().encode(text);
  const words = ["plain", "markdown", "rst", "rows"].flatMap((markup) =>
    CHUNKS.cut(bytes, findWords, { size: 64, line: "a line", markup }).flatMap((chunk) => [
      ...[chunk.start, chunk.end],
      ...chunk.context.map(([, end]) => end),
    ]),
  );

  const { crc32c } = await loadText(builtWasm);
  assert.deepEqual([words.length, crc32c(new Uint8Array(Uint32Array.from(words).buffer))], [4296, 1317009352]);
});

test("a document's line is its title, or the end of its path", () => {
  assert.equal(CHUNKS.contextLine("docs/a/b/c.md", ""), "a/b/c.md");
  assert.equal(CHUNKS.contextLine("a//b/./c", ""), "a/b/c");
  assert.equal(CHUNKS.contextLine("c.md", "A title"), "A title");
  assert.equal(CHUNKS.contextLine("", ""), "");
  assert.equal(CHUNKS.contextLine("a/\ud800.md", ""), "a/\ud800.md");
});

test("line, headings and body are embedded, each on its own line, and a long line is cut between words", () => {
  const embedded = (line: string, headings: string[], body: string) => {
    const bytes = [...headings, body].map((part) => new TextEncoder().encode(part));
    const [last = new Uint8Array()] = bytes.splice(-1);
    return new TextDecoder().decode(CHUNKS.embeddedText(line, bytes, last));
  };

  assert.equal(embedded("  A   title\x85of\u3000words ", ["One", "Two"], "body\nlines"), "A title of words\nOne\nTwo\nbody\nlines");
  assert.equal(embedded("", [], "body"), "body");
  assert.equal(embedded("A title", [""], "body"), "body", "an empty heading leaves the line out");
  assert.equal(embedded("long ".repeat(40), ["H"], "body"), `${"long ".repeat(24).trim()}\nH\nbody`);
  assert.equal(embedded("ünbröken".repeat(30), [], ""), "ünbröken".repeat(12));
});
