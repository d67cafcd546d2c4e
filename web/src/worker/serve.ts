// The worker's end of what a page and its worker say to each other, whatever the calls do.

import { cancelled, GossamerError } from "../errors.ts";
import type { Reason } from "../errors.ts";
import type { Job } from "./job.ts";
import type { Answer, CallRequest, CallTable, Places, Port, Request, TextBatch } from "./messages.ts";

/** What each call of a table does. */
export type HandlersOf<Table extends CallTable<Table>> = {
  readonly [Name in keyof Table]: (job: Job, ...args: Table[Name]["args"]) => Promise<Table[Name]["value"]>;
};

interface Running {
  readonly abort: AbortController;
  take: ((batch: TextBatch) => void) | null;
}

// Progress is told at most so often: a page that draws each step would fall behind.
const PROGRESS_MS = 50;

/** Answers what comes through a port. `makeCalls` gives what the calls do, with the files where the page's first
 * message says that they are. */
export function serve<Table extends CallTable<Table>>(
  port: Port,
  makeCalls: (places: Places) => HandlersOf<Table>,
  build = "",
): void {
  const running = new Map<number, Running>();
  let handlers: HandlersOf<Table> | null = null;
  const post = (answer: Answer) => port.postMessage(answer);

  const run = async (request: CallRequest) => {
    const { id } = request;
    const call: Running = { abort: new AbortController(), take: null };
    running.set(id, call);
    try {
      handlers ??= makeCalls({ wasm: null, files: {} });
      const run = handlers[request.name as keyof Table] as (job: Job, ...args: readonly unknown[]) => Promise<unknown>;
      const value = await run.call(handlers, makeJob(id, call, post), ...request.args);
      post({ kind: "value", id, value });
    } catch (error) {
      post({ kind: "error", id, ...described(error) });
    } finally {
      running.delete(id);
    }
  };

  const setUp = async (request: Extract<Request, { kind: "setup" }>) => {
    handlers ??= makeCalls(request);
    post({ kind: "ready", holdsLock: await holdForever(request.lock), build });
  };

  port.addEventListener("message", (event) => {
    const request = event.data as Request;
    if (request.kind === "setup") void setUp(request);
    else if (request.kind === "call") void run(request);
    else if (request.kind === "abort") running.get(request.id)?.abort.abort();
    else if (request.kind === "texts") running.get(request.id)?.take?.(request);
  });
}

function makeJob(id: number, call: Running, post: (answer: Answer) => void): Job {
  let told = 0;
  const { signal } = call.abort;
  return {
    signal,
    progress: (progress) => {
      const now = performance.now();
      const isDone = progress.total > 0 && progress.done >= progress.total;
      if (now - told < PROGRESS_MS && !isDone) return;
      told = now;
      post({ kind: "progress", id, progress });
    },
    texts: async function* () {
      for (let isLast = false; !isLast; ) {
        const batch = await nextBatch(id, call, post);
        yield* batch.texts;
        isLast = batch.isLast;
      }
    },
  };
}

function nextBatch(
  id: number,
  call: Running,
  post: (answer: Answer) => void,
): Promise<TextBatch> {
  return new Promise((resolve, reject) => {
    const { signal } = call.abort;
    const stop = () => reject(cancelled());
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    call.take = (batch) => {
      signal.removeEventListener("abort", stop);
      resolve(batch);
    };
    post({ kind: "more", id });
  });
}

/** An error in words that travel. What nobody foresaw keeps its message. */
function described(error: unknown): { reason: Reason; message: string } {
  if (error instanceof GossamerError) return { reason: error.reason, message: error.message };
  if (error instanceof Error && error.name === "AbortError") return described(cancelled());
  if (error instanceof RangeError && /memory|allocation/i.test(error.message)) {
    return { reason: "TooLarge", message: `the browser gave no memory: ${error.message}` };
  }
  const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { reason: "WrongState", message: `something failed that should not have: ${said}` };
}

/** Holds a lock as long as the worker lives; says whether it could. */
function holdForever(name: string): Promise<boolean> {
  if (typeof navigator === "undefined" || !navigator.locks) return Promise.resolve(false);
  return new Promise((resolve) => {
    const hold = () => {
      resolve(true);
      return new Promise<void>(() => undefined);
    };
    navigator.locks.request(name, hold).catch(() => resolve(false));
  });
}
