import { GossamerError } from "../errors.ts";

/** Whether the browser keeps locks for all tabs: only in secure contexts (https, localhost). */
export function hasLocks(): boolean {
  return globalThis.navigator?.locks !== undefined;
}

/** Runs `work` while nobody else holds the lock: no tab where the browser has Web Locks, else nobody
 * in this process. Waits for it, or throws Locked if `waits` is false. Not to be nested. */
export async function whileLocked<T>(
  lock: string,
  what: string,
  waits: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const manager = globalThis.navigator?.locks;
  if (!manager) return whileLockedHere(lock, what, waits, work);
  const taken = Symbol("taken");
  const options = { ifAvailable: !waits };
  const result = await manager.request(lock, options, async (held) => (held ? work() : taken));
  if (result === taken) throw locked(what);
  return result as T;
}

const held = new Map<string, Promise<void>>();

async function whileLockedHere<T>(
  lock: string,
  what: string,
  waits: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const before = held.get(lock);
  if (before && !waits) throw locked(what);
  const { promise, release } = makeGate();
  const line = (before ?? Promise.resolve()).then(() => promise);
  held.set(lock, line);
  await before;
  try {
    return await work();
  } finally {
    release();
    if (held.get(lock) === line) held.delete(lock);
  }
}

function makeGate(): { promise: Promise<void>; release: () => void } {
  let release = () => {};
  const promise = new Promise<void>((open) => {
    release = open;
  });
  return { promise, release };
}

function locked(what: string): GossamerError {
  return new GossamerError("Locked", `another tab is changing ${what}: wait for it, or close it`);
}
