// The worker: owns Wasm and storage, answers what the page posts. Also importable, for tests.

import { wasmFrom } from "../core/wasm_files.ts";
import { makeServices } from "../query/services.ts";
import { WorkerCalls } from "./handlers.ts";
import type { Handlers } from "./handlers.ts";
import type { Calls, Places, Port } from "./messages.ts";
import { addressOf, ownBuild, placeFiles } from "./parts.ts";
import { serve } from "./serve.ts";

/** What the worker does, with the files where the page says that they are. */
function callsWith({ wasm, files }: Places): Handlers {
  placeFiles(files);
  const addressOfWasm = wasm === null ? addressOf : (name: string) => new URL(name, wasm).href;
  return new WorkerCalls(makeServices(wasmFrom(addressOfWasm), undefined, addressOf));
}

// A worker serves its page; where this is imported, whoever imports it decides.
if ("DedicatedWorkerGlobalScope" in globalThis) serve<Calls>(globalThis as unknown as Port, callsWith, ownBuild);
