import { cancelled } from "../errors.ts";

/** Runs `work` when first asked for, and gives its result to all who ask; tried again where it failed. */
export function lazyPromise<T>(work: () => Promise<T>): () => Promise<T> {
  let begun: Promise<T> | null = null;
  return () => {
    if (begun) return begun;
    begun = work();
    begun.catch(() => (begun = null));
    return begun;
  };
}

/** Waits for what others wait for too: an abort ends the waiting, not the work. */
export function waitFor<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(cancelled());
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Admits one at a time, in the order in which they came. */
export class Lock {
  #last: Promise<void> = Promise.resolve();

  /** Waits for its turn; what it gives ends the turn. */
  async acquire(): Promise<() => void> {
    const before = this.#last;
    let release = () => {};
    this.#last = new Promise<void>((done) => (release = done));
    await before;
    return release;
  }
}
