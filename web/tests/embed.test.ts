import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";

import { Core } from "../src/core/memory.ts";
import type { StaticModel, TextCore } from "../src/core/text.ts";
import { wasmText } from "../src/core/wasm_text.ts";
import type { Embedder } from "../src/embed/embedder.ts";
import { cutIntoPieces } from "../src/embed/pieces.ts";
import { staticEmbedder } from "../src/embed/static.ts";
import { GossamerError } from "../src/errors.ts";

interface Expected {
  readonly fingerprint: string;
  readonly rows: { text: string; times: number; tokens: number; sha256: string }[];
  readonly long: string;
  readonly pieces: string[];
}

const HERE = new URL(".", import.meta.url);
const expected = JSON.parse(await readFile(new URL("data/embed.json", HERE), "utf8")) as Expected;
const file = await readFile(new URL("../../python/gossamer/models/data/pocket.gossamer", HERE));

let text: TextCore;
let model: StaticModel;
let embedder: Embedder;

before(async () => {
  const wasm = await readFile(new URL("../wasm/built/gossamer.wasm", HERE));
  const module = await WebAssembly.compile(wasm);
  text = wasmText(new Core(module), () => new Core(module));
  model = text.model(file);
  embedder = staticEmbedder(model);
});

for (const [at, row] of expected.rows.entries()) {
  test(`text ${at} has the same bits as in Python`, () => {
    const vector = model.embedQuestion(row.text.repeat(row.times));

    assert.equal(createHash("sha256").update(new Uint8Array(vector.buffer)).digest("hex"), row.sha256);
  });
  test(`text ${at} has as many tokens as in Python`, () => {
    const bytes = new TextEncoder().encode(row.text.repeat(row.times));

    assert.equal(model.tokenStarts(bytes).length, row.tokens);
  });
}

test("the embedder is the model that Python calls pocket", () => {
  assert.equal(embedder.name, "pocket");
  assert.equal(embedder.fingerprint, expected.fingerprint);
  assert.deepEqual([embedder.dim, embedder.maxTokens], [256, 512]);
});

test("texts are embedded end to end, each as if it were alone", async () => {
  const texts = Array.from({ length: 150 }, (_, at) => `text number ${at}`);

  const rows = await embedder.embed(texts);

  assert.equal(rows.length, 150 * 256);
  assert.deepEqual(rows.slice(100 * 256, 101 * 256), await embedder.embedQuestion("text number 100"));
});

test("tokens have vectors of their own, and a text is their sum", async () => {
  const made = await embedder.embedTokens?.(["two words", "", "another"]);
  const asked = await embedder.embedQuestionTokens?.("é two words");

  assert.deepEqual(made?.rows, await embedder.embed(["two words", "", "another"]));
  assert.deepEqual(made?.counts, Uint32Array.of(2, 0, 1));
  assert.deepEqual(made?.starts, Uint32Array.of(0, 4, 0));
  assert.equal(made?.tokens.length, 3 * 256);
  assert.deepEqual(made?.tokens.slice(0, 512), asked?.tokens.slice(-512));
  assert.deepEqual(asked?.starts.slice(-2), Uint32Array.of(3, 7));
  const sum = made?.tokens.slice(0, 256).map((value, i) => value + (made.tokens[256 + i] ?? 0)) ?? [];
  const length = Math.hypot(...sum);
  sum.forEach((value, i) => assert.ok(Math.abs(value / length - (made?.rows[i] ?? 9)) < 1e-6));
});

test("half a surrogate pair is left out", () => {
  assert.deepEqual(model.embedQuestion("a\ud800b c"), model.embedQuestion("ab c"));
});

test("a text of too many tokens is refused, a question is not", async () => {
  const long = "word ".repeat(513);

  await assert.rejects(embedder.embed([long]), isReason("InvalidArgument"));
  assert.equal((await embedder.embedQuestion(long)).length, 256);
});

test("embedding stops when it is cancelled", async () => {
  const stop = new AbortController();
  stop.abort();

  await assert.rejects(embedder.embed(["a"], stop.signal), isReason("Cancelled"));
});

test("a model file that is cut, changed or something else is refused", () => {
  const changed = Uint8Array.from(file);
  changed[changed.length >> 1]! ^= 1;

  assert.throws(() => text.model(file.subarray(0, -1)), isReason("Truncated"));
  assert.throws(() => text.model(changed), isReason("Damaged"));
  assert.throws(() => text.model(new TextEncoder().encode("no model")), isReason("NotGossamer"));
});

test("a long question is cut where Python cuts it", () => {
  const pieces = cutIntoPieces(expected.long, (bytes) => model.tokenStarts(bytes), 16);

  assert.deepEqual(pieces, expected.pieces);
});

function isReason(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof GossamerError && error.reason === reason;
}
