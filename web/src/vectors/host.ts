// The worker of vectors: it has one index, made by the first call.

import { GossamerError } from "../errors.ts";
import { BUILD } from "../files.ts";
import type { Job } from "../worker/job.ts";
import type { Places, Port } from "../worker/messages.ts";
import { serve } from "../worker/serve.ts";
import type { HandlersOf } from "../worker/serve.ts";
import { isOptions, METHODS } from "./calls.ts";
import type { WorkerCalls } from "./calls.ts";
import { parentPort } from "./threads.ts";
import { Vectors } from "./vectors.ts";
import { vectorWasm } from "./wasm.ts";

function callsWith(places: Places): HandlersOf<WorkerCalls> {
  const wasm = vectorWasm(places);
  let held: Vectors | null = null;
  const hold = (vectors: Vectors) => {
    held = vectors;
    return vectors.dim;
  };
  /** Calls a method of the index; options among the arguments get what aborts the call. */
  const run = (name: (typeof METHODS)[number], { signal }: Job, args: readonly unknown[]) => {
    if (!held) throw new GossamerError("WrongState", "this worker has no index; open or build one");
    const given = args.map((value) => (isOptions(value) ? { ...value, signal } : value));
    return (held[name] as (...given: unknown[]) => Promise<unknown>).apply(held, given);
  };
  const methods = METHODS.map((name) => [name, async (job: Job, ...args: unknown[]) => run(name, job, args)]);
  return {
    ...(Object.fromEntries(methods) as HandlersOf<WorkerCalls>),
    build: async (_, vectors, dim, options) => hold(await Vectors.build(vectors, dim, options, wasm)),
    open: async ({ signal }, target, options) => {
      const from = typeof target === "string" ? new URL(target) : target;
      return hold(await Vectors.open(from, { ...options, signal }, wasm));
    },
  };
}

const isWorker = "DedicatedWorkerGlobalScope" in globalThis;
const port = isWorker ? (globalThis as unknown as Port) : parentPort();
if (port) serve<WorkerCalls>(port, callsWith, BUILD);
