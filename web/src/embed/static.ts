// A model that is a table of tokens, in the text core.
import type { StaticModel } from "../core/text.ts";
import { throwIfAborted } from "../errors.ts";
import { nextTurn } from "../turns.ts";
import type { Embedder } from "./embedder.ts";
import { joinRows } from "./rows.ts";

// Texts between two looks at the signal.
const AT_ONCE = 64;

/** An embedder of vectors that are the same bits as Python's. The model stays the caller's to free. */
export function staticEmbedder(model: StaticModel): Embedder {
  async function embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array> {
    const rows = new Float32Array(texts.length * model.dim);
    for (let at = 0; at < texts.length; at += AT_ONCE) {
      throwIfAborted(signal);
      rows.set(model.embed(texts.slice(at, at + AT_ONCE)), at * model.dim);
      await nextTurn();
    }
    return rows;
  }
  async function embedQuestion(text: string, signal?: AbortSignal): Promise<Float32Array> {
    throwIfAborted(signal);
    return model.embedQuestion(text);
  }
  return {
    name: model.name,
    fingerprint: model.fingerprint,
    dim: model.dim,
    maxTokens: model.maxTokens,
    tokenStarts: (bytes) => model.tokenStarts(bytes),
    embed,
    embedQuestion,
    async embedTokens(texts, signal) {
      const rows = await embed(texts, signal);
      const found = texts.map((text) => model.embedTokens(text));
      return {
        rows,
        tokens: joinRows(found.map(({ tokens }) => tokens)),
        counts: Uint32Array.from(found, ({ starts }) => starts.length),
        starts: Uint32Array.from(found.flatMap(({ starts }) => [...starts])),
      };
    },
    embedQuestionTokens: async (text, signal) => ({
      row: await embedQuestion(text, signal),
      ...model.embedTokens(text),
    }),
  };
}
