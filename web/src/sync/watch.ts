import { pauseFor } from "./pause.ts";
import type { PauseOptions } from "./pause.ts";
import type { PullReport } from "./records.ts";

export interface WatchOptions extends Pick<PauseOptions, "pause"> {
  readonly signal: AbortSignal; // ends it
  readonly onPull?: (report: PullReport) => void; // after each pull that brought something
  readonly onError?: (error: unknown) => void; // a pull that failed; the next one comes all the same
}

/** Pulls again and again, so many milliseconds apart, until the signal is aborted. */
export async function watchPulls(
  pull: (signal: AbortSignal) => Promise<PullReport>,
  everyMs: number,
  { signal, onPull, onError, pause }: WatchOptions,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const report = await pull(signal);
      if (report.kind !== "current") onPull?.(report);
    } catch (error) {
      if (!signal.aborted) onError?.(error);
    }
    await pauseFor(everyMs, { signal, pause }).catch(() => {}); // aborted: the loop ends
  }
}
