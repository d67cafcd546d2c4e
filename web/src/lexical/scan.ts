// Ranking by words in one pass over the texts: nothing is kept between questions.

import type { TextCore } from "../core/text.ts";
import { throwIfAborted } from "../errors.ts";
import type { TextStore } from "../format/parts.ts";
import { nextTurn } from "../turns.ts";
import { rankingOf } from "./ranking.ts";
import type { WordRanking } from "./ranking.ts";

/** Chunks whose texts stand close together, with what is to be counted of them. */
export interface Piece {
  readonly segment: number;
  readonly begin: number; // bytes of the segment
  readonly end: number;
  readonly starts: Uint32Array; // from `begin` on
  readonly ends: Uint32Array;
  readonly numbers: Uint32Array;
}

export interface ScanQuery {
  readonly question: string;
  readonly best: number;
  readonly allowed?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Ranks chunks by reading them all, piece by piece: between pieces others get a turn. */
export async function rankByScan(
  text: TextCore,
  texts: TextStore,
  layout: { pieces(allowed?: Uint8Array): Iterable<Piece> },
  query: ScanQuery,
): Promise<WordRanking> {
  const pass = text.lexicalPass(query.question, query.allowed);
  try {
    if (pass.terms.length > 0) {
      for (const piece of layout.pieces(query.allowed)) {
        const bytes = await texts.read(piece.segment, piece.begin, piece.end, query.signal);
        pass.addBuffer(bytes, piece.starts, piece.ends, piece.numbers);
        await nextTurn();
        throwIfAborted(query.signal);
      }
    }
    return rankingOf(pass, query.best);
  } finally {
    pass.free();
  }
}
