import { GossamerError } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import type { OpenOptions } from "../options.ts";

const VECTOR_SOURCES: readonly string[] = ["stored", "ranges", "server", "recompute"];

/** Checks what an index is opened with; InvalidArgument for what means nothing. */
export async function checkOpenOptions(options: OpenOptions): Promise<void> {
  const { vectors, eviction, name } = options;
  if (vectors !== undefined && !VECTOR_SOURCES.includes(vectors)) {
    const names = VECTOR_SOURCES.map((source) => `"${source}"`).join(", ");
    throw new GossamerError("InvalidArgument", `vectors is one of ${names}, got ${JSON.stringify(vectors)}`);
  }
  if (eviction !== undefined) {
    const { checkEviction } = await loadPart(import("../tiers/tiers.ts"));
    checkEviction(eviction instanceof URL ? eviction.href : eviction);
  }
  if (name !== undefined && typeof name !== "string") {
    throw new GossamerError("InvalidArgument", `name is a text, got ${JSON.stringify(name)}`);
  }
}
