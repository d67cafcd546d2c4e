// Workers where there are none of the browser's kind: threads of Node, as its pages would see them.

import type { WorkerLike } from "../worker/client.ts";
import type { Port } from "../worker/messages.ts";

/** What of node:worker_threads is used. */
interface Thread {
  postMessage(message: unknown): void;
  on(type: string, listener: (value: unknown) => void): void;
  terminate?(): Promise<number>;
}

interface Threads {
  readonly Worker: new (address: URL) => Thread;
  readonly parentPort: Thread | null;
}

interface Runtime {
  readonly process?: { getBuiltinModule?(name: "node:worker_threads"): Threads | undefined };
}

/** Starts a thread; null where there are none. */
export function startThread(address: URL): WorkerLike | null {
  const made = threads();
  if (!made) return null;
  const thread = new made.Worker(address);
  return { ...portOf(thread), terminate: () => void thread.terminate?.() };
}

/** The page's end of this thread; null where this is none. */
export function parentPort(): Port | null {
  const parent = threads()?.parentPort;
  return parent ? portOf(parent) : null;
}

function portOf(thread: Thread): Port & Pick<WorkerLike, "addEventListener"> {
  return {
    postMessage: (message) => thread.postMessage(message),
    addEventListener: (type: string, listener: (event: MessageEvent) => void) =>
      thread.on(type, (value) => listener(eventOf(type, value))),
  };
}

function eventOf(type: string, value: unknown): MessageEvent {
  const said = value instanceof Error ? value.message : String(value);
  return (type === "message" ? { data: value } : { message: said }) as unknown as MessageEvent;
}

function threads(): Threads | null {
  return (globalThis as Runtime).process?.getBuiltinModule?.("node:worker_threads") ?? null;
}
