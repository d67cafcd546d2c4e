// The edge's side of HTTP: asks a server, and says in its own words what it refuses. The twin of
// python/gossamer/sync/client.py.

import { watchSilence } from "../bytes/http.ts";
import { joinBytes } from "../bytes/join.ts";
import { CORE_REASONS, GossamerError, throwIfAborted } from "../errors.ts";
import type { Reason } from "../errors.ts";
import { PROTOCOL } from "./records.ts";
import type { Wanted } from "./records.ts";

/** What a server says of its index. */
export interface ServerInfo {
  readonly index: string; // uuid
  readonly epoch: string;
  readonly version: number;
  readonly protocol: number;
}

/** A server of an index. All of it throws Unreachable if it does not answer, else what it says itself. */
export interface Client {
  readonly url: string;
  info(signal?: AbortSignal): Promise<ServerInfo>;
  /** Asks for what leads from a state to the newest, and gives the answer to `take`: its status is 200 or
   * 206, 202, 204 or 416. NoAnswer, thrown by `take` or because nothing came, is worth another try. */
  package<T>(
    wanted: Wanted,
    headers: Readonly<Record<string, string>>,
    take: (answer: Response, heard: () => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Posts JSON to a route such as "/v1/sync/vectors"; the bytes of the answer, `most` of them. */
  post(path: string, body: unknown, most: number, signal?: AbortSignal): Promise<Uint8Array>;
  unreachable(what: string): GossamerError;
  /** Says that an answer is not as it should be. */
  strange(what: string): GossamerError;
}

export interface ClientOptions {
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly silenceMs?: number | undefined; // how long a server may send nothing; 30 seconds
}

/** No answer, or one that broke off. */
export class NoAnswer extends Error {}

const SILENCE_MS = 30_000;
const MOST_INFO_BYTES = 1 << 20;
const MOST_ERROR_BYTES = 1 << 16;
const MOST_SHOWN = 2000; // characters of a server's message
const MOST_QUOTED = 100; // of what is no message
const PACKAGE_STATUSES: readonly number[] = [200, 202, 204, 206, 416];
const OTHER_REASONS: readonly Reason[] = [
  "NoIndex",
  "Locked",
  "MissingModel",
  "ModelMismatch",
  "Unreachable",
  "Unreadable",
  "Unavailable",
  "LeftOut",
  "Unwritable",
];
const REASONS: readonly Reason[] = [...CORE_REASONS, ...OTHER_REASONS];
// What a status means where the body does not say it.
const BY_STATUS: Readonly<Record<number, Reason>> = {
  401: "WrongState",
  403: "WrongState",
  409: "WrongState",
  413: "TooLarge",
  429: "Unreachable",
};

/** A server's address in one form; InvalidArgument if it is none. */
export function cleanUrl(given: string): string {
  const text = given.includes("://") ? given : `http://${given}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  const isSound = url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username;
  if (isSound) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw new GossamerError(
    "InvalidArgument",
    `a server's address is like https://host or http://host:8080, got ${JSON.stringify(given.slice(0, 200))}`,
  );
}

/** Speaks with a server; nothing is sent yet. */
export function makeClient(address: string, options: ClientOptions = {}): Client {
  const url = cleanUrl(address);
  const { token = "" } = options;
  if (!/^[!-~]*$/.test(token)) {
    throw new GossamerError("InvalidArgument", "a token is of ASCII characters without spaces");
  }
  const words = wordsFor(url);

  async function send<T>(request: Request, take: Take<T>, signal?: AbortSignal): Promise<T> {
    throwIfAborted(signal);
    const watch = watchSilence(options.silenceMs ?? SILENCE_MS);
    const either = signal ? AbortSignal.any([signal, watch.signal]) : watch.signal;
    const { path, body, fine = [200] } = request;
    const init: RequestInit = {
      method: body === undefined ? "GET" : "POST",
      headers: { ...request.headers, ...(token === "" ? {} : { authorization: `Bearer ${token}` }) },
      signal: either,
      cache: "no-store",
      credentials: "omit",
      redirect: "manual", // the token is for this server alone
      ...(body === undefined ? {} : { body }),
    };
    try {
      const answer = await (options.fetch ?? fetch)(url + path, init);
      if (!fine.includes(answer.status)) throw await errorOf(answer, words, token !== "");
      return await take(answer, watch.heard);
    } catch (error) {
      if (error instanceof GossamerError) throw error;
      throwIfAborted(signal);
      if (error instanceof NoAnswer) throw error;
      throw new NoAnswer(`did not answer (${String(either.reason ?? error)})`);
    } finally {
      watch.stop();
    }
  }

  async function explained<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof NoAnswer ? words.unreachable(error.message) : error;
    }
  }

  const readAtMost = async (answer: Response, most: number, heard: () => void): Promise<Uint8Array> => {
    const bytes = await bytesOf(answer, most, heard);
    if (bytes === null) throw words.strange(`more than ${most} bytes`);
    return bytes;
  };

  return {
    url,
    unreachable: words.unreachable,
    strange: words.strange,
    info: async (signal) => {
      const take: Take<Uint8Array> = (answer, heard) => readAtMost(answer, MOST_INFO_BYTES, heard);
      const bytes = await explained(send({ path: "/v1/sync" }, take, signal));
      const found = objectOf(new TextDecoder().decode(bytes));
      if (isInfo(found)) return found;
      throw words.strange("it does not say which index it has");
    },
    package: (wanted, headers, take, signal) => {
      const path = `/v1/sync/package?${new URLSearchParams(queryOf(wanted))}`;
      return send({ path, headers, fine: PACKAGE_STATUSES }, take, signal);
    },
    post: (path, body, most, signal) => {
      const headers = { "content-type": "application/json" };
      const take: Take<Uint8Array> = (answer, heard) => readAtMost(answer, most, heard);
      return explained(send({ path, body: JSON.stringify(body), headers }, take, signal));
    },
  };
}

/** How an error of a server is told. */
interface Words extends Pick<Client, "unreachable" | "strange"> {
  says(reason: Reason, message: string): GossamerError;
}

function wordsFor(url: string): Words {
  return {
    unreachable: (what) =>
      new GossamerError(
        "Unreachable",
        `the server at ${url} ${what}; check the address and the connection, and try again`,
      ),
    strange: (what) =>
      new GossamerError(
        "Unreachable",
        `${url} answered with something else than was asked for (${what}); check that it is the address ` +
          "of a gossamer server, and that both are of like versions",
      ),
    says: (reason, message) => new GossamerError(reason, `the server at ${url} says: ${message}`),
  };
}

/** The error that a server names, in its own words. */
async function errorOf(answer: Response, words: Words, hasToken: boolean): Promise<GossamerError> {
  const { status } = answer;
  if (answer.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    return words.strange("a redirect; give the address that it leads to if that is right");
  }
  const said = new TextDecoder().decode((await bytesOf(answer, MOST_ERROR_BYTES)) ?? new Uint8Array());
  const { error, message } = objectOf(said) ?? {};
  const isNamed = typeof error === "string" && typeof message === "string";
  const shown = isNamed ? message.slice(0, MOST_SHOWN) : `status ${status}: ${said.slice(0, MOST_QUOTED)}`;
  if (status === 404 && error !== "unknown_id") return words.strange(shown);
  const refused = reasonNamed(error) ?? BY_STATUS[status] ?? "InvalidArgument";
  const reason = status >= 500 ? "Unreachable" : refused; // what went wrong there is not wrong here
  const isWrong = hasToken ? "the one it was given is not its own" : "none was given";
  const advice = status === 401 ? ` (${isWrong}: give the right \`token\`)` : "";
  return words.says(reason, shown + advice);
}

type Take<T> = (answer: Response, heard: () => void) => Promise<T>;

interface Request {
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fine?: readonly number[]; // statuses
}

function queryOf({ mode, texts, base }: Wanted): Record<string, string> {
  const query = { mode, texts, protocol: String(PROTOCOL) };
  return base ? { ...query, epoch: base.epoch, version: String(base.version), state: base.state } : query;
}

/** The body of an answer; null if it has more bytes than that: no more are taken into memory. */
async function bytesOf(answer: Response, most: number, heard = () => {}): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = answer.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    heard();
    parts.push(next.value);
    length += next.value.length;
    if (length <= most) continue;
    void reader?.cancel().catch(() => {});
    return null;
  }
  return joinBytes(parts);
}

/** An object of JSON; null for anything else. */
export function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

function isInfo(found: unknown): found is ServerInfo {
  const { index, epoch, version, protocol } = (found ?? {}) as Record<string, unknown>;
  const areTexts = typeof index === "string" && typeof epoch === "string";
  return areTexts && Number.isSafeInteger(version) && Number.isSafeInteger(protocol);
}

/** The reason that a server writes in snake case. */
function reasonNamed(name: unknown): Reason | undefined {
  const plain = String(name).replaceAll("_", "");
  return REASONS.find((reason) => reason.toLowerCase() === plain);
}
