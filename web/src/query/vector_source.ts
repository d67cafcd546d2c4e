import { GossamerError } from "../errors.ts";
import { SECTIONS } from "../format/container.ts";
import type { OpenOptions } from "../options.ts";
import type { VectorSource } from "../records.ts";
import type { OpenedTarget } from "./targets.ts";

/** Where vectors come from that are not in memory. InvalidArgument where what was asked for cannot be. */
export function vectorSourceOf(
  { parts, isLocal, server }: OpenedTarget,
  options: OpenOptions,
  hasAwayTexts: boolean,
): VectorSource {
  const hasVectors = (parts.engine?.sectionAt(SECTIONS.vectors)?.length ?? 0) > 0;
  const hasCodes = Boolean(parts.engine?.sectionAt(SECTIONS.codes));
  const isStored = hasVectors && (parts.manifest.settings.keep === "all" || !hasCodes);
  const computed = hasAwayTexts && server !== null ? "server" : "recompute";
  const wanted = options.vectors ?? (isStored ? (isLocal ? "stored" : "ranges") : computed);
  if (isRead(wanted) && !isStored) {
    const chosen = `vectors: "${wanted}" was asked for`;
    throw new GossamerError("InvalidArgument", `${chosen}, but this index keeps none; use "recompute"`);
  }
  if (wanted === "server" && !server) {
    throw new GossamerError("InvalidArgument", 'vectors: "server" needs the address of one as `server`');
  }
  return wanted;
}

/** Whether vectors stay in the file, and are read from there. */
export function isRead(source: VectorSource): boolean {
  return source === "stored" || source === "ranges";
}
