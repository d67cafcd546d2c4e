// The page's end: posts questions and hands out answers. Nothing here takes long.

import { cancelled, GossamerError } from "../errors.ts";
import { BUILD } from "../files.ts";
import { randomName } from "../random.ts";
import type { OnProgress } from "../records.ts";
import type { TextInput } from "../update/inputs.ts";
import type { Answer, CallTable, Calls, Places, Request } from "./messages.ts";

/** What helps where the worker is not found. */
export const COPYING =
  'run `npx gossamer-web copy public/gossamer` and give its address: worker: "/gossamer/worker.js"';

/** What a call may bring along besides its arguments. */
export interface CallExtras {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: OnProgress | undefined;
  readonly texts?: Iterable<TextInput> | AsyncIterable<TextInput>; // sent as the worker asks for them
}

/** A connection to a worker that answers the calls of a table. */
export interface Client<Table extends CallTable<Table> = Calls> {
  call<Name extends keyof Table & string>(
    name: Name,
    args: Table[Name]["args"],
    extras?: CallExtras,
  ): Promise<Table[Name]["value"]>;
  /** Whether all calls fail, as there is no worker any more. */
  readonly hasEnded: boolean;
  /** Ends the worker; calls that wait fail with WrongState. */
  close(): void;
}

/** What the client needs of a Worker. */
export interface WorkerLike {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
  terminate(): void;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly extras: CallExtras;
  readonly texts: AsyncIterator<TextInput> | Iterator<TextInput> | null;
  readonly leave: () => void; // stops listening for the abort
}

// Texts that are sent at one time: as much as is copied without being noticed.
const BATCH_CHARACTERS = 1 << 18;
const BATCH_TEXTS = 256;

/** Connects to a worker that was started from worker.js, and says to it where its files are. */
export function connect<Table extends CallTable<Table> = Calls>(
  worker: WorkerLike,
  places: Places,
  address: string,
): Client<Table> {
  return new WorkerClient(worker, places, address);
}

class WorkerClient<Table extends CallTable<Table>> implements Client<Table> {
  readonly #worker: WorkerLike;
  readonly #address: string; // "" where the package knows it
  readonly #lock = `gossamer-worker-${randomName()}`;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #isReady = false;
  #isWatched = false; // by its lock: then its end is always noticed
  #ended: GossamerError | null = null;

  constructor(worker: WorkerLike, places: Places, address: string) {
    this.#worker = worker;
    this.#address = address;
    worker.addEventListener("message", (event) => this.#take((event as MessageEvent).data as Answer));
    worker.addEventListener("error", (event) => this.#noteError(event));
    worker.addEventListener("messageerror", () => this.#end(gone("sent what cannot be read")));
    this.#post({ kind: "setup", ...places, lock: this.#lock });
  }

  call<Name extends keyof Table & string>(
    name: Name,
    args: Table[Name]["args"],
    extras: CallExtras = {},
  ): Promise<Table[Name]["value"]> {
    if (this.#ended) return Promise.reject(this.#ended);
    if (extras.signal?.aborted) return Promise.reject(cancelled());
    const id = ++this.#lastId;
    return new Promise<Table[Name]["value"]>((resolve, reject) => {
      const texts = "texts" in extras ? iteratorOf(extras.texts) : null;
      const abort = () => this.#abort(id, cancelled());
      extras.signal?.addEventListener("abort", abort, { once: true });
      const leave = () => extras.signal?.removeEventListener("abort", abort);
      const settle = resolve as (value: unknown) => void;
      this.#pending.set(id, { resolve: settle, reject, extras, texts, leave });
      try {
        this.#post({ kind: "call", id, name, args });
      } catch (error) {
        this.#settle(id)?.reject(uncloneable(error));
      }
    });
  }

  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  close(): void {
    this.#end(new GossamerError("WrongState", "it was closed; open or start it again"));
    this.#worker.terminate();
  }

  #take(answer: Answer): void {
    if (answer.kind === "ready") {
      if (answer.build !== BUILD) this.#end(foreign(this.#address));
      return this.#begin(answer.holdsLock);
    }
    if (answer.kind === "progress") {
      return this.#pending.get(answer.id)?.extras.onProgress?.(answer.progress);
    }
    if (answer.kind === "more") return void this.#feed(answer.id);
    const pending = this.#settle(answer.id);
    if (answer.kind === "value") pending?.resolve(answer.value);
    else pending?.reject(new GossamerError(answer.reason, answer.message));
  }

  #begin(holdsLock: boolean): void {
    this.#isReady = true;
    if (!holdsLock || typeof navigator === "undefined" || !navigator.locks) return;
    this.#isWatched = true;
    // Whoever waits for the lock that the worker holds gets it when the worker is no more.
    void navigator.locks.request(this.#lock, () => this.#end(gone("has ended")));
  }

  /** Sends the next texts of a call that takes them. */
  async #feed(id: number): Promise<void> {
    const pending = this.#pending.get(id);
    if (!pending?.texts) return this.#post({ kind: "texts", id, texts: [], isLast: true });
    try {
      const batch = await nextBatch(pending.texts);
      if (this.#pending.has(id)) this.#post({ kind: "texts", id, ...batch });
    } catch (error) {
      // What the page's own iterator threw goes back to the page as it is.
      this.#abort(id, error);
    }
  }

  #abort(id: number, error: unknown): void {
    const pending = this.#settle(id);
    if (!pending) return;
    this.#post({ kind: "abort", id });
    void Promise.resolve(pending.texts?.return?.()).catch(() => undefined);
    pending.reject(error);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.leave();
    return pending;
  }

  #noteError(event: Event): void {
    const said = "message" in event && event.message ? `: ${String(event.message)}` : "";
    if (!this.#isReady) {
      const how = "let worker-src of the page's policy allow it and serve it from the page's own origin";
      const text = `the worker${this.#address && ` at ${this.#address}`} did not start${said}; ${how}: ${COPYING}`;
      this.#end(new GossamerError("Unreachable", text));
    } else if (!this.#isWatched) {
      this.#end(gone(`has failed${said}`));
    }
  }

  #end(error: GossamerError): void {
    this.#ended ??= error;
    for (const id of [...this.#pending.keys()]) this.#settle(id)?.reject(error);
  }

  #post(request: Request): void {
    this.#worker.postMessage(request);
  }
}

function iteratorOf(texts: unknown): AsyncIterator<TextInput> | Iterator<TextInput> {
  const given = (typeof texts === "object" ? (texts ?? {}) : {}) as Partial<
    Iterable<TextInput> & AsyncIterable<TextInput>
  >;
  const iterator = given[Symbol.asyncIterator]?.() ?? given[Symbol.iterator]?.();
  if (iterator) return iterator;
  throw new GossamerError("InvalidArgument", `texts are a list or another iterable, got ${kindOf(texts)}`);
}

function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}

async function nextBatch(
  texts: AsyncIterator<TextInput> | Iterator<TextInput>,
): Promise<{ texts: TextInput[]; isLast: boolean }> {
  const batch: TextInput[] = [];
  let characters = 0;
  while (batch.length < BATCH_TEXTS && characters < BATCH_CHARACTERS) {
    const next = await texts.next();
    if (next.done) return { texts: batch, isLast: true };
    if (typeof next.value !== "object" || next.value === null) {
      throw new GossamerError("InvalidArgument", `a text is { id, text }, got ${kindOf(next.value)}`);
    }
    batch.push(next.value);
    characters += String(next.value.text).length;
  }
  return { texts: batch, isLast: false };
}

function foreign(address: string): GossamerError {
  const how = "run `npx gossamer-web copy` again, and reload the page";
  return new GossamerError("WrongState", `the worker at ${address} is of another release of gossamer-web; ${how}`);
}

function gone(what: string): GossamerError {
  return new GossamerError(
    "WrongState",
    `the worker ${what}, perhaps for want of memory; start it and open the index again`,
  );
}

function uncloneable(error: unknown): GossamerError {
  const why = error instanceof Error ? error.message : String(error);
  return new GossamerError("InvalidArgument", `what was given cannot be sent to the worker: ${why}`);
}
