/** Who uses something that is to be closed when nobody does any more. */
export class Lifetime {
  isEnding = false; // it was closed, or will be when nobody uses it any more
  #users = 0;
  #whenUnused = () => {};

  retain(): void {
    this.#users += 1;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#whenUnused();
  }

  /** Begins the end, which is when nobody uses it. To be called once. */
  end(): Promise<void> {
    this.isEnding = true;
    return this.#users === 0 ? Promise.resolve() : new Promise((done) => (this.#whenUnused = done));
  }
}
