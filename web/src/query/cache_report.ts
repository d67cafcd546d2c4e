import type { CacheReport as TierReport } from "../tiers/optimise_tiers.ts";

/** What the optimiser of the cache tried, what it saves, and what Wasm memory there was and is. */
export interface CacheReport extends TierReport {
  readonly wasmBytesBefore: number;
  readonly wasmBytesAfter: number;
}
