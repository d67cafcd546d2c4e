// Asks a server as its own page does, with a token once it wants one. Signatures are not compared: whoever
// could change an answer could change the page, which came by the same way.

import { GossamerError, reasonNamed, throwIfAborted } from "../errors.ts";
import type { Reason } from "../errors.ts";

/** What knows the server's token. */
export interface Tokens {
  /** The token to send; "" for none. */
  known(): string;
  /** Another one in place of a token that was refused; "" if there is none to be had. */
  renew(refused: string): Promise<string>;
}

export interface Connection {
  /** The JSON that a route such as "v1/status" answers with. Unreachable if nothing comes, Unavailable if the
   * server cannot answer now, else what it says itself. */
  ask(path: string, options?: RequestInit): Promise<unknown>;
  /** The same of a route that answers line by line. */
  askLines(path: string, options?: RequestInit): AsyncGenerator<Record<string, unknown>>;
}

const BUSY: readonly number[] = [408, 429]; // besides all from 500 on
const BY_STATUS: Readonly<Record<number, Reason>> = { 401: "WrongState", 403: "WrongState", 413: "TooLarge" };
const AWAY = "the server does not answer: it may have been stopped, or the connection is down";
const NO_JSON = "the server's answer is not JSON: is it a Gossamer server?";

/** Connects to the server at an address that ends with a slash; nothing is sent yet. */
export function connect(url: string, tokens: Tokens): Connection {
  const send = async (path: string, options: RequestInit): Promise<Response> => {
    for (;;) {
      const token = tokens.known();
      const headers = new Headers(options.headers);
      if (token !== "") headers.set("Authorization", `Bearer ${token}`);
      const answer = await fetch(new URL(path, url), { ...options, headers, cache: "no-store" });
      if (answer.ok) return answer;
      if (answer.status !== 401) throw await errorOf(answer);
      if ((await tokens.renew(token)) === "") {
        throw new GossamerError("WrongState", "this server answers only with its token");
      }
    }
  };
  return {
    ask: (path, options = {}) => told(options, async () => (await send(path, options)).json()),
    async *askLines(path, options = {}) {
      const answer = await told(options, () => send(path, options));
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "";
      for (;;) {
        const next = await told(options, async () => reader?.read());
        const lines = (rest + (next?.value ?? "")).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) yield await told(options, async () => lineOf(line));
        if (!next || next.done) return;
      }
    },
  };
}

/** Says in plain words what the browser says of a connection, or of an answer that is none. */
async function told<T>({ signal }: RequestInit, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throwIfAborted(signal ?? undefined);
    if (error instanceof GossamerError) throw error;
    throw new GossamerError("Unreachable", error instanceof SyntaxError ? NO_JSON : AWAY);
  }
}

/** A line of a stream; an error if the server says that it failed. */
function lineOf(line: string): Record<string, unknown> {
  const said = JSON.parse(line) as Record<string, unknown>;
  if (typeof said["error"] !== "string") return said;
  throw new GossamerError(reasonNamed(said["error"]) ?? "Unavailable", String(said["message"]));
}

async function errorOf(answer: Response): Promise<GossamerError> {
  const { status } = answer;
  // A proxy in between may say something else than JSON.
  const said = (await answer.json().catch(() => null)) as { error?: unknown; message?: unknown } | null;
  const message = String(said?.message ?? `the server answered with status ${status}`);
  const isPassing = status >= 500 || BUSY.includes(status);
  const reason = isPassing ? "Unavailable" : (reasonNamed(said?.error) ?? BY_STATUS[status]);
  return new GossamerError(reason ?? "InvalidArgument", message);
}
