// Somebody between a server and a page: what the server did not say to this request is not used.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";

import { Client, type ServerInfo } from "../src/server/client.ts";
import { RemoteChunks } from "../src/server/remote_chunks.ts";
import { follow, pull, type FollowTools } from "../src/sync/follow.ts";
import { digestOf } from "../src/server/hmac.ts";
import { isAnswerSigned } from "../src/server/signing.ts";
import { committed, isReason, newEdge, PACK, URL_OF_SERVER, type TestEdge } from "./sync_edge.ts";
import { headIn, recorded, serverOf, signAnswer, TOKEN, type FetchLike } from "./sync_packages.ts";

const UNSIGNED = "not signed with the token";
const SNAPSHOT = recorded("codes-0");
const INFO = { ...(headIn(SNAPSHOT) as unknown as ServerInfo), protocol: 1 };
const STATE = String(headIn(SNAPSHOT)["state"]);

const honest = serverOf(
  () => INFO,
  ({ query }) => (query.get("state") === STATE ? null : SNAPSHOT),
);

function toolsFor(edge: TestEdge, fetch: FetchLike = honest.fetch): FollowTools {
  const { newBuilder: builder, chunks } = edge.services;
  return { builder, chunks, pack: async () => PACK, fetch, pause: async () => {} };
}

/** An edge that has everything, and a way to change what it is answered. */
async function followed(): Promise<TestEdge> {
  const edge = await newEdge();
  await follow(edge.folder, URL_OF_SERVER, { token: TOKEN }, toolsFor(edge));
  return edge;
}

function changing(change: (answer: Response, path: string) => Response): FetchLike {
  return async (url, init) => change(await honest.fetch(url, init), new URL(String(url)).pathname);
}

function withHead(answer: Response, status: number, more: Record<string, string> = {}): Response {
  const headers = new Headers({ ...Object.fromEntries(answer.headers), ...more });
  return new Response(status === 204 ? null : answer.body, { status, headers });
}

function client(fetch: FetchLike): Client {
  return new Client(URL_OF_SERVER, { token: TOKEN, fetch });
}

test("a forged 'nothing new' does not freeze an edge", async () => {
  const edge = await followed();
  const before = await committed(edge);
  const forging = changing((answer, path) =>
    path.endsWith("package") ? new Response(null, { status: 204 }) : answer,
  );

  await assert.rejects(pull(edge.folder, {}, toolsFor(edge, forging)), isReason("Unreachable", UNSIGNED));

  assert.deepEqual(await committed(edge), before);
  assert.equal((await pull(edge.folder, {}, toolsFor(edge))).kind, "current");
});

test("an answer that was given before is refused", async () => {
  const edge = await followed();
  const kept = new Map<string, Response>();
  const replaying: FetchLike = async (url, init) => {
    const key = String(url);
    const old = kept.get(key) ?? (await honest.fetch(url, init));
    kept.set(key, old);
    return old.clone();
  };

  assert.equal((await pull(edge.folder, {}, toolsFor(edge, replaying))).kind, "current");
  await assert.rejects(pull(edge.folder, {}, toolsFor(edge, replaying)), isReason("Unreachable", UNSIGNED));
  for (const key of kept.keys()) if (key.endsWith("/v1/sync")) kept.delete(key);
  await assert.rejects(pull(edge.folder, {}, toolsFor(edge, replaying)), isReason("Unreachable", UNSIGNED));
});

test("another status, name, part or length of a package is refused", async () => {
  const wanted = { mode: "codes", texts: "kept", base: null } as const;
  const ask = (fetch: FetchLike) => client(fetch).package(wanted, {}, async ({ status }) => status);
  const isRefused = isReason("Unreachable", UNSIGNED);

  assert.equal(await ask(honest.fetch), 200);
  for (const status of [202, 204, 206, 416]) {
    await assert.rejects(ask(changing((answer) => withHead(answer, status))), isRefused);
  }
  for (const name of ["etag", "content-range", "content-length", "gossamer-signature"]) {
    await assert.rejects(ask(changing((answer) => withHead(answer, 200, { [name]: "7" }))), isRefused);
  }
});

test("an answer to another request is refused", async () => {
  const vectors: FetchLike = async (url, init) => {
    const bytes = new Uint8Array([1, 0, 0]);
    return signAnswer(new Response(bytes), new URL(String(url)), { ...init, body: '{"ids":[8]}' });
  };
  const said = new Set<string>();
  const remote = new RemoteChunks({ url: URL_OF_SERVER, token: TOKEN, fetch: vectors }, 1);

  assert.deepEqual([...(await remote.vectors([7], said)).mask], [0]);
  assert.match([...said].join(), new RegExp(UNSIGNED));

  const right = new RemoteChunks({ url: URL_OF_SERVER, token: TOKEN, fetch: vectors }, 1);
  assert.deepEqual([...(await right.vectors([8], new Set())).mask], [1]);
});

test("a changed bit of an answer is noticed", async () => {
  const changed = changing((answer) => withHead(new Response("{}"), 200, Object.fromEntries(answer.headers)));

  await assert.rejects(client(changed).info(), isReason("Unreachable", UNSIGNED));
});

test("an error that is not signed is told but not believed", async () => {
  for (const [status, reason] of [
    [400, "Unreachable"],
    [401, "WrongState"],
    [403, "WrongState"],
    [404, "Unreachable"],
    [409, "Unreachable"],
    [413, "Unreachable"],
    [502, "Unreachable"],
  ] as const) {
    const refusal = { error: "unknown_id", message: "the reason why" };
    const fetch: FetchLike = async () => Response.json(refusal, { status });
    await assert.rejects(client(fetch).info(), isReason(reason, "the reason why"));
  }
});

test("an error that is signed, read or unread, is raised by its name", async () => {
  for (const body of [undefined, ""]) {
    const refusal = { error: "too_large", message: "too many" };
    const fetch: FetchLike = (url, init) => {
      const asked = body === undefined ? init : { ...init, body };
      return signAnswer(Response.json(refusal, { status: 413 }), new URL(String(url)), asked);
    };
    const asking = client(fetch).post("/v1/sync/chunks", { ids: [1] }, 100);
    await assert.rejects(asking, isReason("TooLarge", "too many"));
  }
});

test("a server that signs nothing is said to be old, or to be another", async () => {
  const fetch: FetchLike = async () => Response.json(INFO);

  await assert.rejects(client(fetch).info(), isReason("Unreachable", "older release"));
  assert.equal((await new Client(URL_OF_SERVER, { fetch }).info()).index, INFO.index);
});

test("no two requests have the same nonce, and none has one without a token", async () => {
  const nonces: (string | null)[] = [];
  const fetch: FetchLike = (url, init) => {
    nonces.push(new Headers(init?.headers).get("gossamer-nonce"));
    return honest.fetch(url, init);
  };
  for (let i = 0; i < 5; ++i) await client(fetch).info();
  await new Client(URL_OF_SERVER, { fetch }).info();

  assert.equal(nonces.pop(), null);
  assert.equal(new Set(nonces).size, 5);
  for (const nonce of nonces) assert.match(nonce ?? "", /^[0-9a-f]{32}$/);
});

test("the code is that of the format, by the browser and here", async () => {
  // Python has the same one in its tests.
  const code = "778bcee2155aec29d46eba1f44d40f72ba3717bc3626d9f582f7ab8ca2308fac";
  const asked = {
    nonce: "00112233445566778899aabbccddeeff",
    method: "POST",
    target: "/v1/sync/vectors?a=ü",
    body: "",
  };
  const head = { etag: '"tag"', "content-range": "bytes 1-2/3", "content-length": "2" };
  const answer = (signature: string) =>
    new Response("ab", { headers: { ...head, "gossamer-signature": signature } });

  assert.ok(await isAnswerSigned("secret", asked, answer(code), null));
  assert.equal(await isAnswerSigned("other", asked, answer(code), null), false);
  for (const wrong of ["", code.slice(1), code.toUpperCase(), "0".repeat(64)]) {
    assert.equal(await isAnswerSigned("secret", asked, answer(wrong), null), false);
  }
  for (const size of [0, 1, 55, 56, 64, 1000]) {
    const bytes = new Uint8Array(size).fill(7);
    const right = createHash("sha256").update(bytes).digest();
    assert.deepEqual(Buffer.from(await digestOf(bytes)), right);
    assert.deepEqual(Buffer.from(await digestOf(bytes, null)), right);
  }
});
