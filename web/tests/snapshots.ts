// Questions to the parts of an index, without what opens them.

import type { IndexParts } from "../src/format/parts.ts";
import type { IndexContext } from "../src/query/context.ts";
import { Meter } from "../src/query/meter.ts";
import { askQuestion } from "../src/query/question.ts";
import { makeServices } from "../src/query/services.ts";
import { Snapshot } from "../src/query/snapshot.ts";
import type { OpenedTarget } from "../src/query/targets.ts";
import type { Results } from "../src/records.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import { builtWasm } from "./wasm_files.ts";

const BUDGET = 1 << 20;

/** What stays of a snapshot; the model is not at hand. */
export function contextFor(budget = BUDGET): IndexContext {
  const services = makeServices(builtWasm, memoryStorage());
  return { options: {}, services, meter: new Meter(), budget, watch: null };
}

/** A snapshot over these parts, which are closed with it. */
export function snapshotOf(
  parts: IndexParts,
  rest: Partial<OpenedTarget> = {},
  context = contextFor(),
): Promise<Snapshot> {
  const flush = async () => {};
  const own = { name: "", origin: "", folder: null, isLocal: true, server: null, notes: [], flush };
  return Snapshot.open({ parts, ...own, ...rest }, context);
}

/** What a question finds by its words alone. */
export function askWords(snapshot: Snapshot, question: string, signal?: AbortSignal): Promise<Results> {
  const query = { question, k: 1000, mode: "lexical", recall: 0.9, signal } as const;
  return askQuestion(snapshot, query);
}
