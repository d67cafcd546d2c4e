// One question to a server for bytes of one file: retried, limited, counted, and checked to be what
// was asked for.
import { cancelled, GossamerError, throwIfAborted } from "../errors.ts";
import type { Answer, Question, Taker } from "./answer.ts";
import { makeTaker, NotYet, sizeOf, Transient, understand } from "./answer.ts";

export interface AskOptions {
  readonly fetch?: typeof fetch;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delay?: (ms: number) => Promise<void>; // between tries
  readonly silenceMs?: number; // how long a server may send nothing; 30 seconds
}

const TRIES = 3;
const FIRST_DELAY_MS = 200;
const MOST_WAIT_MS = 600_000; // for a file that the server is making
const SILENCE_MS = 30_000;
const AT_ONCE = 6; // what browsers open to one host

/** Asks one address. */
export class Asker {
  readonly url: string;
  readonly shown: string; // the address for messages: what stands behind the path may be a secret
  readonly counters = { bytes: 0, requests: 0 };
  readonly #options: AskOptions;
  readonly #closing = new AbortController();
  readonly #takeTurn = makeTurns(AT_ONCE);

  /** InvalidArgument if it is not an address of HTTP. */
  constructor(address: string | URL, options: AskOptions) {
    this.url = checkUrl(address);
    const { origin, pathname } = new URL(this.url);
    this.shown = origin + pathname;
    this.#options = options;
  }

  ask(question: Question): Promise<Answer> {
    const understood = (response: Response, take: Taker) => understand(this.shown, question, response, take);
    return this.#retry(question.signal, () => this.#send("GET", question, understood));
  }

  /** The size of the file, where an answer with a range may not show it (another origin). */
  askSize(signal?: AbortSignal): Promise<number> {
    const size = async (response: Response) => sizeOf(this.shown, response);
    return this.#retry(signal, () => this.#send("HEAD", { signal }, size));
  }

  close(): void {
    this.#closing.abort();
  }

  async #send<T>(
    method: "GET" | "HEAD",
    question: Question,
    receive: (response: Response, take: Taker) => Promise<T>,
  ): Promise<T> {
    const { headers, silenceMs = SILENCE_MS, fetch = globalThis.fetch } = this.#options;
    const watch = watchSilence(silenceMs);
    const closing = this.#closing.signal;
    const signals = [closing, watch.signal, ...(question.signal ? [question.signal] : [])];
    try {
      this.counters.requests += 1;
      const response = await fetch(this.url, {
        method,
        headers: { ...headers, ...rangeHeaders(this.url, question) },
        // The browser's own cache answers ranges of one file one after the other; storage keeps them.
        cache: "no-store",
        signal: AbortSignal.any(signals),
      });
      return await receive(response, makeTaker(this.shown, response, watch.heard, this.counters));
    } catch (error) {
      if (error instanceof GossamerError || error instanceof Transient) throw error;
      throw closing.aborted || question.signal?.aborted ? cancelled() : new Transient(String(error));
    } finally {
      watch.stop();
    }
  }

  async #retry<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const { delay = (ms: number) => new Promise<void>((done) => setTimeout(done, ms)) } = this.#options;
    let waited = 0;
    for (let tried = 1; ; ) {
      throwIfAborted(signal);
      let pause = FIRST_DELAY_MS * 4 ** (tried - 1);
      try {
        return await this.#takeTurn(work);
      } catch (error) {
        if (!(error instanceof Transient)) throw error;
        if (error instanceof NotYet && waited < MOST_WAIT_MS) {
          pause = error.afterMs;
          waited += pause;
        } else if (tried++ === TRIES) throw unreachable(this.shown, error);
      }
      await orAborted(delay(pause), signal);
    }
  }
}

function rangeHeaders(url: string, { range, version, known }: Question): Record<string, string> {
  if (!range) return {};
  const headers = { Range: `bytes=${range.at}-${range.at + range.length - 1}` };
  if (known !== undefined) return { ...headers, ...unlessHeaders(known) };
  // Not asked of another origin, where it takes one more request each time: what comes back is
  // compared anyway. Weak tags are not allowed here.
  return version && isOwnOrigin(url) && !version.startsWith("W/") ? { ...headers, "If-Range": version } : headers;
}

/** What lets a server say that nothing has changed. */
function unlessHeaders(version: string): Record<string, string> {
  const isTag = /^(W\/)?"/.test(version);
  return isTag ? { "If-None-Match": version } : { "If-Modified-Since": version };
}

/** Whether headers of ours may be sent without asking the server for leave. */
export function isOwnOrigin(url: string): boolean {
  const origin = globalThis.location?.origin;
  return origin === undefined || origin === new URL(url).origin;
}

/** Lets so many run at once; the others wait for their turn. */
function makeTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}

/** Waits no longer than until the signal is aborted. */
async function orAborted(waiting: Promise<void>, signal?: AbortSignal): Promise<void> {
  if (!signal) return waiting;
  if (signal.aborted) return;
  let stop = () => {};
  const aborted = new Promise<void>((done) => {
    stop = () => done();
    signal.addEventListener("abort", stop);
  });
  await Promise.race([waiting, aborted]);
  signal.removeEventListener("abort", stop);
}

/** A signal that is aborted once nothing was heard for so long. */
export function watchSilence(ms: number): { signal: AbortSignal; heard(): void; stop(): void } {
  const controller = new AbortController();
  const expire = () => controller.abort(new Error(`nothing came for ${ms / 1000} seconds`));
  let timer = setTimeout(expire, ms);
  const stop = () => clearTimeout(timer);
  const heard = () => {
    stop();
    timer = setTimeout(expire, ms);
  };
  return { signal: controller.signal, heard, stop };
}

/** The address in full; InvalidArgument unless it is one of HTTP. */
export function checkUrl(address: string | URL): string {
  try {
    const url = new URL(address, globalThis.location?.href);
    url.hash = ""; // never sent, and no part of which file it is
    if (url.protocol === "http:" || url.protocol === "https:") return url.href;
  } catch {
    // Said below.
  }
  const given = String(address).slice(0, 200);
  throw new GossamerError("InvalidArgument", `an address of http or https was expected, "${given}" came`);
}

function unreachable(url: string, why: Transient): GossamerError {
  const advice = "check the connection and the address, then try again";
  return new GossamerError(why.reason, `${url} did not answer in ${TRIES} tries (${why.message}): ${advice}`);
}
