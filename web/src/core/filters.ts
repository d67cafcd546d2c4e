// What gossamer-filters.wasm does: which documents of a catalogue a filter lets through.

import { encodeText } from "../text/text.ts";
import type { Core } from "./memory.ts";
import { lendFiles, openList } from "./sources.ts";
import type { CatalogueOrigin } from "./sources.ts";

export interface FilterCore {
  /** A byte for each document, by row: 1 if the filter (JSON) lets it through. InvalidArgument says what of a
   * filter is wrong. */
  allow(origin: CatalogueOrigin, filter: string): Uint8Array;
}

/** Filters by a module that can; each call by an instance of its own, whose memory goes with it. */
export function wasmFilters(start: () => Core): FilterCore {
  return {
    allow: (origin, filter) => {
      const core = start();
      const asked = encodeText(filter);
      const given = core.give(asked);
      const size =
        "files" in origin
          ? lendFiles(core, "filter_segments", origin.files, given, asked.length)
          : core.call("filter_list", openList(core, origin), given, asked.length);
      return core.bytes(size);
    },
  };
}
