// What a server says, and what it means in the words of this package.

import { explanationOf, hitOf, type ExplanationRecord, type HitRecord } from "../answers.ts";
import type { Results } from "../records.ts";

/** What a server's index holds and takes, as it writes it. */
export interface ServerStatus {
  readonly name: string;
  readonly folder: string;
  readonly model: string;
  readonly generation: number;
  readonly changed: string;
  readonly roots: readonly string[];
  readonly indexed: number;
  readonly skipped: number;
  readonly failed: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
  readonly documents: number;
  readonly chunks: number;
  readonly text_bytes: number;
  readonly source_bytes: number;
  readonly total_bytes: number;
  readonly bytes_by_part: Readonly<Record<string, number>>;
  readonly changed_files: number;
  readonly missing_files: number;
  readonly is_fresh: boolean;
  readonly follows: Readonly<Record<string, unknown>>; // of an edge: the server and what is kept of it
}

/** A change that took the place of another one. */
export interface Conflict {
  readonly number: number;
  readonly id: string;
  readonly at: string;
  readonly note: string;
  readonly lost: string;
}

export interface ServerResults {
  readonly question: string;
  readonly took_ms: number;
  readonly hits: readonly HitRecord[];
  readonly stale: readonly string[];
  readonly updated?: readonly string[]; // as below
  readonly notes: readonly string[];
  readonly absent?: readonly string[]; // servers of earlier releases do not say it
  readonly explanation: ExplanationRecord;
}

const STALE_NAMED = 5;

/** The results of a search, as those of an index in the page. */
export function resultsOf(said: ServerResults): Results {
  return {
    question: said.question,
    hits: said.hits.map(hitOf),
    absent: said.absent ?? [],
    explanation: explanationOf(said.explanation),
    notes: [...updateNotes(said.updated ?? []), ...said.notes, ...staleNotes(said.stale)],
    tookMs: said.took_ms,
  };
}

/** That the answer is of files as they are now. */
function updateNotes(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  return [paths.length === 1 ? "1 changed file was brought up to date" : `${paths.length} changed files were brought up to date`];
}

/** That hits are missing, and what mends it. */
function staleNotes(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const named = paths.slice(0, STALE_NAMED).join(", ");
  const more = paths.length > STALE_NAMED ? ` and ${paths.length - STALE_NAMED} more` : "";
  const files = paths.length === 1 ? "1 file" : `${paths.length} files`;
  const said = `${files} changed since the last update; hits in old text are left out, \`gossamer add\` mends it`;
  return [`${said}: ${named}${more}`];
}
