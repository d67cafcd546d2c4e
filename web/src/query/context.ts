import type { OpenOptions } from "../options.ts";
import type { CacheWatch } from "../tiers/optimiser.ts";
import type { Meter } from "./meter.ts";
import type { Services } from "./services.ts";

/** What stays when another snapshot of an index is opened. */
export interface IndexContext {
  readonly options: OpenOptions;
  readonly services: Services;
  readonly meter: Meter;
  budget: number;
  watch: CacheWatch | null; // over what the optimiser of the cache found
}
