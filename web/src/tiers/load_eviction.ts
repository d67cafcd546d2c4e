import { GossamerError } from "../errors.ts";
import { evictionNames, evictionOf } from "./eviction.ts";
import type { Eviction } from "./eviction.ts";

/** InvalidArgument unless this names an eviction, or could be the address of one. */
export function checkEviction(eviction: unknown): void {
  const isAddress = typeof eviction === "string" && eviction.includes("://");
  if (isAddress || evictionNames.includes(eviction as string)) return;
  const names = evictionNames.map((name) => `"${name}"`).join(", ");
  throw new GossamerError(
    "InvalidArgument",
    `eviction is ${names} or the address of a module, got ${JSON.stringify(eviction)}`,
  );
}

/** The eviction of a name, or what `eviction()` of the module at an address gives. */
export async function loadEviction(eviction: string): Promise<Eviction> {
  checkEviction(eviction);
  if (!eviction.includes("://")) return evictionOf(eviction);
  const module = await import(/* @vite-ignore */ eviction).catch((error: unknown) => {
    throw new GossamerError("Unreachable", `the module at ${eviction} cannot be loaded: ${String(error)}`);
  });
  const make: unknown = (module as { eviction?: unknown }).eviction;
  const made = typeof make === "function" ? (make() as Partial<Eviction> | null) : null;
  if (made && typeof made.choose === "function") return made as Eviction;
  throw new GossamerError(
    "InvalidArgument",
    `the module at ${eviction} must export a function eviction() that gives { name, choose(slots) }`,
  );
}
