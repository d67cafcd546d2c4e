// The edge's side of HTTP: asks a server, and says in its own words what it refuses. The twin of
// python/gossamer/sync/client.py.

import { watchSilence } from "../bytes/http.ts";
import { joinBytes } from "../bytes/join.ts";
import { GossamerError, reasonNamed, throwIfAborted } from "../errors.ts";
import type { Reason } from "../errors.ts";
import { randomName } from "../random.ts";
import { objectOf } from "../text/json.ts";
import { PROTOCOL } from "./records.ts";
import type { Wanted } from "./records.ts";
import { isAnswerSigned, NONCE } from "./signing.ts";
import type { Asked } from "./signing.ts";

/** What a server says of its index. */
export interface ServerInfo {
  readonly index: string; // uuid
  readonly epoch: string;
  readonly version: number;
  readonly protocol: number;
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
const MOST_SAID_BYTES = 1 << 16; // of what is no answer to the question
const MOST_SHOWN = 2000; // characters of a server's message
const MOST_QUOTED = 100; // of what is no message
const FILE_STATUSES: readonly number[] = [200, 206];
const PACKAGE_STATUSES: readonly number[] = [...FILE_STATUSES, 202, 204, 416];
// What a server says before it has seen the right token, and so cannot sign.
const BEFORE_TOKEN: readonly number[] = [401, 403];
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

/** A server of an index; nothing is sent yet. All of it throws Unreachable if it does not answer, else what
 * it says itself. With a token, what is not signed with it is no answer. */
export class Client {
  readonly url: string;
  readonly #options: ClientOptions;
  readonly #token: string;
  readonly #words: Words;

  constructor(address: string, options: ClientOptions = {}) {
    this.url = cleanUrl(address);
    this.#options = options;
    this.#token = options.token ?? "";
    this.#words = wordsFor(this.url);
    if (!/^[!-~]*$/.test(this.#token)) {
      throw new GossamerError("InvalidArgument", "a token is of ASCII characters without spaces");
    }
  }

  unreachable(what: string): GossamerError {
    return this.#words.unreachable(what);
  }

  /** Says that an answer is not as it should be. */
  strange(what: string): GossamerError {
    return this.#words.strange(what);
  }

  async info(signal?: AbortSignal): Promise<ServerInfo> {
    const bytes = await this.#whole({ target: "/v1/sync" }, MOST_INFO_BYTES, signal);
    const found = objectOf(new TextDecoder().decode(bytes));
    if (isInfo(found)) return found;
    throw this.strange("it does not say which index it has");
  }

  /** Asks for what leads from a state to the newest, and gives the answer to `take`: its status is 200 or
   * 206, 202, 204 or 416. NoAnswer, thrown by `take` or because nothing came, is worth another try. */
  package<T>(
    wanted: Wanted,
    headers: Readonly<Record<string, string>>,
    take: (answer: Response, heard: () => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const target = `/v1/sync/package?${new URLSearchParams(queryOf(wanted))}`;
    // A file is given on to be read once its signature is verified, any other answer as it was read.
    const takeSigned: Take<T> = async (answer, asked, heard) => {
      if (!FILE_STATUSES.includes(answer.status)) {
        return take(readAgain(answer, await this.#readSigned(answer, asked, MOST_SAID_BYTES, heard)), heard);
      }
      await this.#checkSigned(asked, answer, null);
      return take(answer, heard);
    };
    return this.#send({ target, headers, fine: PACKAGE_STATUSES }, takeSigned, signal);
  }

  /** Posts JSON to a route such as "/v1/sync/vectors"; the bytes of the answer, `most` of them. */
  post(target: string, body: unknown, most: number, signal?: AbortSignal): Promise<Uint8Array> {
    const headers = { "content-type": "application/json" };
    return this.#whole({ target, body: JSON.stringify(body), headers }, most, signal);
  }

  /** The bytes of a whole answer. */
  async #whole(request: Request, most: number, signal?: AbortSignal): Promise<Uint8Array> {
    const take: Take<Uint8Array> = (answer, asked, heard) => this.#readSigned(answer, asked, most, heard);
    try {
      return await this.#send(request, take, signal);
    } catch (error) {
      throw error instanceof NoAnswer ? this.unreachable(error.message) : error;
    }
  }

  async #send<T>(request: Request, take: Take<T>, signal?: AbortSignal): Promise<T> {
    throwIfAborted(signal);
    const { silenceMs = SILENCE_MS, fetch = globalThis.fetch } = this.#options;
    const watch = watchSilence(silenceMs);
    const either = signal ? AbortSignal.any([signal, watch.signal]) : watch.signal;
    const { target, body, fine = [200] } = request;
    const method = body === undefined ? "GET" : "POST";
    const asked: Asked = { nonce: randomName(), method, target, body: body ?? "" };
    const shown = this.#token === "" ? {} : { authorization: `Bearer ${this.#token}`, [NONCE]: asked.nonce };
    const init: RequestInit = {
      method,
      headers: { ...request.headers, ...shown },
      signal: either,
      cache: "no-store",
      credentials: "omit",
      redirect: "manual", // the token is for this server alone
      ...(body === undefined ? {} : { body }),
    };
    try {
      const answer = await fetch(this.url + target, init);
      if (!fine.includes(answer.status)) throw await this.#errorOf(asked, answer);
      return await take(answer, asked, watch.heard);
    } catch (error) {
      if (error instanceof GossamerError) throw error;
      throwIfAborted(signal);
      if (error instanceof NoAnswer) throw error;
      throw new NoAnswer(`did not answer (${String(either.reason ?? error)})`);
    } finally {
      watch.stop();
    }
  }

  /** The bytes of an answer, once its signature is verified. */
  async #readSigned(answer: Response, asked: Asked, most: number, heard: () => void): Promise<Uint8Array> {
    const bytes = await bytesOf(answer, most, heard);
    if (bytes === null) throw this.strange(`more than ${most} bytes`);
    await this.#checkSigned(asked, answer, bytes);
    return bytes;
  }

  async #isSigned(asked: Asked, answer: Response, body: Uint8Array | null): Promise<boolean> {
    return this.#token === "" || isAnswerSigned(this.#token, asked, answer, body);
  }

  async #checkSigned(asked: Asked, answer: Response, body: Uint8Array | null): Promise<void> {
    if (!(await this.#isSigned(asked, answer, body))) throw this.#words.unsigned();
  }

  /** The error that a server names, in its own words. What is not signed may be of anybody: it says no more
   * than that there is no answer. */
  async #errorOf(asked: Asked, answer: Response): Promise<GossamerError> {
    const words = this.#words;
    const { status } = answer;
    if (answer.type === "opaqueredirect" || (status >= 300 && status < 400)) {
      return words.strange("a redirect; give the address that it leads to if that is right");
    }
    const bytes = (await bytesOf(answer, MOST_SAID_BYTES)) ?? new Uint8Array();
    const said = new TextDecoder().decode(bytes);
    const { error, message } = objectOf(said) ?? {};
    const isNamed = typeof error === "string" && typeof message === "string";
    const shown = isNamed ? message.slice(0, MOST_SHOWN) : `status ${status}: ${said.slice(0, MOST_QUOTED)}`;
    if (status === 404 && error !== "unknown_id") return words.strange(shown);
    const isWrong = this.#token !== "" ? "the one it was given is not its own" : "none was given";
    const advice = status === 401 ? ` (${isWrong}: give the right \`token\`)` : "";
    if (!(await this.#isSigned(asked, answer, bytes))) {
      if (BEFORE_TOKEN.includes(status)) return words.says("WrongState", shown + advice);
      const doubt = "the server is of an older release, or somebody between said it";
      return words.says("Unreachable", `${shown} (this is not signed with the token: ${doubt})`);
    }
    const refused = reasonNamed(error) ?? BY_STATUS[status] ?? "InvalidArgument";
    const reason = status >= 500 ? "Unreachable" : refused; // what went wrong there is not wrong here
    return words.says(reason, shown + advice);
  }
}

/** How an error of a server is told. */
interface Words {
  unreachable(what: string): GossamerError;
  strange(what: string): GossamerError;
  says(reason: Reason, message: string): GossamerError;
  unsigned(): GossamerError;
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
    unsigned: () =>
      new GossamerError(
        "Unreachable",
        `what came from ${url} is not signed with the token, and was not used: the server is of an older ` +
          "release (bring it up to date), has no token, or somebody stands between. Here everything is as " +
          "it was",
      ),
  };
}

type Take<T> = (answer: Response, asked: Asked, heard: () => void) => Promise<T>;

interface Request {
  readonly target: string; // a path and a query
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fine?: readonly number[]; // statuses
}

function queryOf({ mode, texts, base }: Wanted): Record<string, string> {
  const query = { mode, texts, protocol: String(PROTOCOL) };
  return base ? { ...query, epoch: base.epoch, version: String(base.version), state: base.state } : query;
}

/** An answer whose body was read, to be read again. */
function readAgain({ status, headers }: Response, said: Uint8Array): Response {
  return new Response(said.length > 0 ? (said as Uint8Array<ArrayBuffer>) : null, { status, headers });
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

function isInfo(found: unknown): found is ServerInfo {
  const { index, epoch, version, protocol } = (found ?? {}) as Record<string, unknown>;
  const areTexts = typeof index === "string" && typeof epoch === "string";
  return areTexts && Number.isSafeInteger(version) && Number.isSafeInteger(protocol);
}
