import type { EngineIndex, EngineSearch } from "../core/engine.ts";
import type { EvictionName } from "../records.ts";
import type { Eviction } from "./eviction.ts";
import type { CacheReport, OptimiseOptions } from "./optimise_tiers.ts";
import type { CacheWatch } from "./optimiser.ts";
import type { TierStats } from "./stats.ts";

export interface TierOptions {
  readonly budget: number; // bytes of rows in memory, Wasm and JavaScript together
  /** Bytes of rows that Wasm memory takes at most; JavaScript's memory takes the rest. */
  readonly wasmLimit?: number;
  readonly eviction?: EvictionName | Eviction; // "lru"
  readonly watch?: CacheWatch | null; // what optimise() found before, for another state of the index
  /** Milliseconds since some time; for tests. */
  readonly now?: () => number;
}

/** The vectors of a detached index, wherever their rows are. */
export interface VectorTiers {
  /** Supplies rows until the search wants no more. Searches may be under way side by side. */
  run(search: EngineSearch, signal?: AbortSignal): Promise<void>;
  /** Another budget; rows that have room in it stay in memory. It stands: what optimise() found is
   * not watched any longer, and one that is under way is cancelled. TooLarge where there is no such
   * memory: then the budget is what it was. */
  setBudget(bytes: number): void;
  readonly budget: number; // rises by itself where searches read more than they may
  readonly stats: TierStats;
  readonly watch: CacheWatch | null; // what optimise() found, while that stands
  /** Reads rows into empty slots before they are asked for: those that most searches pass first.
   * Others get a turn in between. */
  warm(signal?: AbortSignal): Promise<void>;
  /** Finds how little memory does, by test queries, and takes it: see optimiser.ts. Watches what
   * comes after, and takes more again when searches read more than they may. Cancelled if another
   * budget is set meanwhile, which then stands. */
  optimise(queries: readonly Float32Array[], options: OptimiseOptions): Promise<CacheReport>;
  /** Goes over to another instance of the same index, with the rows that are in memory: Wasm memory
   * never shrinks, but goes with its instance. No search may be under way. */
  moveTo(index: EngineIndex): void;
  /** Lets go of JavaScript's rows; those in Wasm memory go with the index. */
  close(): void;
}
