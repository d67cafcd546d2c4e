// What answers the questions of the page: indexes in this browser (local/), or a server (server/).

import type { ChunkContext, Mode, Results } from "../src/index.ts";
import type { Child } from "./dom.ts";
import type { Collected } from "./files.ts";
import type { Query } from "./query.ts";
import type { Target } from "./site.ts";

/** An index that is open. */
export interface Opened {
  readonly target: Target;
  readonly label: string;
  readonly status: Contents | null; // null until it is known
  readonly problem: unknown; // why it could not be asked for the last time; null if it could
  isWordsOnly: boolean; // its model cannot be had here
  search(query: Query, mode: Mode, signal: AbortSignal): Promise<Results>;
  context(id: number, margin: number): Promise<ChunkContext>;
  titles(): Promise<string[]>;
}

/** What the page needs to know of an index. */
export interface Contents {
  readonly documents: number;
  readonly chunks: number;
  readonly roots?: readonly string[]; // folders that paths begin with
  readonly kinds?: Readonly<Record<string, number>>; // of documents
}

/** What the page does when another index is open, or none could be. */
export interface Hooks {
  opening(): void;
  opened(target: Target): void;
  /** How the open index is was asked again. */
  refreshed(): void;
  failed(error: unknown, target: Target): void;
}

/** What can be done about a problem. */
export interface Remedy {
  readonly label: string;
  readonly act: () => void;
}

/** What is shown before anything is asked. */
export interface Beginning {
  readonly heading: string;
  readonly text: readonly Child[];
  readonly zone: string; // what becomes of files that are dropped; "" where none are taken
  readonly others: readonly (readonly [string, Target])[]; // indexes that can be opened instead
}

export interface Backend {
  readonly typingMs: number; // until what is typed is asked
  readonly isNear: boolean; // asking costs nobody else anything: words first, and the status each time
  opened(): Opened | null;
  open(target: Target, hooks: Hooks): Promise<void>;
  /** Asks how the open index is now; says whether there is more or less in it than before. */
  refresh(): Promise<boolean>;
  /** What the line at the top says of an index beside its name, and the color of its dot. */
  stateOf(opened: Opened): readonly [string, "good" | "old"];
  beginning(hooks: Hooks): Promise<Beginning>;
  /** The content of the panel; `refill` asks for it again. */
  panel(hooks: Hooks, refill: () => Promise<void>): Promise<Child[]>;
  /** Puts files in. */
  take(collected: Collected, hooks: Hooks): Promise<void>;
  /** What becomes of files that are dropped now. */
  dropText(): string;
  /** Whether what failed goes on by itself. */
  mends(error: unknown, opened: Opened, hooks: Hooks): boolean;
  remediesOf(error: unknown, target: Target, again: () => void, hooks: Hooks): Promise<Remedy[]>;
  /** The target that the address of the page names, and how it names one. */
  targetOf(search: string): Target;
  paramsOf(target: Target): Record<string, string>;
}
