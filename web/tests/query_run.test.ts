import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import type { OpenCollection } from "../src/core/engine.ts";
import { SUPPLIED, type Need } from "../src/core/query.ts";
import type { CatalogueOrigin } from "../src/core/sources.ts";
import type { TokenEmbedder } from "../src/embed/embedder.ts";
import { GossamerError } from "../src/errors.ts";
import type { Hit, Mode, Rerank, SearchOptions, VectorSource } from "../src/records.ts";
import { makeServices } from "../src/query/services.ts";
import type { Services } from "../src/query/services.ts";
import { TextSource } from "../src/query/texts.ts";
import { WebIndex } from "../src/query/web_index.ts";
import { keepModel } from "../src/query/models.ts";
import { memoryStorage } from "../src/storage/memory.ts";

interface Expected {
  readonly searches: {
    readonly question: string;
    readonly mode: Mode;
    readonly options: SearchOptions;
    readonly hits: (Partial<Hit> & { shown: string[] })[];
    readonly stale: string[];
    readonly absent: string[];
  }[];
  readonly similar: { id: number; ids: number[] };
  readonly context: { before: string; text: string; after: string };
}

const STALE = /^the texts of 1 of the sources are not what was indexed; they were left out$/;
const data = (name: string) => new URL(`data/query/${name}`, import.meta.url);
const wasm = {
  fetch: async (name: string) => readFileSync(new URL(`../wasm/built/${name}`, import.meta.url)),
};
const model = readFileSync(new URL("../../python/gossamer/models/data/pocket.gossamer", import.meta.url));

/** Services with the model in storage, as after a first search. */
async function withModel(): Promise<Services> {
  const storage = memoryStorage();
  const services = makeServices(wasm, storage);
  const { fingerprint } = (await services.text()).model(model);
  await keepModel(storage, fingerprint, model);
  return services;
}

async function openFile(name: string, options: { vectors?: VectorSource } = {}): Promise<WebIndex> {
  const file = new Blob([readFileSync(data(`${name}.gossamer`))]);
  return WebIndex.open(file, options, await withModel());
}

function expected(name: string): Expected {
  return JSON.parse(readFileSync(data(`${name}.json`), "utf8")) as Expected;
}

function failsWith(reason: string, part: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof GossamerError, String(error));
    assert.equal(error.reason, reason);
    assert.ok(error.message.includes(part), error.message);
    return true;
  };
}

function isNear(one: number | null, other: number | null): boolean {
  return one === null || other === null ? one === other : Math.abs(one - other) < 1e-5;
}

async function compare(name: string, vectors?: VectorSource): Promise<void> {
  const index = await openFile(name, vectors ? { vectors } : {});
  for (const { question, mode, options, hits, stale, absent } of expected(name).searches) {
    const found = await index.search(question, { k: 6, mode, ...options });
    const said = `${question} (${mode}, ${JSON.stringify(options)})`;
    // Python counts words in texts, and does not come across what is no more in them.
    if (mode !== "lexical") assert.equal(found.notes.filter((note) => STALE.test(note)).length, stale.length, said);
    assert.deepEqual(found.hits.map((hit) => hit.id), hits.map((hit) => hit.id), said);
    assert.deepEqual(found.absent, absent, said);
    found.hits.forEach((hit, i) => {
      const { score, distance, tokens, words, shown, ...rest } = hits[i] as Hit & { shown: string[] };
      assert.deepEqual(hit.highlights.map(([start, end]) => hit.snippet.slice(start, end)), shown, said);
      assert.ok(isNear(hit.distance, distance), `${said}: distance`);
      assert.equal(hit.tokens === null, tokens === null, `${said}: tokens`);
      const isRanked = found.explanation.candidates > 0;
      if (!isRanked || stale.length === 0) {
        // Scores are made of distances where the best were ranked again.
        assert.ok(Math.abs(hit.score - score) < (isRanked ? 1e-4 : 1e-12), `${said}: score`);
        assert.ok(isNear(hit.tokens, tokens), `${said}: tokens`);
        assert.ok(isNear(hit.words, words), `${said}: words`);
      }
      for (const [key, value] of Object.entries(rest)) {
        assert.deepEqual(hit[key as keyof Hit], value, `${said}: ${key}`);
      }
    });
  }
  await index.close();
}

test("vectors recomputed from the texts give the hits of Python", async () => {
  await compare("index");
});

test("vectors that are stored in the file give the hits of Python", async () => {
  await compare("index-vectors");
});

test("an index that keeps vectors can recompute them as well", async () => {
  const index = await openFile("index-vectors", { vectors: "recompute" });

  const found = await index.search("whales that live in the sea", { k: 1 });

  assert.equal(found.hits[0]?.source, "whales");
  assert.ok(found.explanation.chunksEmbedded > 0);
});

test("the second search finds vectors in memory", async () => {
  const index = await openFile("index");
  await index.search("codebook model pack", { rerank: "none" });

  const again = await index.search("codebook model pack", { rerank: "none" });

  assert.ok(again.explanation.chunksCached > 0);
  assert.equal(again.explanation.chunksEmbedded, 0);
  assert.equal(again.explanation.candidates, 0);
});

test("what is ranked again is embedded, though its vectors are in memory", async () => {
  const index = await openFile("index");
  const first = await index.search("codebook model pack");

  const again = await index.search("codebook model pack");

  assert.deepEqual(again.hits, first.hits);
  assert.ok(again.hits.every(({ tokens }) => (tokens ?? 0) > 0));
  const { chunksEmbedded, chunksCached, candidates } = again.explanation;
  assert.deepEqual([chunksEmbedded, chunksCached], [candidates, 0]);
});

test("vectors of tokens of another size are refused, and the right ones taken afterwards", async () => {
  const services = await withModel();
  const file = new Blob([readFileSync(data("index.gossamer"))]);
  const snapshot = await (await WebIndex.open(file, {}, services)).snapshot();
  const { index } = await snapshot.memory.engine();
  const session = (await snapshot.memory.collection()).session({ question: "whales", k: 1, words: "none" }, true);
  const asked = await snapshot.questionVectors("whales", true);
  const refuses = (reason: string, work: () => void) => assert.throws(work, failsWith(reason, "token"));
  const needOf = () => session.needs()[0] as Extract<Need, { need: "embeddings" }>;

  const noStarts = { ...asked, starts: new Uint32Array() };
  refuses("InvalidArgument", () => session.supplyQuestion(index.handle, noStarts));
  refuses("NotFinite", () => session.supplyQuestion(index.handle, { ...asked, tokens: asked.tokens.map(() => NaN) }));
  session.supplyQuestion(index.handle, asked);
  const { ids, tokens: isWanted } = session.needs()[0] as Extract<Need, { need: "vectors" }>;
  assert.ok(isWanted);
  session.supplyVectors(new Uint8Array(ids.length).fill(SUPPLIED.embed), new Float32Array(ids.length * 256));
  const source = new TextSource(snapshot.target.parts.texts, null, new Set());
  await source.supply(session, needOf());
  const { texts } = needOf();
  const embedder = await snapshot.model.embedder();
  const made = await (embedder.embedTokens as TokenEmbedder["embedTokens"])(texts);
  refuses("InvalidArgument", () => session.supplyEmbeddings({ ...made, counts: made.counts.slice(1) }));
  refuses("InvalidArgument", () => session.supplyEmbeddings({ ...made, counts: made.counts.map((n) => n + 1) }));
  refuses("InvalidArgument", () => session.supplyEmbeddings({ ...made, tokens: made.tokens.slice(1) }));
  refuses("InvalidArgument", () => session.supplyEmbeddings({ ...made, starts: made.starts.slice(1) }));
  refuses("NotFinite", () => session.supplyEmbeddings({ ...made, tokens: made.tokens.map(() => Infinity) }));
  session.supplyEmbeddings(made);
  while (session.needs().length > 0) await source.supply(session, needOf());

  assert.deepEqual(session.needs().map(({ need }) => need), []);
  session.free();
});

test("similar chunks and the text around one are those of Python", async () => {
  const { similar, context } = expected("index");
  const index = await openFile("index");

  const found = await index.similar(similar.id, { k: 4 });

  assert.deepEqual(found.hits.map((hit) => hit.id), similar.ids);
  assert.deepEqual(await index.context(similar.id, 40), context);
});

/** Services that have no model, and whose engine opens no index. */
function withoutVectors(): Services {
  const services = makeServices(wasm, memoryStorage());
  const newEngine = async () => {
    const engine = await services.newEngine();
    const openIndex = { value: () => assert.fail("the index was opened") };
    return {
      ...engine,
      openCollection: (origin: CatalogueOrigin): OpenCollection =>
        Object.create(engine.openCollection(origin), { openIndex }) as OpenCollection,
    };
  };
  return { ...services, newEngine };
}

test("titles come from all over the index, without vectors and model", async () => {
  const index = await WebIndex.open(new Blob([readFileSync(data("index.gossamer"))]), {}, withoutVectors());
  const { documents } = await index.status();

  const [few, all] = [await index.titles(2), await index.titles(documents)];

  assert.ok(all.includes("10. Text stays in your files"));
  assert.equal(new Set(all).size, all.length);
  assert.ok(few.length <= 2 && few.every((title) => title !== "" && all.includes(title)));
});

test("a lexical search loads neither vectors nor model", async () => {
  const index = await WebIndex.open(new Blob([readFileSync(data("index.gossamer"))]), {}, withoutVectors());

  const found = await index.search("whales", { mode: "lexical", k: 1 });

  assert.equal(found.hits[0]?.source, "whales");
  await assert.rejects(index.search("whales", { mode: "semantic" }));
});

test("without its model an index answers by words, and says what to do", async () => {
  const file = new Blob([readFileSync(data("index.gossamer"))]);
  const index = await WebIndex.open(file, {}, makeServices(wasm, memoryStorage()));

  const { hits, notes, explanation } = await index.search("whales", { k: 1 });

  assert.equal(hits[0]?.source, "whales");
  assert.equal(explanation.mode, "lexical");
  assert.match(notes.join(), /found by words only: .*pocket\.model\.gossamer/);
  const semantic = index.search("whales", { mode: "semantic" });
  await assert.rejects(semantic, failsWith("MissingModel", "pocket.model.gossamer"));
});

test("a search that makes no sense is refused", async () => {
  const index = await openFile("index");

  await assert.rejects(index.search("x", { k: 0 }), failsWith("InvalidArgument", "k must be at least 1"));
  await assert.rejects(index.search("?!"), failsWith("InvalidArgument", "a word or a number"));
  await assert.rejects(index.search("x", { filter: "type =" }), failsWith("InvalidArgument", "write =="));
  await assert.rejects(index.search("x", { mode: "fast" as Mode }), failsWith("InvalidArgument", "mode"));
  const rerank = "all" as Rerank;
  await assert.rejects(index.search("x", { rerank }), failsWith("InvalidArgument", "rerank must be one of auto, none"));
  await assert.rejects(index.search("x", { recall: 0 }), failsWith("InvalidArgument", "recall must be above 0"));
  await assert.rejects(index.context(99999), failsWith("UnknownId", "99999"));
});

test("asking for more hits than chunks returns every chunk whose text is what was indexed", async () => {
  const index = await openFile("index");
  const { chunks } = await index.status();

  const found = await index.search("whales", { k: 100_000 });

  assert.equal(found.hits.length, chunks - 1);
  assert.ok(found.notes.some((note) => STALE.test(note)));
});

test("an aborted search is cancelled", async () => {
  const index = await openFile("index");
  const abort = new AbortController();
  const search = index.search("codebook", { signal: abort.signal });

  abort.abort();

  await assert.rejects(search, failsWith("Cancelled", "cancelled"));
});

test("a name that is not in storage is no index", async () => {
  await assert.rejects(WebIndex.open("notes", {}, await withModel()), failsWith("NoIndex", "named notes"));
});

test("a file that is damaged is never searched", async () => {
  const bytes = readFileSync(data("index.gossamer"));
  const outcomes = new Set<string>();
  for (let at = 0; at < bytes.length; at += 997) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 0x55;
    try {
      const index = await WebIndex.open(new Blob([damaged]), {}, await withModel());
      const found = await index.search("whales that live in the sea", { k: 3 });
      for (const hit of found.hits) assert.ok(hit.text.length > 0);
      outcomes.add("answered");
    } catch (error) {
      assert.ok(error instanceof GossamerError, String(error));
      outcomes.add(error.reason);
    }
  }
  assert.ok(outcomes.has("Damaged"), [...outcomes].join());
});

test("a closed index says so", async () => {
  const index = await openFile("index");
  await index.close();

  await assert.rejects(index.search("whales"), failsWith("WrongState", "closed"));
});
