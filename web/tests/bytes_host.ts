// A file on a host of this process, for tests: answers as it is told to.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the host serves and how; tests change it as they go. */
export interface Host {
  readonly url: string;
  content: Uint8Array;
  etag: string | null; // null: made of the content
  ranges: boolean;
  modified: string; // the date it gives in place of an ETag; "" for none
  status: number; // 0: as it should be
  cutAfter: number; // bytes of a body before the connection is cut
  faults: number; // how many requests status and cutAfter last
  most: number; // bytes of a range that it gives at a time
  sendsLess: number; // bytes fewer than announced, in a range that looks sound
  readonly asked: string[]; // the Range header of each request
  readonly ifRange: string[];
  readonly statuses: number[]; // of its answers
  close(): Promise<void>;
}

/** Serves `content` at any path. */
export async function serve(content: Uint8Array): Promise<Host> {
  const server = createServer((request, response) => answer(host, request, response));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  const host: Host = {
    url: `http://127.0.0.1:${port}/index.gossamer`,
    content,
    etag: null,
    ranges: true,
    status: 0,
    cutAfter: Infinity,
    faults: Infinity,
    most: Infinity,
    sendsLess: 0,
    asked: [],
    ifRange: [],
    statuses: [],
    modified: "",
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return host;
}

/** Bytes that differ everywhere. */
export function someBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let i = 0; i < length; ++i) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

function answer(host: Host, request: IncomingMessage, response: ServerResponse): void {
  host.asked.push(request.headers.range ?? "");
  host.ifRange.push(String(request.headers["if-range"] ?? ""));
  const isFaulty = host.faults > 0;
  host.faults -= 1;
  const etag = host.etag ?? `"${createHash("sha256").update(host.content).digest("hex").slice(0, 16)}"`;
  if (isFaulty && host.status) {
    response.writeHead(host.status).end();
    return;
  }
  const version = host.modified ? { "Last-Modified": host.modified } : etag ? { ETag: etag } : {};
  const { status, body, headers } = select(host, request, etag);
  const cut = isFaulty ? host.cutAfter : Infinity;
  host.statuses.push(status);
  response.writeHead(status, { "Content-Length": body.length, ...version, ...headers });
  if (body.length <= cut) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, cut), () => response.destroy());
}

function select(host: Host, request: IncomingMessage, etag: string) {
  const { content } = host;
  const match = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  const isOther = request.headers["if-range"] !== undefined && request.headers["if-range"] !== etag;
  const isKnown = host.modified
    ? request.headers["if-modified-since"] === host.modified
    : request.headers["if-none-match"] === etag;
  if (isKnown) return { status: 304, body: new Uint8Array(0), headers: {} };
  if (!match || !host.ranges || isOther) return { status: 200, body: content, headers: {} };
  const start = Number(match[1]);
  const end = Math.min(content.length, Number(match[2]) + 1, start + host.most) - host.sendsLess;
  if (start >= content.length) {
    const headers = { "Content-Range": `bytes */${content.length}` };
    return { status: 416, body: new Uint8Array(0), headers };
  }
  const headers = { "Content-Range": `bytes ${start}-${end - 1}/${content.length}` };
  return { status: 206, body: content.subarray(start, end), headers };
}
