// Packages as a server wrote them, packages as no server would, and a server that gives them.

import { createHash, createHmac } from "node:crypto";
import { readFileSync } from "node:fs";

import { crc32 } from "../src/bytes/hashes.ts";
import { rawZstdFrame } from "./zstd_frames.ts";
import type { ServerInfo } from "../src/server/client.ts";

const FOLDER = new URL("data/sync/", import.meta.url);
const FRONT_BYTES = 12;
const MAC_BYTES = 32;

export interface ExpectedStep {
  readonly sources: readonly { path: string; mtime: string; documents: number }[];
  readonly chunks: readonly number[];
  readonly hits: readonly { id: number; text: string; distance: number }[];
}

export const expected = JSON.parse(readFileSync(new URL("expected.json", FOLDER), "utf8")) as {
  token: string;
  steps: readonly ExpectedStep[];
  vectors: ExpectedStep;
};
export const TOKEN = expected.token;

export function recorded(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.gsp`, FOLDER)));
}

// What a test may put into a head, whether or not it belongs there.
export type AnyHead = Record<string, unknown> & {
  sections: { name: string; size: number; unpacked: number; crc32: number }[];
};

export function headIn(bytes: Uint8Array): AnyHead {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(FRONT_BYTES, FRONT_BYTES + length))) as AnyHead;
}

/** The same package with another head and other sections, well signed. */
export function remade(
  bytes: Uint8Array,
  change: {
    head?: (head: AnyHead) => Record<string, unknown>;
    sections?: Record<string, Uint8Array | null>; // unpacked; null takes one out
    token?: string;
  },
): Uint8Array {
  const head = headIn(bytes);
  const parts = new Map<string, { unpacked: number; packed: Uint8Array }>();
  let at = FRONT_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  for (const { name, size, unpacked } of head.sections) {
    parts.set(name, { unpacked, packed: bytes.subarray(at, at + size) });
    at += size;
  }
  for (const [name, content] of Object.entries(change.sections ?? {})) {
    if (content === null) parts.delete(name);
    else {
      const packed = name === "catalogue" ? content : rawZstdFrame(content);
      parts.set(name, { unpacked: content.length, packed });
    }
  }
  const sections = Array.from(parts, ([name, { unpacked, packed }]) => {
    return { name, size: packed.length, unpacked, crc32: crc32(packed) };
  });
  const values = (change.head ?? ((same) => same))({ ...head, sections });
  return signed(values, [...parts.values()].map(({ packed }) => packed), change.token ?? TOKEN);
}

function signed(head: unknown, sections: readonly Uint8Array[], token: string): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(head));
  const front = Buffer.alloc(FRONT_BYTES);
  front.write("GSMPACK1", "latin1");
  front.writeUInt32LE(json.length, 8);
  const body = Buffer.concat([front, json, ...sections]);
  const mac = createHmac("sha256", token).update(body).digest();
  return new Uint8Array(Buffer.concat([body, mac]));
}

export function macOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(-MAC_BYTES)).toString("hex");
}

export type FetchLike = typeof fetch;

/** What was asked of a server. */
export interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

/** A server that gives a package by its rules: ranges, ETag, signatures. `packageFor` says what it has; a
 * Response is given as it is, but signed. */
export function serverOf(
  info: () => ServerInfo,
  packageFor: (asked: Asked) => Uint8Array | Response | null,
): { fetch: FetchLike; asked: Asked[] } {
  const asked: Asked[] = [];
  const fetch: FetchLike = async (input, init) => {
    const url = new URL(String(input));
    const request = { path: url.pathname, query: url.searchParams, headers: new Headers(init?.headers) };
    asked.push(request);
    init?.signal?.throwIfAborted();
    if (url.pathname === "/v1/sync") return signAnswer(Response.json(info()), url, init);
    const found = packageFor(request);
    const given = found ?? new Response(null, { status: 204 });
    return signAnswer(given instanceof Response ? given : answer(given, request.headers), url, init);
  };
  return { fetch, asked };
}

/** The answer as a server signs it that has the token; what was not asked with a nonce is not signed. */
export async function signAnswer(
  given: Response,
  url: URL,
  init: RequestInit = {},
  token = TOKEN,
): Promise<Response> {
  const nonce = new Headers(init.headers).get("gossamer-nonce");
  if (nonce === null) return given;
  const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");
  const isFile = url.pathname === "/v1/sync/package" && [200, 206].includes(given.status);
  const bytes = isFile ? null : new Uint8Array(await given.arrayBuffer());
  const header = (name: string) => given.headers.get(name) ?? "";
  const sent = typeof init.body === "string" && init.body !== "" ? sha256(init.body) : "";
  const fields = [
    ...["gossamer answer 1", nonce, init.method ?? "GET", url.pathname, url.search.slice(1), sent],
    ...[String(given.status), header("etag"), header("content-range")],
    bytes ? sha256(bytes) : header("content-length"),
  ];
  const code = createHmac("sha256", token);
  for (const field of fields.map((text) => Buffer.from(text))) {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(field.length);
    code.update(length).update(field);
  }
  const headers = new Headers(given.headers);
  headers.set("gossamer-signature", code.digest("hex"));
  return new Response(bytes?.length === 0 ? null : (bytes ?? given.body), { status: given.status, headers });
}

function answer(bytes: Uint8Array, headers: Headers): Response {
  const etag = `"${macOf(bytes)}"`;
  const range = /^bytes=(\d+)-$/.exec(headers.get("range") ?? "");
  const body = (from: number) => bytes.slice(from) as Uint8Array<ArrayBuffer>;
  if (!range || headers.get("if-range") !== etag) {
    return new Response(body(0), { headers: { etag, "content-length": String(bytes.length) } });
  }
  const from = Number(range[1]);
  const place = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
  if (from >= bytes.length) {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${bytes.length}` } });
  }
  const size = String(bytes.length - from);
  return new Response(body(from), {
    status: 206,
    headers: { etag, "content-range": place, "content-length": size },
  });
}

/** An answer that breaks off after so many bytes. */
export function broken(bytes: Uint8Array, after: number, from = 0): Response {
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue(bytes.slice(from, from + after)),
    pull: (controller) => controller.error(new Error("the connection was reset")),
  });
  const headers = { etag: `"${macOf(bytes)}"`, "content-length": String(bytes.length - from) };
  const place = { "content-range": `bytes ${from}-${bytes.length - 1}/${bytes.length}` };
  return new Response(stream, from === 0 ? { headers } : { status: 206, headers: { ...headers, ...place } });
}
