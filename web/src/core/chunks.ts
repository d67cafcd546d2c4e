// What gossamer-chunks.wasm does for changes: documents cut into chunks, segments read and written.
// `loadChunks` (load.ts) gives it.

import { joinBytes } from "../bytes/join.ts";
import { utf8 } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import type { ChunkSpan, Document, Span } from "../records.ts";
import { decodeText, encodeText } from "../text/text.ts";
import type { Core } from "./memory.ts";
import { packageReader } from "./packages.ts";
import type { PackageReader } from "./packages.ts";
import { segmentWriter } from "./segments.ts";
import type { SegmentWriter } from "./segments.ts";
import { sourceEditor } from "./sources.ts";
import type { SourceEditor } from "./sources.ts";
import { countWords } from "./words.ts";
import type { WordCounter } from "./words.ts";

/** Where each token of a text begins, in bytes. */
export type TokenStarts = (text: Uint8Array) => Uint32Array;

export interface ChunkOptions {
  readonly size: number; // tokens that a chunk with its context has at most
  readonly markup: string; // "plain", "markdown", "rst", "rows" or "code/LANGUAGE"
  readonly line?: string; // stands before each chunk when it is embedded
}

export type AnchorSource = Pick<Document, "text" | "markup" | "anchors" | "hasSlugs">;

export interface ChunkCore extends PackageReader, SourceEditor, SegmentWriter {
  /** Counts the words of a catalogue in one piece, for a single file. */
  countWords(catalogue: Uint8Array): WordCounter;
  /** The line that is embedded before every chunk of a document: its title, or the end of its path below the
   * folder that was added; "" for a name of no file. */
  contextLine(name: string, title: string): string;
  /** What is embedded and hashed of a chunk: line, headings, body. */
  embeddedText(line: string, headings: readonly Uint8Array[], body: Uint8Array): Uint8Array;
  /** The anchors of a document's headings in few bytes, "" for none. The chunks are those of `cut`. */
  writeAnchors(document: AnchorSource, chunks: readonly ChunkSpan[]): string;
  /** Divides a document; nothing in it that has tokens is left out, nothing is in two chunks.
   *
   * What is embedded of a chunk has at most `size` tokens. Chunks stand in the order of the text,
   * without space at their ends. None for a text in which the tokenizer finds nothing. */
  cut(text: Uint8Array, tokenStarts: TokenStarts, options: ChunkOptions): ChunkSpan[];
}

/** Wraps instances of gossamer-chunks.wasm: after a failure another one is started, as what that one had
 * allocated is lost. */
export function wasmChunks(start: () => Core): ChunkCore {
  let started = start();
  const core = (): Core => {
    if (started.isBroken()) started = start();
    return started;
  };
  return {
    ...packageReader(core),
    ...sourceEditor(core),
    ...segmentWriter(start),
    // Instances of their own: these stay, and any other call that fails ends the common one.
    countWords: (catalogue) => countWords(start(), catalogue),
    contextLine(name, title) {
      const now = core();
      const [path, words] = [encodeText(name), encodeText(title)];
      const line = now.lend([joinBytes([path, words])], (at) =>
        now.bytes(now.call("context_line", at as number, path.length, words.length)),
      );
      return decodeText(line) ?? "";
    },
    embeddedText(line, headings, body) {
      const now = core();
      const parts = [encodeText(line), ...headings, body];
      const sizes = Uint32Array.from(parts, ({ length }) => length);
      return now.lend([joinBytes(parts), sizes], (...at) =>
        now.bytes(now.call("embedded_text", ...at, parts.length)),
      );
    },
    writeAnchors({ text, markup, anchors, hasSlugs }, chunks) {
      const now = core();
      const ids = anchors.map(([, id]) => utf8(id));
      const innermost = chunks.flatMap(({ context }) => context.slice(-1));
      const given = anchors.flatMap(([at], i) => [at, ids[i]!.length]);
      const numbers = Uint32Array.from([...given, ...innermost.flat()]);
      const kind = utf8(markup);
      const counts = [ids.length, innermost.length, hasSlugs ? 1 : 0];
      const said = now.lend([joinBytes([text, ...ids, kind]), numbers], (at, lent) =>
        now.bytes(now.call("write_anchors", at as number, text.length, kind.length, lent as number, ...counts)),
      );
      return decodeText(said) ?? "";
    },
    cut(text, tokenStarts, { size, markup, line = "" }) {
      try {
        return spansOf(cutWith(core(), text, tokenStarts, { size, markup, line }));
      } catch (error) {
        if (!(error instanceof GossamerError) || error.reason !== "TooLarge") throw error;
        throw new GossamerError("Unreadable", "too large to be cut into chunks with the memory there is");
      }
    },
  };
}

function cutWith(
  core: Core,
  text: Uint8Array,
  tokenStarts: TokenStarts,
  { size, markup, line }: Required<ChunkOptions>,
): Uint32Array {
  const [before, kind] = [utf8(line), utf8(markup)];
  const tokens = Math.max(0, Math.min(size, 0xffffffff));
  return core.lend([joinBytes([text, before, kind])], (address) =>
    core.whileAsking(tokenStarts, () => {
      const lengths = [text.length, before.length, kind.length];
      return core.words(core.call("chunk_document", address as number, ...lengths, tokens));
    }),
  );
}

function spansOf(words: Uint32Array): ChunkSpan[] {
  const chunks: ChunkSpan[] = [];
  const spanAt = (at: number): Span => [words[at] as number, words[at + 1] as number];
  for (let at = 0; at < words.length; ) {
    const [start, end] = spanAt(at);
    const headings = words[at + 2] as number;
    const context = Array.from({ length: headings }, (_, i) => spanAt(at + 3 + 2 * i));
    chunks.push({ start, end, context });
    at += 3 + 2 * headings;
  }
  return chunks;
}
