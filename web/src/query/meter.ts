/** What has come over the network. */
interface Counted {
  readonly bytesFetched: number;
  readonly requests: number;
}

/** Counts what comes over the network. */
export class Meter {
  readonly #sources: Counted[] = [];
  #bytes = 0;
  #requests = 0;

  get bytes(): number {
    return this.#sources.reduce((sum, source) => sum + source.bytesFetched, this.#bytes);
  }

  get requests(): number {
    return this.#sources.reduce((sum, source) => sum + source.requests, this.#requests);
  }

  add(bytes: number, requests: number): void {
    this.#bytes += bytes;
    this.#requests += requests;
  }

  /** Counts what a source has fetched and will fetch. */
  watch(source: Counted): void {
    this.#sources.push(source);
  }
}
