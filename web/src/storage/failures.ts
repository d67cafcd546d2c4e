import { GossamerError } from "../errors.ts";

/** Storage was cleared, or never had it. */
export function cleared(folder: string, file = ""): GossamerError {
  const what = file ? `the file ${file} of the index "${folder}"` : `the index "${folder}"`;
  const advice = "open it again, as another tab may have changed it; else fetch or build it again";
  return new GossamerError("NoIndex", `${what} is not in this browser's storage (any more): ${advice}`);
}

/** Storage has no room for `needed` bytes more. */
export function full(needed: number, free: number): GossamerError {
  const counted = `the browser counts ${Math.max(0, free)} free`;
  const what = `storage is full: ${needed} bytes were to be written, ${counted}`;
  const advice = "remove an index or free some room";
  return new GossamerError("Unwritable", `${what}; what was there before is untouched: ${advice}`);
}

/** Throws what a failure of the browser's storage means: NoIndex, Locked, Unwritable (full) or
 * Unavailable. `needed` bytes were to be written. */
export async function failStorage(
  error: unknown,
  folder: string,
  { file = "", needed = 0 }: { file?: string; needed?: number } = {},
): Promise<never> {
  if (error instanceof GossamerError) throw error;
  const name = error instanceof Error ? error.name : "";
  const why = error instanceof Error ? error.message : String(error);
  if (name === "QuotaExceededError") throw full(needed, await freeBytes());
  // InvalidStateError: the connection or the handle died with what it stood for.
  if (name === "NotFoundError" || name === "InvalidStateError" || name === "NotReadableError") {
    throw cleared(folder, file);
  }
  if (name === "NoModificationAllowedError") {
    throw new GossamerError("Locked", `another tab uses the index "${folder}": close it and try again`);
  }
  throw new GossamerError("Unavailable", `storage of the browser failed for "${folder}": ${name} ${why}`);
}

/** What the browser says is left; 0 where it does not say. */
export async function freeBytes(): Promise<number> {
  const { used, quota } = await browserUsage();
  return Math.max(0, quota - used);
}

export interface Usage {
  readonly used: number;
  readonly quota: number;
  readonly isPersistent: boolean;
}

/** What the browser says of this site's storage; zeros where it does not say. */
export async function browserUsage(): Promise<Usage> {
  const manager = globalThis.navigator?.storage;
  const estimate = await manager?.estimate?.().catch(() => null);
  const isPersistent = (await manager?.persisted?.().catch(() => false)) ?? false;
  return { used: estimate?.usage ?? 0, quota: estimate?.quota ?? 0, isPersistent };
}

let asked: Promise<boolean> | null = null;

/** Asks the browser once in the life of a page not to evict this site's storage; says whether it
 * agreed. Workers cannot ask: they only say how it is, so call this in the page. */
export async function askPersistence(): Promise<boolean> {
  const manager = globalThis.navigator?.storage;
  if (!manager?.persisted) return false;
  if (await manager.persisted().catch(() => false)) return true;
  if (typeof manager.persist !== "function") return false;
  asked ??= manager.persist().catch(() => false);
  return asked;
}
