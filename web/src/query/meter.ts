/** Counts what came over the network. */
export interface Meter {
  readonly bytes: number;
  readonly requests: number;
  add(bytes: number, requests: number): void;
  /** Counts what a source has fetched and will fetch. */
  watch(source: { readonly bytesFetched: number; readonly requests: number }): void;
}

export function makeMeter(): Meter {
  const sources: { readonly bytesFetched: number; readonly requests: number }[] = [];
  const own = { bytes: 0, requests: 0 };
  return {
    get bytes() {
      return sources.reduce((sum, source) => sum + source.bytesFetched, own.bytes);
    },
    get requests() {
      return sources.reduce((sum, source) => sum + source.requests, own.requests);
    },
    add: (bytes, requests) => {
      own.bytes += bytes;
      own.requests += requests;
    },
    watch: (source) => void sources.push(source),
  };
}
