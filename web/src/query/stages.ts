/** Milliseconds by stage, in the order in which they were first entered. */
export class Stages {
  readonly ms: Record<string, number> = {};

  /** Enters a stage; what it gives leaves it. */
  enter(name: string): () => void {
    this.ms[name] ??= 0;
    const start = performance.now();
    return () => {
      this.ms[name] = (this.ms[name] as number) + performance.now() - start;
    };
  }
}
