// What long jobs do between their steps: let the worker answer others, and say how far they are.

import { throwIfAborted } from "../errors.ts";
import type { OnProgress } from "../records.ts";
import { nextTurn } from "../turns.ts";

// The worker answers others this often.
const BUSY_MS = 40;

/** Called between the steps of a job: lets the worker answer others now and then, and throws Cancelled
 * once the signal says so. Storage in memory and in OPFS never waits, so promises alone let nobody in,
 * nor the message that cancels. */
export type Pause = () => Promise<void>;

/** The pauses of one job. */
export function makePause(signal?: AbortSignal): Pause {
  let answeredAt = performance.now();
  return async () => {
    throwIfAborted(signal);
    if (performance.now() - answeredAt < BUSY_MS) return;
    await nextTurn();
    answeredAt = performance.now();
    throwIfAborted(signal);
  };
}

/** Progress that never ends a job: what a listener throws is its own affair. */
export function safeProgress(onProgress: OnProgress | undefined): OnProgress {
  return (progress) => {
    try {
      onProgress?.(progress);
    } catch {
      // Nobody here can do anything about it.
    }
  };
}
