// TextCore over gossamer.wasm.

import { GossamerError } from "../errors.ts";
import { type Core, freeOnce } from "./memory.ts";
import { blockReader } from "./sources.ts";
import type { StaticModel, TextCore, Tokenizer } from "./text.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Wraps an instance of gossamer.wasm; what strangers made is read by others, each by one that `start`
 * gives: what a call leaves in memory that fails would stay there for good. */
export function wasmText(core: Core, start: () => Core): TextCore {
  return {
    tokenizer: (vocabulary, isLowercase) => {
      const handle = core.call("tokenizer_new", vocabulary, vocabulary.length, isLowercase ? 1 : 0);
      return tokenizerOf(core, handle, freeOnce(() => core.call("tokenizer_free", handle)));
    },
    model: (file) => openModel(core, file),
    ...blockReader(start),
    crc32c: (bytes) => core.call("crc32c", bytes, bytes.length),
    memoryBytes: () => core.memoryBytes(),
  };
}

function tokenizerOf(core: Core, handle: number, free: () => void): Tokenizer {
  const tokens = (text: Uint8Array): number => core.call("tokenizer_tokens", handle, text, text.length);
  return {
    tokenStarts: (text) => core.words(tokens(text), core.second()),
    tokenIds: (text) => core.words(tokens(text)),
    idOf: (piece) => {
      const bytes = encoder.encode(piece);
      return core.call("tokenizer_id", handle, bytes, bytes.length) | 0;
    },
    free,
  };
}

function openModel(core: Core, file: Uint8Array): StaticModel {
  const handle = core.call("model_new", file, file.length);
  const description = describe(decoder.decode(core.bytes(core.call("model_description", handle))));
  const dim = core.call("model_dim", handle);
  const maxTokens = core.call("model_max_tokens", handle);
  const embed = (text: string): { tokens: number; vector: Float32Array } => {
    const bytes = encoder.encode(text);
    return { tokens: core.call("model_embed", handle, bytes, bytes.length), vector: core.floats(dim) };
  };
  return {
    ...tokenizerOf(core, core.call("model_tokenizer", handle), freeOnce(() => core.call("model_free", handle))),
    ...description,
    dim,
    maxTokens,
    embed(texts) {
      const rows = new Float32Array(texts.length * dim);
      texts.forEach((text, i) => {
        const { tokens, vector } = embed(text);
        if (tokens > maxTokens) {
          throw new GossamerError(
            "InvalidArgument",
            `text ${i} has ${tokens} tokens, the model takes ${maxTokens} at most; make shorter chunks`,
          );
        }
        rows.set(vector, i * dim);
      });
      return rows;
    },
    embedQuestion: (text) => embed(text).vector,
    embedTokens: (text) => {
      const bytes = encoder.encode(text);
      const count = core.call("model_embed_tokens", handle, bytes, bytes.length);
      return { tokens: core.floats(count * dim), starts: core.words(count, core.second()) };
    },
  };
}

function describe(json: string): { name: string; fingerprint: string } {
  let found: unknown;
  try {
    found = JSON.parse(json);
  } catch {
    found = null;
  }
  const { name, fingerprint } = (found ?? {}) as { name?: unknown; fingerprint?: unknown };
  if (typeof name === "string" && typeof fingerprint === "string") return { name, fingerprint };
  throw new GossamerError("Damaged", "the model file does not say its name and fingerprint");
}
