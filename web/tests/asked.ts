// Questions to the parts of an index, without what opens them.

import type { IndexParts } from "../src/format/parts.ts";
import { makeMeter } from "../src/query/meter.ts";
import { OpenedState, type Kept } from "../src/query/opened.ts";
import { askQuestion } from "../src/query/question.ts";
import { makeServices } from "../src/query/services.ts";
import type { OpenedTarget } from "../src/query/targets.ts";
import type { Results } from "../src/records.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import { builtWasm } from "./wasm_files.ts";

const BUDGET = 1 << 20;

/** What stays of a state; the model is not at hand. */
export function keptFor(budget = BUDGET): Kept {
  const services = makeServices(builtWasm, memoryStorage());
  return { options: {}, services, meter: makeMeter(), budget, watch: null };
}

/** A state over these parts, which are closed with it. */
export function stateOf(
  parts: IndexParts,
  rest: Partial<OpenedTarget> = {},
  kept = keptFor(),
): Promise<OpenedState> {
  const flush = async () => {};
  const own = { name: "", origin: "", folder: null, isLocal: true, server: null, notes: [], flush };
  return OpenedState.open({ parts, ...own, ...rest }, kept);
}

/** What a question finds by its words alone. */
export function askWords(state: OpenedState, question: string, signal?: AbortSignal): Promise<Results> {
  const query = { question, k: 1000, mode: "lexical", recall: 0.9, signal } as const;
  return state.ask((asked) => askQuestion(asked, query), signal);
}
