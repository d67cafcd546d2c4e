// An index that a server has: what is asked of it, and what its answers mean.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import type { Progress } from "../src/records.ts";
import { RemoteIndex } from "../src/remote/remote_index.ts";

interface Asked {
  readonly url: string;
  readonly init: RequestInit;
}

const FETCH = globalThis.fetch;
const URL_OF_SERVER = "http://server.example/notes/";
const HIT = {
  ...{ id: 3, number: 1, location: "/n/a.md:2", path: "/n/a.md", key: "", kind: "markdown", title: "A" },
  ...{ unit: "line", first: 1, last: 2, line: 2, start: 0, end: 9, score: 0.5, distance: -0.25 },
  ...{ ranks: { lexical: 1 }, tokens: 0.5, words: 2, metadata: {}, snippet: "𝔸🐋 with plankton", text: "", highlights: [[8, 16]], code: [[1, 2]] },
};
const FOUND = {
  ...{ question: "plankton", mode: "hybrid", took_ms: 12.5, hits: [HIT], stale: [], notes: ["a note"] },
  explanation: {
    ...{ mode: "hybrid", strategy: "scan", chunks: 9, allowed_chunks: null, codes_touched: 8, rounds: 1, candidates: 4 },
    ...{ chunks_embedded: 7, chunks_cached: 6, chunks_asked: 0, lexical_bytes: 5 },
    ...{ lexical_terms: { plankton: 1 }, stages: { words: 0.5 } },
  },
};
const REPORT = { added: 1, updated: 0, chunks_embedded: 2 };

afterEach(() => {
  globalThis.fetch = FETCH;
});

/** Answers what is asked, one after the other; the last one again and again. */
function answerWith(...answers: (Response | Error)[]): Asked[] {
  const asked: Asked[] = [];
  globalThis.fetch = async (url, init = {}) => {
    const answer = answers[Math.min(asked.push({ url: String(url), init }), answers.length) - 1];
    if (init.signal?.aborted) throw init.signal.reason;
    if (answer instanceof Error || !answer) throw answer;
    return answer.clone();
  };
  return asked;
}

function json(body: unknown, status = 200): Response {
  return new Response(JSON.stringify(body), { status });
}

function lines(...records: unknown[]): Response {
  return new Response(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}

function makeIndex(renew: (refused: string) => Promise<string> = async () => ""): RemoteIndex {
  let token = "";
  return new RemoteIndex(URL_OF_SERVER, {
    known: () => token,
    renew: async (refused) => (token = await renew(refused)),
  });
}

const headersOf = ({ init }: Asked) => new Headers(init.headers);
const fails = (work: Promise<unknown>, reason: string, said: RegExp) =>
  assert.rejects(work, (error: GossamerError) => error.reason === reason && said.test(error.message));

test("what is asked for is what the server knows", async () => {
  const asked = answerWith(json(FOUND));

  const filters = { paths: ["*.md"], types: ["pdf"], after: "2024-01-01", filter: "year > 1" };
  await makeIndex().search("plankton", { k: 5, mode: "lexical", rerank: "none", plain: true, ...filters });

  assert.equal(asked[0]?.url, "http://server.example/notes/v1/search");
  assert.deepEqual(JSON.parse(String(asked[0]?.init.body)), {
    ...{ question: "plankton", k: 5, mode: "lexical", rerank: "none", paths: ["*.md"], types: ["pdf"] },
    ...{ plain: true, after: "2024-01-01", where: "year > 1" },
  });
});

test("results are those of an index in the page, with marks in UTF-16", async () => {
  answerWith(json(FOUND));

  const { hits, notes, tookMs, explanation } = await makeIndex().search("plankton");

  const [hit] = hits;
  assert.deepEqual(hit?.highlights.map(([start, end]) => hit.snippet.slice(start, end)), ["plankton"]);
  assert.deepEqual(hit?.code, [[2, 4]]);
  assert.equal(hit?.source, "/n/a.md");
  assert.deepEqual([notes, tookMs], [["a note"], 12.5]);
  const { allowedChunks, codesTouched, chunksEmbedded, lexicalTerms } = explanation;
  assert.deepEqual([allowedChunks, codesTouched, chunksEmbedded], [null, 8, 7]);
  assert.deepEqual(lexicalTerms, { plankton: 1 });
});

test("what is nowhere is what the server says is; one of an earlier release says nothing", async () => {
  answerWith(json({ ...FOUND, absent: ["E1101"] }), json(FOUND));

  const [newer, older] = [await makeIndex().search("E1101"), await makeIndex().search("E1101")];

  assert.deepEqual([newer.absent, older.absent], [["E1101"], []]);
  assert.equal(older.hits[0]?.reranker, null);
});

test("a mark at the end of a text ends there", async () => {
  answerWith(json({ ...FOUND, hits: [{ ...HIT, snippet: "🐋", highlights: [[0, 1]], code: undefined }] }));

  const { hits } = await makeIndex().search("whale");

  assert.deepEqual(hits[0]?.highlights, [[0, 2]]);
  assert.deepEqual(hits[0]?.code, []); // servers of earlier releases do not say what is
});

test("what was brought up to date first is said", async () => {
  answerWith(json({ ...FOUND, notes: ["b is gone"], updated: ["a", "b"] }));

  assert.deepEqual((await makeIndex().search("plankton")).notes, ["2 changed files were brought up to date", "b is gone"]);
});

test("files that changed are named, and what mends it", async () => {
  answerWith(json({ ...FOUND, notes: [], stale: ["a", "b", "c", "d", "e", "f", "g"] }));

  const { notes } = await makeIndex().search("plankton");

  assert.equal(notes.length, 1);
  assert.match(notes[0] ?? "", /^7 files changed .*`gossamer add` mends it: a, b, c, d, e and 2 more$/);
});

test("a token is asked for once it is wanted, and sent from then on", async () => {
  const asked = answerWith(json({}, 401), json({}, 401), json({ titles: ["A"] }));
  const refused: string[] = [];
  const index = makeIndex(async (token) => {
    refused.push(token);
    return `token-${refused.length}`;
  });

  assert.deepEqual(await index.titles(), ["A"]);
  await index.titles();

  assert.deepEqual(refused, ["", "token-1"]);
  const sent = asked.map((one) => headersOf(one).get("authorization"));
  assert.deepEqual(sent, [null, "Bearer token-1", "Bearer token-2", "Bearer token-2"]);
});

test("without a token it says that one is needed", async () => {
  answerWith(json({}, 401));

  await fails(makeIndex().status(), "WrongState", /only with its token/);
});

test("what a server says of an error stays, with a reason to act on", async () => {
  const cases: [number, unknown, string, RegExp][] = [
    [400, { error: "invalid_argument", message: "k is too large" }, "InvalidArgument", /k is too large/],
    [409, { error: "locked", message: "others change it" }, "Locked", /others change it/],
    [413, { error: "too_large", message: "256 MB at most" }, "TooLarge", /256 MB/],
    [403, { error: "read_only", message: "it is read-only" }, "WrongState", /read-only/],
    [503, { error: "busy", message: "too many wait" }, "Unavailable", /too many wait/],
    [502, "<html>", "Unavailable", /status 502/],
  ];
  for (const [status, body, reason, said] of cases) {
    answerWith(typeof body === "string" ? new Response(body, { status }) : json(body, status));
    await fails(makeIndex().status(), reason, said);
  }
});

test("no answer, and one that is no JSON, are said to be so", async () => {
  answerWith(new TypeError("Failed to fetch"));
  await fails(makeIndex().status(), "Unreachable", /does not answer/);

  answerWith(new Response("<html>"));
  await fails(makeIndex().status(), "Unreachable", /not JSON/);
});

test("a search that is given up is cancelled", async () => {
  answerWith(json(FOUND));

  const search = makeIndex().search("plankton", { signal: AbortSignal.abort() });

  await fails(search, "Cancelled", /cancelled/);
});

test("files are sent one after the other, and what became of each is counted", async () => {
  const asked = answerWith(
    lines({ phase: "reading", chunks_embedded: 0 }, { chunks_embedded: 2 }, { note: "", report: REPORT }),
    lines({ note: "it is kept, but not indexed: no text", report: { ...REPORT, added: 0 } }),
    json({ error: "invalid_argument", message: "a file's name is like" }, 400),
    lines({ note: "", report: { ...REPORT, added: 0, updated: 1, chunks_embedded: 3 } }),
    lines({ note: "", report: { ...REPORT, added: 0, chunks_embedded: 0 } }),
  );
  const seen: Progress[] = [];

  const files = ["a b/ö.md", "photo.png", ".x", "c.md", "d.md"].map(fileAt);
  const report = await makeIndex().addFiles(files, { onProgress: (progress) => seen.push(progress) });

  assert.deepEqual([report.added, report.replaced, report.unchanged], [1, 1, 1]);
  assert.deepEqual(report.failed.map(({ source, reason }) => [source, reason]), [
    ["photo.png", "Unreadable"],
    [".x", "InvalidArgument"],
  ]);
  assert.equal(asked[0]?.url, `${URL_OF_SERVER}v1/files/a%20b/%C3%B6.md?stream=true`);
  assert.equal(asked[0]?.init.method, "PUT");
  assert.deepEqual(seen.at(2), { phase: "embedding", done: 2, total: 0 });
  assert.deepEqual(seen.filter(({ phase }) => phase === "reading").at(-1), {
    ...{ phase: "reading", done: 4, total: 5 },
  });
});

test("what is wrong with the server ends the sending of files", async () => {
  const asked = answerWith(lines({ error: "unwritable", message: "the disk is full" }));

  await fails(makeIndex().addFiles(["a.md", "b.md"].map(fileAt)), "Unwritable", /disk is full/);

  assert.equal(asked.length, 1);
});

test("an answer that breaks off before the report is none", async () => {
  answerWith(lines({ phase: "reading" }));

  await fails(makeIndex().addFiles([fileAt("a.md")]), "Unreachable", /broke off/);
});

test("sending that is cancelled reports what was sent before", async () => {
  const abort = new AbortController();
  answerWith(lines({ note: "", report: REPORT }));
  const onProgress = ({ done }: Progress) => done === 1 && abort.abort();

  const report = await makeIndex().addFiles(["a.md", "b.md", "c.md"].map(fileAt), {
    onProgress,
    signal: abort.signal,
  });

  assert.deepEqual([report.added, report.failed.length], [1, 0]);
});

function fileAt(path: string): { path: string; file: Blob; mtime: number } {
  return { path, file: new Blob(["text"]), mtime: 0 };
}
