// A page that uses the package as any page would: `window.product`, driven by benchmarks/browser/.

import type { GossamerIndex, OpenOptions, SearchOptions, TextInput } from "../src/index.ts";

const longTasks: number[] = [];
// The package stands beside the page, as it is built.
const built = new URL("gossamer.js", document.baseURI).href;
const { start } = (await import(built)) as typeof import("../src/index.ts");
const gossamer = start();
let index: GossamerIndex;

const product = {
  /** Opens an index and asks it something; the milliseconds of both. */
  async first(url: string, question: string, options: SearchOptions, open: OpenOptions) {
    const started = performance.now();
    index = await gossamer.open(url, open);
    const openMs = performance.now() - started;
    return { openMs, ...(await product.ask(question, options)), ms: performance.now() - started };
  },

  async ask(question: string, options: SearchOptions) {
    const started = performance.now();
    const { hits, explanation, notes } = await index.search(question, options);
    return { ids: hits.map(({ id }) => id), explanation, notes, ms: performance.now() - started };
  },

  /** Puts texts into a new index in memory; chunks, and the seconds that took. */
  async build(texts: TextInput[], model: string) {
    const started = performance.now();
    index = await gossamer.build(null, texts, { model });
    const seconds = (performance.now() - started) / 1000;
    return { seconds, chunks: (await index.status()).chunks };
  },

  status: () => index.status(),

  /** Durations of tasks of the page's thread over 50 ms since the last call. */
  async takeLongTasks(): Promise<number[]> {
    await new Promise((resolve) => setTimeout(resolve, 100)); // entries come a little later
    return longTasks.splice(0);
  },
};

declare global {
  interface Window {
    product: typeof product;
  }
}
window.product = product;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) longTasks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
