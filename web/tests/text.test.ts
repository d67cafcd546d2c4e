import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inflateSync } from "node:zlib";

import { loadText } from "../src/core/load.ts";
import { GossamerError } from "../src/errors.ts";
import { builtWasm } from "./wasm_files.ts";

interface Expected {
  texts: string[];
  tokens: { isLowercase: boolean; ids: number[][]; starts: number[][] }[];
}

const expected = JSON.parse(
  readFileSync(new URL("data/wasm/text.json", import.meta.url), "utf8"),
) as Expected;
const models = new URL("../../python/gossamer/models/data/", import.meta.url);
const vocabulary = inflateSync(readFileSync(new URL("bert-uncased.vocab.zz", models)));
const text = await loadText(builtWasm);
const encoder = new TextEncoder();
const encoded = expected.texts.map((each) => encoder.encode(each));

for (const { isLowercase, ids, starts } of expected.tokens) {
  test(`tokens are those of Python, ${isLowercase ? "lowered" : "as they are"}`, () => {
    const tokenizer = text.tokenizer(vocabulary, isLowercase);

    assert.deepEqual(encoded.map((bytes) => [...tokenizer.tokenIds(bytes)]), ids);
    assert.deepEqual(encoded.map((bytes) => [...tokenizer.tokenStarts(bytes)]), starts);
    tokenizer.free();
  });
}

test("a piece has its line as id, one that is not there -1", () => {
  const tokenizer = text.tokenizer(vocabulary, true);

  assert.equal(tokenizer.idOf("[PAD]"), 0);
  assert.equal(tokenizer.idOf("no such piece"), -1);
  tokenizer.free();
});

test("a vocabulary without the unknown token is refused, and the core works on", () => {
  assert.throws(() => text.tokenizer(encoder.encode("a\nb\n"), true), GossamerError);

  assert.equal(text.tokenizer(vocabulary, true).idOf("[PAD]"), 0);
});

test("what is no model is refused", () => {
  assert.throws(() => text.model(encoder.encode("no model at all")), GossamerError);
});

test("the checksum is CRC-32C", () => {
  assert.equal(text.crc32c(encoder.encode("123456789")), 0xe3069283);
});

test("tokenizers that are freed leave memory as it is", () => {
  const work = (): void => {
    const tokenizer = text.tokenizer(encoder.encode("[UNK]\na\nb\n"), true);
    for (const bytes of encoded) tokenizer.tokenIds(bytes);
    tokenizer.free();
  };
  for (let i = 0; i < 20; ++i) work();
  const before = text.memoryBytes();

  for (let i = 0; i < 2000; ++i) work();

  assert.equal(text.memoryBytes(), before);
});
