import { throwIfAborted } from "../errors.ts";

export interface PauseOptions {
  readonly signal?: AbortSignal | undefined;
  /** Waits; for tests. */
  readonly pause?: ((ms: number) => Promise<void>) | undefined;
}

/** Waits for so long, or until the signal is aborted. */
export async function pauseFor(ms: number, { signal, pause }: PauseOptions): Promise<void> {
  throwIfAborted(signal);
  await (pause?.(ms) ?? sleep(ms, signal));
  throwIfAborted(signal);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake);
  });
}
