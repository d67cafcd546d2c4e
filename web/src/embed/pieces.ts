// What embedders do with texts and vectors: a long question is cut, rows get length 1. The twin of
// python/gossamer/embed/texts.py.
import { GossamerError } from "../errors.ts";

type TokenStarts = (bytes: Uint8Array) => Uint32Array;

const WINDOW_BYTES = 32; // looked at for each token that fits

/** InvalidArgument for a text of too many tokens; the first of them has number `first`. */
export function checkLengths(counts: readonly number[], maxTokens: number, first = 0): void {
  const at = counts.findIndex((count) => count > maxTokens);
  if (at < 0) return;
  throw new GossamerError(
    "InvalidArgument",
    `text ${first + at} has ${counts[at]} tokens, but the model takes ${maxTokens} at a time and ` +
      "nothing is cut off; divide it into chunks",
  );
}

/** One vector of length 1 for a text that was embedded in pieces, which count by their tokens. */
export function meanOfPieces(rows: readonly Float32Array[], counts: readonly number[]): Float32Array {
  if (rows.length === 1) return rows[0] as Float32Array;
  const weights = counts.map((count) => Math.max(1, count));
  const mean = new Float64Array(rows[0]?.length ?? 0);
  rows.forEach((row, at) => row.forEach((value, i) => (mean[i]! += value * (weights[at] ?? 0))));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return toUnit(mean.map((value) => value / total));
}

/** The byte of a text at which each token of its pieces begins. */
export function pieceStarts(pieces: readonly string[], tokenStarts: TokenStarts): Uint32Array {
  let at = 0;
  return Uint32Array.from(
    pieces.flatMap((piece) => {
      const data = new TextEncoder().encode(piece);
      const starts = Array.from(tokenStarts(data), (start) => at + start);
      at += data.length;
      return starts;
    }),
  );
}

/** Cuts a text where tokens begin so that each piece fits; a text that fits is one piece. */
export function cutIntoPieces(text: string, tokenStarts: TokenStarts, maxTokens: number): string[] {
  const data = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces: string[] = [];
  let at = 0;
  let window = WINDOW_BYTES * maxTokens;
  for (;;) {
    // A look at the beginning is enough, so that the cost grows with the text, not its square.
    const ahead = data.subarray(at, characterStart(data, Math.min(at + window, data.length)));
    const starts = tokenStarts(ahead);
    if (starts.length > maxTokens) {
      const end = fittingEnd(ahead, starts, tokenStarts, maxTokens);
      pieces.push(decoder.decode(ahead.subarray(0, end)));
      at += end;
    } else if (at + ahead.length === data.length) {
      return [...pieces, decoder.decode(ahead)];
    } else {
      window *= 4;
    }
  }
}

/** Scales a row to length 1. NotFinite for one that has no direction. */
export function toUnit(row: ArrayLike<number>): Float32Array {
  let squares = 0;
  for (let i = 0; i < row.length; i += 1) squares += (row[i] ?? 0) ** 2;
  const length = Math.sqrt(squares);
  if (!(length > 0 && Number.isFinite(length)))
    throw new GossamerError(
      "NotFinite",
      "the model gave a vector without a direction (NaN, infinite or all zero); its files do not work " +
        "as they should",
    );
  return Float32Array.from(row, (value) => value / length);
}

/** Where a piece can end. Cut in the middle of a word, its end may become more tokens. */
function fittingEnd(data: Uint8Array, starts: Uint32Array, tokenStarts: TokenStarts, maxTokens: number): number {
  for (let tokens = maxTokens; tokens > 1; tokens -= 1 + (tokens >> 4)) {
    const end = characterStart(data, starts[tokens] ?? 0);
    if (end > 0 && tokenStarts(data.subarray(0, end)).length <= maxTokens) return end;
  }
  let end = 1;
  while (end < data.length && ((data[end] ?? 0) & 0xc0) === 0x80) end += 1;
  return end;
}

function characterStart(data: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && start < data.length && ((data[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}
