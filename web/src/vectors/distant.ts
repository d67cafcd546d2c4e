// An index of vectors in a worker, as its page sees it.

import { GossamerError } from "../errors.ts";
import { connect } from "../worker/client.ts";
import type { CallExtras, Client, WorkerLike } from "../worker/client.ts";
import { isOptions, METHODS } from "./calls.ts";
import type { SentTarget, VectorMethods, WorkerCalls } from "./calls.ts";
import type { BuildVectorsOptions, OpenVectorsOptions } from "./options.ts";
import type { Target } from "./target.ts";
import { startThread } from "./threads.ts";
import { placesOf, startWorker, WORKER_URL } from "./wasm.ts";

/** An index, wherever it is. */
export interface MadeVectors {
  readonly dim: number;
  readonly methods: VectorMethods;
}

/** Where a worker's files are: its own address and the folder of its Wasm, null for those of the package. */
export interface WorkerPlace {
  readonly address: string | null;
  readonly wasm: string | null;
}

export function buildInWorker(
  place: WorkerPlace,
  vectors: Float32Array,
  dim: number,
  options: BuildVectorsOptions,
): Promise<MadeVectors> {
  return make(place, (client) => client.call("build", [vectors, dim, options]));
}

export function openInWorker(place: WorkerPlace, target: Target, given: OpenVectorsOptions): Promise<MadeVectors> {
  const { signal, ...options } = given;
  const sent: SentTarget = target instanceof URL ? target.href : target;
  return make(place, (client) => client.call("open", [sent, options], { signal }));
}

/** Starts a worker, which has the index that `begin` makes. */
async function make(
  { address, wasm }: WorkerPlace,
  begin: (client: Client<WorkerCalls>) => Promise<number>,
): Promise<MadeVectors> {
  const client = connect<WorkerCalls>(start(address), placesOf(wasm), address ?? WORKER_URL.href);
  try {
    return { dim: await begin(client), methods: methodsOf(client) };
  } catch (error) {
    client.close();
    throw error;
  }
}

function start(address: string | null): WorkerLike {
  if (typeof Worker !== "undefined") {
    return address === null ? startWorker() : new Worker(address, { type: "module", name: "gossamer vectors" });
  }
  const thread = startThread(address === null ? WORKER_URL : new URL(address));
  if (thread) return thread;
  throw new GossamerError("Unavailable", "there are no workers here: leave out `worker`");
}

function methodsOf(client: Client<WorkerCalls>): VectorMethods {
  const call = client.call.bind(client) as (name: string, args: unknown[], extras: CallExtras) => Promise<unknown>;
  let closing: Promise<void> | null = null;
  const close = () => (closing ??= call("close", [], {}).then(() => client.close()));
  const methods = METHODS.map((name) => [
    name,
    async (...args: unknown[]) => {
      if (name === "close") return close();
      const { sent, signal } = withoutSignal(args);
      return call(name, sent, { signal });
    },
  ]);
  return Object.fromEntries(methods) as VectorMethods;
}

/** Arguments as they can be sent: what aborts a call is sent otherwise. */
function withoutSignal(args: readonly unknown[]): { sent: unknown[]; signal: AbortSignal | undefined } {
  let signal: AbortSignal | undefined;
  const sent = args.map((value) => {
    if (!isOptions(value)) return value;
    const { filter, vectorsOf } = value as { filter?: unknown; vectorsOf?: unknown };
    if (typeof filter === "function" || vectorsOf !== undefined) {
      const what = "in a worker, filter is a list of ids, and there is no vectorsOf: functions cannot be sent there";
      throw new GossamerError("InvalidArgument", what);
    }
    if (!("signal" in value)) return value;
    const { signal: own, ...rest } = value as { signal?: AbortSignal };
    signal = own;
    return rest;
  });
  return { sent, signal };
}
