import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inflateSync } from "node:zlib";

import { loadText } from "../src/core/load.ts";
import { GossamerError } from "../src/errors.ts";
import { memorySource } from "../src/bytes/memory.ts";
import { openWords } from "../src/format/words.ts";
import { rankByPostings } from "../src/lexical/words.ts";
import { CHUNKS } from "./cores.ts";
import { builtWasm } from "./wasm_files.ts";

interface Expected {
  texts: string[];
  questions: {
    question: string;
    terms: string[];
    spans: [number, number][][];
    top: [number[], number[], number[]];
  }[];
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

for (const { question, terms, spans, top } of expected.questions) {
  test(`"${question}" has the terms it has in Python`, () => {
    assert.deepEqual(text.termsOf(question), terms);
  });

  test(`words of "${question}" stand where Python finds them`, () => {
    const found = encoded.map((bytes) => [...text.findTerms(bytes, question)]);

    assert.deepEqual(found, spans.map((each) => each.flat()));
  });

  test(`chunks rank for "${question}" as in Python`, () => {
    const pass = text.lexicalPass(question);
    addTexts(pass, encoded);

    const found = pass.top(10);

    assert.deepEqual(found.numbers, top[0]);
    found.scores.forEach((score, i) => assert.ok(Math.abs(score - (top[1][i] as number)) < 1e-5));
    assert.deepEqual(found.chunksWith, top[2]);
    pass.free();
  });
}

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

test("counts from postings score as those of the pass over the texts", async () => {
  const question = "lease server x_axis";
  const counted = text.lexicalPass(question);
  addTexts(counted, encoded);
  const counter = CHUNKS.countWords();
  encoded.forEach((bytes, i) => counter.add(i, bytes));
  const words = await openWords(memorySource(counter.finish(encoded.length)), text);

  const bytes = Float64Array.from(encoded, ({ length }) => length);
  const ranking = await rankByPostings(text, words, { question, best: 10, bytes });

  const top = counted.top(10);
  assert.deepEqual(ranking.numbers.map((number) => 3 * number), top.numbers);
  assert.deepEqual(ranking.scores, top.scores);
});

test("chunks that are not allowed are not counted", () => {
  const pass = text.lexicalPass("lease", Uint8Array.of(0, 1));
  const bytes = encoder.encode("lease lease lease");
  pass.addBuffer(bytes, Uint32Array.of(0, 6, 12), Uint32Array.of(5, 11, 17), Uint32Array.of(0, 1, 2));

  assert.deepEqual(pass.top(5).numbers, [1]);
});

test("a span that runs past its text leaves its chunk out", () => {
  const pass = text.lexicalPass("lease");
  pass.addBuffer(encoder.encode("lease"), Uint32Array.of(0), Uint32Array.of(600), Uint32Array.of(4));

  assert.deepEqual(pass.top(5).numbers, []);
});

test("a vocabulary without the unknown token is refused, and the core works on", () => {
  assert.throws(() => text.tokenizer(encoder.encode("a\nb\n"), true), GossamerError);

  assert.deepEqual(text.termsOf("leases"), ["leas"]);
});

test("what is no model is refused", () => {
  assert.throws(() => text.model(encoder.encode("no model at all")), GossamerError);
});

test("the checksum is CRC-32C", () => {
  assert.equal(text.crc32c(encoder.encode("123456789")), 0xe3069283);
});

test("passes and tokens that are freed leave memory as it is", () => {
  const work = (): void => {
    const pass = text.lexicalPass("lease server", new Uint8Array(5000));
    addTexts(pass, encoded);
    pass.top(10);
    pass.free();
  };
  for (let i = 0; i < 20; ++i) work();
  const before = text.memoryBytes();

  for (let i = 0; i < 2000; ++i) work();

  assert.equal(text.memoryBytes(), before);
});

function addTexts(pass: ReturnType<typeof text.lexicalPass>, all: Uint8Array[]): void {
  const whole = Buffer.concat(all);
  let end = 0;
  const ends = Uint32Array.from(all, (bytes) => (end += bytes.length));
  const starts = Uint32Array.from(all, (bytes, i) => (ends[i] as number) - bytes.length);
  pass.addBuffer(whole, starts, ends, Uint32Array.from(all, (_, i) => i * 3));
}
