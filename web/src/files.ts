// Where the files of the package are. Bundlers take along what is named by `new URL("./name", import.meta.url)`,
// but only where that is written out: the build puts one for each file in place of this module (build_worker.mjs).

/** What only the worker of the same build says of itself. */
export const BUILD: string = "";

/** Starts the worker of this package. */
export function startWorker(): Worker {
  return new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "gossamer" });
}

/** The addresses of what the worker loads, by name; what is not among them is beside the worker. */
export function fileAddresses(): Readonly<Record<string, string>> {
  return {};
}
