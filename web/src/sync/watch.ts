import { GossamerError } from "../errors.ts";
import type { PullReport } from "../server/records.ts";
import { pauseFor } from "./pause.ts";
import type { PauseOptions } from "./pause.ts";

export interface WatchOptions {
  readonly signal: AbortSignal; // ends it
  readonly onPull?: (report: PullReport) => void; // after each pull that brought something
  readonly onError?: (error: unknown) => void; // a pull that failed; the next one comes all the same
}

const LEAST_MS = 1000;
const MOST_MS = 2 ** 31 - 1; // of a timer

/** Pulls again and again, so many milliseconds apart, until the signal is aborted. InvalidArgument for less
 * than a second; what a listener throws ends it. */
export async function watchPulls(
  pull: (signal: AbortSignal) => Promise<PullReport>,
  everyMs: number,
  { signal, onPull, onError }: WatchOptions,
  pause?: PauseOptions["pause"],
): Promise<void> {
  if (!(everyMs >= LEAST_MS && everyMs <= MOST_MS)) {
    throw new GossamerError(
      "InvalidArgument",
      `milliseconds between pulls, ${LEAST_MS} or more, were expected, got ${everyMs}`,
    );
  }
  while (!signal.aborted) {
    const report = await pull(signal).catch((error: unknown) => {
      if (!signal.aborted) onError?.(error);
      return null;
    });
    if (report && report.kind !== "current") onPull?.(report);
    await pauseFor(everyMs, { signal, pause }).catch(() => {}); // aborted: the loop ends
  }
}
