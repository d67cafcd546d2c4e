import { GossamerError } from "../errors.ts";

/** Runs `work` when first asked for, and gives its result to all who ask; tried again where it failed. */
export function once<T>(work: () => Promise<T>): { (): Promise<T>; readonly begun: Promise<T> | null } {
  let begun: Promise<T> | null = null;
  const ask = () => {
    if (begun) return begun;
    const promise = work();
    begun = promise;
    promise.catch(() => {
      if (begun === promise) begun = null;
    });
    return promise;
  };
  return Object.defineProperty(ask, "begun", { get: () => begun }) as ReturnType<typeof once<T>>;
}

/** Waits for what others wait for too: an abort ends the waiting, not the work. */
export function waitFor<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new GossamerError("Cancelled", "the job was cancelled before it finished"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Runs jobs one after the other, whether or not those before succeed. */
export function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}
