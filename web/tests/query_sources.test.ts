// Where a question's vectors and texts come from: memory, the server, the model, or nowhere.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { memorySource } from "../src/bytes/memory.ts";
import type { ByteSource } from "../src/bytes/source.ts";
import { SUPPLIED } from "../src/core/query.ts";
import type { Embedder } from "../src/embed/embedder.ts";
import { GossamerError } from "../src/errors.ts";
import { partsOfFile, type IndexParts, type TextStore } from "../src/format/parts.ts";
import type { Snapshot } from "../src/query/snapshot.ts";
import { TextSource } from "../src/query/texts.ts";
import { VectorCache } from "../src/query/vector_cache.ts";
import { VectorSource, type VectorOptions } from "../src/query/vectors.ts";
import type { RemoteChunks } from "../src/server/remote_chunks.ts";
import { askWords, snapshotOf } from "./snapshots.ts";
import { READERS } from "./cores.ts";

const FILE = readFileSync(new URL("data/query/index.gossamer", import.meta.url));
const { given, embed, outOfReach } = SUPPLIED;

/** Embeds a text as its length, and notes what it was given. */
function fakeModel(): { model: { embedder: () => Promise<Embedder> }; batches: number[] } {
  const batches: number[] = [];
  const embedMany = async (texts: readonly string[]) => {
    batches.push(texts.length);
    return Float32Array.from(texts.flatMap(({ length }) => [length, 1]));
  };
  return { model: { embedder: async () => ({ embed: embedMany }) as unknown as Embedder }, batches };
}

/** A server that has vectors of even ids, and says what it was asked for. */
function fakeServer(rowOf = (id: number): number[] => [id, 2]): { server: Pick<RemoteChunks, "vectors">; asked: number[][] } {
  const asked: number[][] = [];
  const server: Pick<RemoteChunks, "vectors"> = {
    vectors: async (ids) => {
      asked.push([...ids]);
      const mask = Uint8Array.from(ids, (id) => (id % 2 === 0 ? 1 : 0));
      return { mask, rows: Float32Array.from(ids.filter((id) => id % 2 === 0).flatMap(rowOf)) };
    },
  };
  return { server, asked };
}

function sourceOf(options: Partial<VectorOptions> = {}): VectorSource {
  const rest = { model: null, server: null, notes: new Set<string>() };
  return new VectorSource({ dim: 2, cache: new VectorCache(1 << 20), ...rest, ...options });
}

test("what is in memory is given, and the rest is to be embedded where there is a model", async () => {
  const cache = new VectorCache(1 << 20);
  cache.put(7, Float32Array.of(3, 4));
  const source = sourceOf({ cache, ...fakeModel() });

  const found = await source.find([5, 7], false, false);

  assert.deepEqual([...found.states], [embed, given]);
  assert.deepEqual([...found.rows], [0, 0, 3, 4]);
  assert.equal(source.cached, 1);
});

test("where tokens are wanted, what is in memory is embedded too, unless its text is away", async () => {
  const cache = new VectorCache(1 << 20);
  cache.put(7, Float32Array.of(3, 4));
  const source = sourceOf({ cache, ...fakeModel(), ...fakeServer() });

  assert.deepEqual([...(await source.find([5, 7], false, true)).states], [embed, embed]);
  assert.deepEqual([...(await source.find([5, 7], true, true)).states], [outOfReach, given]);
  assert.deepEqual([...(await sourceOf({ cache }).find([7], false, true)).states], [given]);
});

test("an embedder that gives no tokens gives rows alone", async () => {
  const made = await sourceOf(fakeModel()).embed([3], ["xxx"], true);

  assert.deepEqual([...made.rows], [3, 1]);
  assert.deepEqual([made.tokens.length, made.counts.length], [0, 0]);
});

test("what was embedded is remembered, and embedded in batches that others get a turn between", async () => {
  const { model, batches } = fakeModel();
  const cache = new VectorCache(1 << 20);
  const source = sourceOf({ cache, model });
  const ids = Array.from({ length: 150 }, (_, i) => i);

  const { rows } = await source.embed(ids, ids.map((id) => "x".repeat(id)), false);

  assert.deepEqual(batches, [64, 64, 22]);
  assert.deepEqual([...rows.slice(298)], [149, 1]);
  assert.deepEqual(cache.get(149), Float32Array.of(149, 1));
  assert.equal(source.embedded, 150);
});

test("an aborted question embeds no more batches", async () => {
  const abort = new AbortController();
  const embedder = async () => {
    const embedMany = async (texts: readonly string[]) => {
      abort.abort();
      return new Float32Array(2 * texts.length);
    };
    return { embed: embedMany } as unknown as Embedder;
  };
  const source = sourceOf({ model: { embedder }, signal: abort.signal });
  const ids = Array.from({ length: 65 }, (_, i) => i);

  await assert.rejects(source.embed(ids, ids.map(String), false), { reason: "Cancelled" });
});

test("without a model the server is asked once, and what it has not got is out of reach", async () => {
  const { server, asked } = fakeServer();
  const source = sourceOf({ server });

  const first = await source.find([1, 2, 4], false, false);
  const again = await source.find([2, 4], false, false);

  assert.deepEqual([...first.states], [outOfReach, given, given]);
  assert.deepEqual([...first.rows], [0, 0, 2, 2, 4, 2]);
  assert.deepEqual([...again.states], [given, given]);
  assert.deepEqual(asked, [[1, 2, 4]]);
  assert.deepEqual([source.asked, source.cached], [2, 2]);
});

test("chunks whose texts only the server has are asked of it though there is a model", async () => {
  const { server } = fakeServer();
  const source = sourceOf({ server, ...fakeModel() });

  assert.deepEqual([...(await source.find([2, 3], true, false)).states], [given, outOfReach]);
});

test("with neither model nor server everything is out of reach", async () => {
  assert.deepEqual([...(await sourceOf().find([1], false, false)).states], [outOfReach]);
});

test("a row of a server that is no vector was not given, nor remembered", async () => {
  for (const row of [[NaN, 1], [Infinity, 0], [1]]) {
    const cache = new VectorCache(1 << 20);
    const source = sourceOf({ cache, ...fakeServer(() => row) });

    assert.deepEqual([...(await source.find([2], false, false)).states], [outOfReach], String(row));
    assert.equal(cache.get(2), null);
  }
});

test("without a server its chunks are not there, and that is no answer", async () => {
  const texts = new TextSource({} as TextStore, null, new Set());

  assert.deepEqual(await texts.chunks([1, 2]), { chunks: [null, null], isAnswered: false });
});

test("texts that are not what was indexed are never shown, and a note says so", async () => {
  const parts = await partsOfFile(memorySource(FILE), READERS);
  const right = await askWords(await snapshotOf(parts), "whales");
  const snapshot = await snapshotOf(withTexts(parts, (text) => text.fill(120)));

  const wrong = await askWords(snapshot, "whales");

  assert.ok(right.hits.length > 0);
  assert.deepEqual(right.notes, []);
  assert.deepEqual(wrong.hits, []);
  assert.match(wrong.notes.join(), /the texts of \d+ of the sources are not what was indexed/);
});

test("a text that cannot be read ends the question with its reason, and the next one is answered", async () => {
  const parts = await partsOfFile(memorySource(FILE), READERS);
  let isAway = true;
  const snapshot = await snapshotOf(
    withTexts(parts, (text) => {
      if (isAway) throw new GossamerError("Unreachable", "the server does not answer");
      return text;
    }),
  );

  await assert.rejects(askWords(snapshot, "whales"), { reason: "Unreachable" });
  isAway = false;

  assert.ok((await askWords(snapshot, "whales")).hits.length > 0);
});

test("a question that is aborted on its way is cancelled, and the next one is answered", async () => {
  const abort = new AbortController();
  const snapshot = await snapshotOf(await partsThat(() => abort.abort()));

  await assert.rejects(askWords(snapshot, "whales", abort.signal), { reason: "Cancelled" });

  assert.ok((await askWords(snapshot, "whales")).hits.length > 0);
});

test("a question whose index is closed on its way says so", async () => {
  const closing: Promise<void>[] = [];
  const snapshot: Snapshot = await snapshotOf(await partsThat(() => closing.push(snapshot.close())));

  await assert.rejects(askWords(snapshot, "whales"), { reason: "WrongState" });
  await Promise.all(closing);
});

/** Parts that do something when their words are read. */
async function partsThat(act: () => unknown): Promise<IndexParts> {
  const parts = await partsOfFile(memorySource(FILE), READERS);
  const words = parts.words ?? assert.fail();
  const read: ByteSource["read"] = async (...range) => {
    act();
    return words.read(...range);
  };
  return { ...parts, words: { size: words.size, read, close: words.close } };
}

/** The same parts whose texts come as `change` gives them. */
function withTexts(parts: IndexParts, change: (text: Uint8Array) => Uint8Array): IndexParts {
  const readMany: TextStore["readMany"] = async (spans, signal) =>
    (await parts.texts.readMany(spans, signal)).map((text) => change(text.slice()));
  return { ...parts, texts: { ...parts.texts, readMany } };
}
