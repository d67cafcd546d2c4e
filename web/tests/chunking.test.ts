import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { byteString } from "../src/chunking/bytes.ts";
import { chunkDocument, type TokenStarts } from "../src/chunking/chunks.ts";
import type { ChunkSpan, Document } from "../src/records.ts";

interface ChunkData {
  readonly texts: Record<string, { markup: string; text: string }>;
  readonly cases: readonly {
    name: string;
    size: number;
    line: string;
    spans: Record<string, [number, number, [number, number][]][]>;
  }[];
}

const DATA = JSON.parse(
  readFileSync(new URL("data/chunks.json", import.meta.url), "utf8"),
) as ChunkData;

/** Up to four letters or any other character: what make_chunk_data.py calls simple. */
const simpleStarts: TokenStarts = (text) => {
  const found = byteString(text).matchAll(
    /[A-Za-z0-9]{1,4}|[\xc0-\xff][\x80-\xbf]{1,3}|[!-/:-@[-`{-~]/g,
  );
  return Uint32Array.from(found, (match) => match.index);
};

function documentOf(text: string, markup = "plain"): Document {
  return {
    text: new TextEncoder().encode(text),
    kind: "text",
    markup,
    title: "",
    unit: "line",
    places: [],
    key: "",
    metadata: {},
  };
}

function plain(spans: readonly ChunkSpan[]): unknown {
  return spans.map((span) => [span.start, span.end, span.context]);
}

for (const { name, size, line, spans } of DATA.cases) {
  test(`${name} is cut as Python cuts it, at ${size} tokens under "${line}"`, () => {
    const { text, markup } = DATA.texts[name] ?? { text: "", markup: "" };

    const found = chunkDocument(documentOf(text, markup), simpleStarts, size, line);

    assert.deepEqual(plain(found), spans["simple"]);
  });
}

test("a text that fits is one chunk without the space around it", () => {
  const found = chunkDocument(documentOf("\n  hello there \u3000\n"), simpleStarts, 64);

  assert.deepEqual(plain(found), [[3, 14, []]]);
});

test("a text without tokens has no chunks", () => {
  assert.deepEqual(chunkDocument(documentOf(" \u00a0\n"), simpleStarts, 64), []);
});

test("a chunk size without room is refused", () => {
  assert.throws(() => chunkDocument(documentOf("a"), simpleStarts, 31), { reason: "InvalidArgument" });
});

test("code is cut at blank lines at the margin rather than within functions", () => {
  const body = "    value = compute(value)\n\n".repeat(6);
  const text = `def first():\n${body}\ndef second():\n${body}\ndef third():\n${body}`;

  const found = chunkDocument(documentOf(text, "code/python"), simpleStarts, 70);

  const begins = found.map((span) => text.slice(span.start, span.start + 3));
  assert.deepEqual(begins, ["def", "def", "def"]);
});

test("a text of several stretches is cut whole, and every word is in one chunk", () => {
  const text = "A sentence of seven words stands here.\n\n".repeat(30_000);

  const found = chunkDocument(documentOf(text), simpleStarts, 128);

  const kept = found.map((span) => text.slice(span.start, span.end)).join("");
  assert.equal(kept.replace(/\s/g, ""), text.replace(/\s/g, ""));
});
