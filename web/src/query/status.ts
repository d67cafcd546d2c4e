// What an index is and takes, for those who ask.

import type { IndexStatus } from "../records.ts";
import type { Storage } from "../storage/storage.ts";
import type { IndexContext } from "./context.ts";
import type { Snapshot } from "./snapshot.ts";

/** The status of a snapshot of an index, which is called `name` in storage. */
export async function readStatus(
  snapshot: Snapshot,
  name: string,
  { services, meter, budget }: IndexContext,
  storage: Storage,
): Promise<IndexStatus> {
  const { parts, origin, folder, isLocal } = snapshot.target;
  const opened = await snapshot.memory.loaded?.catch(() => null);
  const { counts } = await snapshot.memory.collection();
  const text = await services.text();
  const wasmBytes = (opened?.engine.memoryBytes() ?? 0) + text.memoryBytes();
  const files = (await folder?.files()) ?? [];
  const tiers = opened?.tiers?.stats;
  const jsBytes = snapshot.cache.bytes + (tiers?.js.bytes ?? 0);
  return {
    name,
    origin,
    follows: isLocal && origin !== "",
    model: parts.manifest.model.name,
    dim: parts.manifest.model.dim,
    chunks: counts.chunks,
    documents: counts.documents,
    vectors: snapshot.vectorSource,
    memoryBytes: wasmBytes + jsBytes,
    wasmBytes,
    cacheBytes: jsBytes + (tiers?.wasm.bytes ?? 0),
    cacheBudget: budget,
    storageBytes: files.reduce((sum, file) => sum + file.size, 0),
    storageKind: folder ? storage.kind : "none",
    bytesFetched: meter.bytes,
    requests: meter.requests,
  };
}
