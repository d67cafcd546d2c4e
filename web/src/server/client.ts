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

/** A server of an index. All of it throws Unreachable if it does not answer, else what it says itself. With a
 * token, what is not signed with it is no answer. */
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

/** Speaks with a server; nothing is sent yet. */
export function makeClient(address: string, options: ClientOptions = {}): Client {
  const url = cleanUrl(address);
  const { token = "" } = options;
  if (!/^[!-~]*$/.test(token)) {
    throw new GossamerError("InvalidArgument", "a token is of ASCII characters without spaces");
  }
  const words = wordsFor(url);

  const isSigned: IsSigned = async (asked, answer, body) =>
    token === "" || (await isAnswerSigned(token, asked, answer, body));

  async function checkSigned(asked: Asked, answer: Response, body: Uint8Array | null): Promise<void> {
    if (!(await isSigned(asked, answer, body))) throw words.unsigned();
  }

  async function send<T>(request: Request, take: Take<T>, signal?: AbortSignal): Promise<T> {
    throwIfAborted(signal);
    const watch = watchSilence(options.silenceMs ?? SILENCE_MS);
    const either = signal ? AbortSignal.any([signal, watch.signal]) : watch.signal;
    const { target, body, fine = [200] } = request;
    const method = body === undefined ? "GET" : "POST";
    const asked: Asked = { nonce: randomName(), method, target, body: body ?? "" };
    const shown = token === "" ? {} : { authorization: `Bearer ${token}`, [NONCE]: asked.nonce };
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
      const answer = await (options.fetch ?? fetch)(url + target, init);
      if (!fine.includes(answer.status)) throw await errorOf(asked, answer, words, isSigned, token !== "");
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

  /** The bytes of a whole answer, once its signature is verified. */
  const wholeOf =
    (most: number): Take<Uint8Array> =>
    async (answer, asked, heard) => {
      const bytes = await readAtMost(answer, most, heard);
      await checkSigned(asked, answer, bytes);
      return bytes;
    };

  /** Gives an answer on once its signature is verified: a file to be read, any other as it was read. */
  const takeSigned =
    <T>(take: (answer: Response, heard: () => void) => Promise<T>): Take<T> =>
    async (answer, asked, heard) => {
      if (!FILE_STATUSES.includes(answer.status)) {
        return take(readAgain(answer, await wholeOf(MOST_SAID_BYTES)(answer, asked, heard)), heard);
      }
      await checkSigned(asked, answer, null);
      return take(answer, heard);
    };

  return {
    url,
    unreachable: words.unreachable,
    strange: words.strange,
    info: async (signal) => {
      const bytes = await explained(send({ target: "/v1/sync" }, wholeOf(MOST_INFO_BYTES), signal));
      const found = objectOf(new TextDecoder().decode(bytes));
      if (isInfo(found)) return found;
      throw words.strange("it does not say which index it has");
    },
    package: (wanted, headers, take, signal) => {
      const target = `/v1/sync/package?${new URLSearchParams(queryOf(wanted))}`;
      return send({ target, headers, fine: PACKAGE_STATUSES }, takeSigned(take), signal);
    },
    post: (target, body, most, signal) => {
      const headers = { "content-type": "application/json" };
      return explained(send({ target, body: JSON.stringify(body), headers }, wholeOf(most), signal));
    },
  };
}

/** How an error of a server is told. */
interface Words extends Pick<Client, "unreachable" | "strange"> {
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

/** The error that a server names, in its own words. What is not signed may be of anybody: it says no more
 * than that there is no answer. */
async function errorOf(
  asked: Asked,
  answer: Response,
  words: Words,
  isSigned: IsSigned,
  hasToken: boolean,
): Promise<GossamerError> {
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
  const isWrong = hasToken ? "the one it was given is not its own" : "none was given";
  const advice = status === 401 ? ` (${isWrong}: give the right \`token\`)` : "";
  if (!(await isSigned(asked, answer, bytes))) {
    if (BEFORE_TOKEN.includes(status)) return words.says("WrongState", shown + advice);
    const doubt = "the server is of an older release, or somebody between said it";
    return words.says("Unreachable", `${shown} (this is not signed with the token: ${doubt})`);
  }
  const refused = reasonNamed(error) ?? BY_STATUS[status] ?? "InvalidArgument";
  const reason = status >= 500 ? "Unreachable" : refused; // what went wrong there is not wrong here
  return words.says(reason, shown + advice);
}

type Take<T> = (answer: Response, asked: Asked, heard: () => void) => Promise<T>;
type IsSigned = (asked: Asked, answer: Response, body: Uint8Array | null) => Promise<boolean>;

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
