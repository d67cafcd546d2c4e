// Following a server: what is asked of it, what is kept when it breaks off, what is taken instead.
import assert from "node:assert/strict";
import test from "node:test";

import { WebIndex } from "../src/query/web_index.ts";
import type { Progress } from "../src/records.ts";
import { cleanUrl, type ServerInfo } from "../src/server/client.ts";
import { RemoteChunks } from "../src/server/remote_chunks.ts";
import { follow, pull, type FollowTools, type FollowWish, type PullWish } from "../src/sync/follow.ts";
import { manifestIn, readFollowing } from "../src/server/following.ts";
import { readFile } from "../src/storage/small_files.ts";
import type { PullReport } from "../src/server/records.ts";
import { watchPulls, type WatchOptions } from "../src/sync/watch.ts";
import { committed, contentOf, isReason, newEdge, PACK, URL_OF_SERVER, type TestEdge } from "./sync_edge.ts";
import {
  broken,
  expected,
  headIn,
  recorded,
  remade,
  serverOf,
  signAnswer,
  TOKEN,
  type Asked,
  type FetchLike,
} from "./sync_packages.ts";

const STEPS = expected.steps;
const SNAPSHOT = recorded("codes-0");

/** A server at a step: it gives the delta from the step before, else a snapshot. */
class Steps {
  now = 0;
  names = "codes";
  change: (bytes: Uint8Array, asked: Asked) => Uint8Array | Response | null = (bytes) => bytes;
  info: (info: ServerInfo) => ServerInfo = (info) => info;
  readonly #server = serverOf(() => this.#info(), (asked) => this.#give(asked));

  get asked(): Asked[] {
    return this.#server.asked;
  }

  get fetch(): FetchLike {
    return this.#server.fetch;
  }

  get packagesAsked(): Asked[] {
    return this.asked.filter(({ path }) => path === "/v1/sync/package");
  }

  #info(): ServerInfo {
    const { index, epoch, version } = headIn(recorded(`${this.names}-${this.now}`)) as unknown as ServerInfo;
    return this.info({ index, epoch, version, protocol: 1 });
  }

  #give(asked: Asked): Uint8Array | Response | null {
    const name = `${this.names}-${this.now}`;
    const head = headIn(recorded(name));
    const state = asked.query.get("state");
    if (state === head["state"]) return null;
    const before = this.now > 0 ? headIn(recorded(`${this.names}-${this.now - 1}`)) : null;
    const isNext = before !== null && before["state"] === state;
    return this.change(recorded(isNext || this.now === 0 ? name : `${this.names}-all`), asked);
  }
}

function toolsFor(edge: TestEdge, server: Steps, more: Partial<FollowTools> = {}): FollowTools {
  const { newBuilder: builder, chunks } = edge.services;
  const tools = { builder, chunks, pack: async () => PACK, fetch: server.fetch };
  return { ...tools, pause: async () => {}, ...more };
}

function followIt(
  edge: TestEdge,
  server: Steps,
  more: Partial<FollowTools> = {},
  wish: FollowWish = { token: TOKEN },
): Promise<PullReport> {
  return follow(edge.folder, URL_OF_SERVER, wish, toolsFor(edge, server, more));
}

function pullIt(
  edge: TestEdge,
  server: Steps,
  wish: PullWish = {},
  more: Partial<FollowTools> = {},
): Promise<PullReport> {
  return pull(edge.folder, wish, toolsFor(edge, server, more));
}

async function chunksOf(edge: TestEdge): Promise<readonly number[]> {
  return (await contentOf(edge)).chunks;
}

async function partFiles({ folder }: TestEdge): Promise<string[]> {
  return (await folder.files()).map(({ name }) => name).filter((name) => name.startsWith("package"));
}

test("the first pull brings everything and later ones what changed", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  const first = await followIt(edge, server);
  server.now = 1;
  const second = await pullIt(edge, server);
  const third = await pullIt(edge, server);

  assert.deepEqual([first.kind, second.kind, third.kind], ["snapshot", "delta", "current"]);
  assert.deepEqual([first.fromVersion, second.fromVersion], [0, first.version]);
  assert.equal(third.version, second.version);
  assert.ok(second.bytesReceived < first.bytesReceived);
  assert.deepEqual([second.documentsChanged, second.documentsRemoved], [2, 1]);
  assert.equal(second.fellBack, "");
  assert.deepEqual(await chunksOf(edge), STEPS[1]?.chunks);
  assert.deepEqual(await partFiles(edge), []);
  const { origin } = (await manifestIn(edge.folder)) ?? {};
  assert.equal(origin?.["url"], URL_OF_SERVER);
});

test("the token is remembered for its server, and sent with every request", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  await followIt(edge, server, {}, {});
  await pullIt(edge, server);

  const sent = new Set(server.asked.map(({ headers }) => headers.get("authorization")));
  assert.deepEqual([...sent], [`Bearer ${TOKEN}`]);
  assert.equal((await readFollowing(edge.folder))?.token, TOKEN);
});

test("a token that the server refuses is not written down", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  const refusal = { error: "unauthorized", message: "this server needs its token" };
  const fetch: FetchLike = async () => Response.json(refusal, { status: 401 });

  const pulling = pullIt(edge, server, { token: "wrong" }, { fetch });

  await assert.rejects(pulling, isReason("WrongState", "its token"));
  assert.equal((await readFollowing(edge.folder))?.token, TOKEN);
});

test("a download that breaks off goes on where it stopped, by itself and the next time", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  const starts: number[] = [];
  server.change = (bytes, { headers }) => {
    const from = Number(/\d+/.exec(headers.get("range") ?? "0")?.[0] ?? 0);
    starts.push(from);
    return broken(bytes, 100, from);
  };
  await assert.rejects(followIt(edge, server), isReason("Unreachable", "goes on after the 500 bytes"));
  assert.equal(await manifestIn(edge.folder), null);
  assert.deepEqual(starts, [0, 100, 200, 300, 400]);

  server.change = (bytes) => bytes;
  const report = await followIt(edge, server);

  assert.equal(server.packagesAsked.at(-1)?.headers.get("range"), "bytes=500-");
  assert.equal(report.bytesReceived, SNAPSHOT.length);
  assert.deepEqual(await partFiles(edge), []);
});

test("what came of another package is not gone on with", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  server.change = (bytes) => broken(bytes, 100);
  await assert.rejects(followIt(edge, server), isReason("Unreachable"));
  server.change = (bytes) => remade(bytes, { head: (head) => ({ ...head, is_signed: true }) });

  const report = await followIt(edge, server);

  assert.equal(report.kind, "snapshot");
  assert.equal(server.packagesAsked.at(-1)?.headers.get("range"), "bytes=100-");
  assert.deepEqual(await chunksOf(edge), STEPS[0]?.chunks);
});

test("all that came before the page was closed is taken without another byte", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  const stop = new AbortController();
  const builder = () => {
    stop.abort();
    return edge.services.newBuilder();
  };
  await assert.rejects(followIt(edge, server, { builder, signal: stop.signal }), isReason("Cancelled"));
  assert.notDeepEqual(await partFiles(edge), []);

  await followIt(edge, server);

  assert.equal(server.packagesAsked.at(-1)?.headers.get("range"), `bytes=${SNAPSHOT.length}-`);
  assert.deepEqual(await chunksOf(edge), STEPS[0]?.chunks);
});

test("an aborted download keeps what came", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  const stop = new AbortController();
  const onProgress = ({ phase }: Progress) => {
    if (phase === "receiving") stop.abort();
  };
  server.change = (bytes) => broken(bytes, 100);

  await assert.rejects(followIt(edge, server, { onProgress, signal: stop.signal }), isReason("Cancelled"));

  server.change = (bytes) => bytes;
  await followIt(edge, server);
  assert.equal(server.packagesAsked.at(-1)?.headers.get("range"), "bytes=100-");
});

test("a server that prepares is waited for, and says how far it is", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  const [waits, seen]: [number[], Progress[]] = [[], []];
  let asked = 0;
  server.change = (bytes) => {
    if (++asked > 2) return bytes;
    return Response.json({ done: asked, total: 9 }, { status: 202, headers: { "retry-after": "3" } });
  };
  const pause = async (ms: number) => void waits.push(ms);

  await followIt(edge, server, { pause, onProgress: (progress) => void seen.push(progress) });

  assert.deepEqual(waits, [3000, 3000]);
  assert.deepEqual(seen.slice(0, 2), [
    { phase: "the server prepares", done: 1, total: 9 },
    { phase: "the server prepares", done: 2, total: 9 },
  ]);
  assert.ok(seen.some(({ phase, done, total }) => phase === "receiving" && done === total));
});

test("a server that is away changes nothing", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  const before = await committed(edge);
  const fetch: FetchLike = async () => {
    throw new TypeError("Failed to fetch");
  };

  await assert.rejects(pullIt(edge, server, {}, { fetch }), isReason("Unreachable"));

  assert.deepEqual(await committed(edge), before);
});

test("a delta that is damaged or does not fit is followed by a snapshot, once", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  server.now = 1;
  server.change = (bytes, { query }) => {
    return query.has("state") ? remade(bytes, { sections: { rows: null } }) : bytes;
  };

  const report = await pullIt(edge, server);

  assert.equal(report.kind, "snapshot");
  assert.match(report.fellBack, /rows/);
  assert.equal(server.packagesAsked.at(-1)?.query.has("state"), false);
});

test("where a snapshot does not fit either, the index stays as it was", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  const before = await committed(edge);
  server.now = 1;
  server.change = (bytes) => bytes.slice(0, -1);

  await assert.rejects(pullIt(edge, server), isReason("Damaged", "The index here is as it was"));

  assert.deepEqual(await committed(edge), before);
  assert.deepEqual(await partFiles(edge), []);
});

test("an edge of which storage has lost a file takes a snapshot", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  const [vectors] = (await edge.folder.files()).filter(({ name }) => name.startsWith("vectors"));
  await edge.folder.removeFile(vectors?.name ?? "");
  server.now = 3;
  server.names = "codes";

  const report = await pullIt(edge, server);

  assert.equal(report.kind, "snapshot");
  assert.deepEqual(await chunksOf(edge), STEPS[3]?.chunks);
});

test("another index, a later protocol and an older state are refused in words", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  const before = await committed(edge);
  const refused: [Partial<ServerInfo>, Parameters<typeof isReason>][] = [
    [{ index: "other" }, ["WrongState", "another index"]],
    [{ protocol: 2 }, ["UnknownVersion", "version 2"]],
    [{ version: 0 }, ["WrongState", "put back"]],
    [{ version: "x" as never }, ["Unreachable", "something else"]],
  ];
  for (const [said, reason] of refused) {
    server.info = (info) => ({ ...info, ...said });
    await assert.rejects(pullIt(edge, server), isReason(...reason));
  }
  assert.deepEqual(await committed(edge), before);
});

test("an older state is taken when it is asked for again", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  server.now = 1;
  await pullIt(edge, server);
  server.now = 0;

  const report = await pullIt(edge, server, { again: true });

  assert.equal(report.kind, "snapshot");
  assert.deepEqual(await chunksOf(edge), STEPS[0]?.chunks);
});

test("a server that lost its history is known by its new epoch", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  server.info = (info) => ({ ...info, epoch: "new" });

  const report = await pullIt(edge, server);

  assert.equal(report.kind, "current");
  assert.equal((await manifestIn(edge.folder))?.origin["epoch"], "new");
  assert.deepEqual(await chunksOf(edge), STEPS[0]?.chunks);
});

test("an edge that wants something else now takes a snapshot of it", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);
  server.names = "slim";

  const report = await followIt(edge, server, {}, { mode: "slim:int8" });

  assert.equal(report.kind, "snapshot");
  assert.equal(server.packagesAsked.at(-1)?.query.get("mode"), "slim:int8:8");
  assert.equal((await manifestIn(edge.folder))?.settings.keep, "all");
});

test("a pull while another tab pulls is refused", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server);

  const pulling = edge.folder.whileWriting(() => pullIt(edge, server));

  await assert.rejects(pulling, isReason("Locked"));
});

test("an index that follows nobody is not pulled, and none is not there", async () => {
  const [edge, server] = [await newEdge(), new Steps()];

  await assert.rejects(pullIt(edge, server), isReason("NoIndex"));
  await assert.rejects(followIt(edge, server, {}, { mode: "hot:5MB" }), isReason("InvalidArgument"));
  await assert.rejects(
    follow(edge.folder, "ftp://server", {}, toolsFor(edge, server)),
    isReason("InvalidArgument"),
  );
});

test("errors of a server are told in its words, with its reason", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  const answers: [Response, Parameters<typeof isReason>][] = [
    [Response.json({ error: "too_large", message: "too many" }, { status: 413 }), ["TooLarge", "too many"]],
    [new Response("oops", { status: 500 }), ["Unreachable", "status 500"]],
    [new Response("", { status: 404 }), ["Unreachable", "something else"]],
    [Response.redirect("http://elsewhere.example/"), ["Unreachable", "redirect"]],
    [new Response("<html>"), ["Unreachable", "something else"]],
    [new Response("x".repeat(2 ** 21)), ["Unreachable", "more than"]],
  ];
  for (const [answer, reason] of answers) {
    const fetch: FetchLike = (url, init) => signAnswer(answer, new URL(String(url)), init);
    await assert.rejects(followIt(edge, server, { fetch }), isReason(...reason));
  }
});

test("watching pulls until it is told to stop, whatever fails", async () => {
  const stop = new AbortController();
  const [brought, failed]: [string[], string[]] = [[], []];
  let turn = 0;
  const report = (kind: PullReport["kind"]) => ({ kind }) as PullReport;
  const work = async (): Promise<PullReport> => {
    turn += 1;
    if (turn === 2) throw new Error("away");
    if (turn === 4) stop.abort();
    return report(turn === 3 ? "current" : "delta");
  };

  const listening: WatchOptions = {
    signal: stop.signal,
    onPull: ({ kind }) => void brought.push(kind),
    onError: (error) => void failed.push(String(error)),
  };
  await watchPulls(work, 1000, listening, async () => {});

  assert.deepEqual([brought, failed], [["delta", "delta"], ["Error: away"]]);
});

test("watching without a pause between pulls is refused before the first", async () => {
  const { signal } = new AbortController();
  const never = () => assert.fail("it pulled");
  for (const everyMs of [0, -1, 999, NaN, Infinity]) {
    await assert.rejects(watchPulls(never, everyMs, { signal }), isReason("InvalidArgument", "1000"));
  }
});

test("what a listener of pulls throws is not taken for a pull that failed", async () => {
  const { signal } = new AbortController();
  const onPull = () => {
    throw new Error("mine");
  };
  const onError = () => assert.fail("the pull did not fail");
  const work = async () => ({ kind: "delta" }) as PullReport;

  await assert.rejects(watchPulls(work, 1000, { signal, onPull, onError }), /mine/);
});

test("a token that is not to be kept is nowhere in storage, not after a pull either", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  await followIt(edge, server, {}, { token: TOKEN, keepsToken: false });
  server.now = 1;
  await pullIt(edge, server, { token: TOKEN });

  for (const { name } of await edge.folder.files()) {
    const bytes = await readFile(edge.folder, name);
    assert.ok(!Buffer.from(bytes ?? []).includes(TOKEN), name);
  }
  assert.equal((await readFollowing(edge.folder))?.keepsToken, false);
});

test("a server that does not answer a search is left alone for a while", async () => {
  let [asked, time] = [0, 0];
  const fetch: FetchLike = async () => {
    asked += 1;
    return new Response("", { status: 503 });
  };
  const remote = new RemoteChunks({ url: URL_OF_SERVER, fetch }, 4, () => time);
  const said = new Set<string>();
  await remote.vectors([1, 2], said);
  assert.deepEqual(await remote.chunks([1], said), [null]);
  assert.equal(asked, 1);
  assert.equal(said.size, 1);
  time = 31_000;
  await remote.chunks([1], said);

  assert.equal(asked, 2);
});

test("vectors that are not finite are no vectors", async () => {
  const bytes = new Uint8Array([1, 0x00, 0x7c]); // infinity
  const said = new Set<string>();
  const remote = new RemoteChunks({ url: URL_OF_SERVER, fetch: async () => new Response(bytes) }, 1);

  const { mask } = await remote.vectors([7], said);

  assert.deepEqual([...mask], [0]);
  assert.match([...said].join(), /not finite/);
});

test("a search of an edge asks for the index that it follows", async () => {
  const [edge, server] = [await newEdge(), new Steps()];
  server.names = "away";
  await followIt(edge, server, {}, { token: TOKEN, texts: "away" });
  const index = await WebIndex.open("notes", {}, edge.services);
  const { server: asked } = (await index.snapshot()).target;

  const { index: uuid, epoch } = headIn(recorded("away-0")) as unknown as ServerInfo;
  assert.deepEqual(asked, { url: URL_OF_SERVER, token: TOKEN, index: uuid, epoch });
  assert.equal((await index.status()).vectors, "server");
});

test("addresses are written in one form", () => {
  const urls = ["server:8321", "HTTP://Server:80/", "https://server/a/b//", "http://[::1]:9"].map(cleanUrl);

  assert.deepEqual(urls, ["http://server:8321", "http://server", "https://server/a/b", "http://[::1]:9"]);
  for (const url of ["", "ftp://a", "http://a?b", "http://a#b", "http://u@a", "http://"]) {
    assert.throws(() => cleanUrl(url), isReason("InvalidArgument"));
  }
});
