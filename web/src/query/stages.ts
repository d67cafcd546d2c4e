/** Milliseconds by stage, in the order in which they were first entered. */
export class Stages {
  readonly ms: Record<string, number> = {};

  async time<T>(name: string, work: () => Promise<T>): Promise<T> {
    const start = this.#enter(name);
    try {
      return await work();
    } finally {
      this.#leave(name, start);
    }
  }

  timeNow<T>(name: string, work: () => T): T {
    const start = this.#enter(name);
    try {
      return work();
    } finally {
      this.#leave(name, start);
    }
  }

  #enter(name: string): number {
    this.ms[name] ??= 0;
    return performance.now();
  }

  #leave(name: string, start: number): void {
    this.ms[name] = (this.ms[name] ?? 0) + performance.now() - start;
  }
}
