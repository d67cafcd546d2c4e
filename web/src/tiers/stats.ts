/** What one tier holds and how often it had what was looked for. */
export interface TierUse {
  readonly capacity: number; // rows
  readonly used: number;
  readonly bytes: number; // that its rows take, used or not
  readonly hits: number; // rows that searches found here
  readonly misses: number; // rows that they did not
  readonly evictions: number;
}

/** What the tiers of an index hold and did since they were opened. */
export interface TierStats {
  readonly searches: number;
  readonly rounds: number; // how often a search had to stop for rows
  readonly bytes: number; // of rows in memory, used or not
  readonly rowsCached: number; // rows that searches found in memory, in either tier
  readonly rowsRead: number; // rows that they did not
  readonly wasm: TierUse;
  readonly js: TierUse;
  readonly storage: {
    readonly reads: number; // accesses: one for each round that the tiers above could not serve
    readonly rows: number;
    readonly bytes: number;
    readonly ms: number; // spent waiting for them
  };
}
