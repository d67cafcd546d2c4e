// What the package speaks of: documents, chunks, hits. Spans are in bytes of UTF-8 text, ids are
// safe integers. The twin of python/gossamer/records.py and query/results.py.

export type Value = string | number | boolean;
export type Span = readonly [start: number, end: number];
export type Mode = "hybrid" | "semantic" | "lexical";
/** Whether hybrid mode ranks the best of both rankings again, by what they say; "none" adds up places. */
export type Rerank = "auto" | "none";

/** Text that a reader found in a file or that a page gave, and what is known of it. */
export interface Document {
  readonly text: Uint8Array; // UTF-8
  readonly kind: string; // what a filter on `type` compares: "markdown", "python", ...
  readonly markup: string; // how the text is divided: "plain", "markdown", "rows"
  readonly title: string; // "" for none
  readonly unit: string; // what places count: line, page, ...
  readonly places: readonly (readonly [offset: number, number: number])[]; // empty: lines of `text`
  readonly key: string; // names this document within its file, where a file holds several
  readonly metadata: Readonly<Record<string, Value>>;
  // Where the words of headings begin in `text`, and the ids that lead to them on the page.
  readonly anchors: readonly (readonly [offset: number, id: string])[];
  readonly hasSlugs: boolean; // such ids follow from the words of headings, as generators make them
}

/** A piece of a document's text, and the headings it stands under. */
export interface ChunkSpan {
  readonly start: number;
  readonly end: number;
  readonly context: readonly Span[]; // in the same text, outermost first
}

/** Where else something stands. */
export interface Place {
  readonly id: number;
  readonly path: string;
  readonly line: number;
  readonly location: string;
  readonly url: string; // where people read it; "" where nobody knows
}
/** How sure a hit is; "" where that cannot be told. */
export type Strength = "strong" | "fair" | "weak" | "";

/** One answer: where it stands and what it says. */
export interface Hit {
  readonly id: number;
  readonly source: string; // path of the file, or the id that an added text was given
  readonly key: string;
  readonly kind: string;
  readonly title: string;
  readonly unit: string;
  readonly first: number; // line, page, ... of its first byte
  readonly last: number;
  readonly line: number; // of the line that answers best, where lines can be named; else `first`
  readonly start: number; // bytes of the document's text
  readonly end: number;
  readonly text: string; // "" where only a server has it that does not answer
  readonly snippet: string; // without marks such as those of Markdown
  readonly highlights: readonly Span[]; // characters (UTF-16) of `snippet`
  readonly code: readonly Span[]; // likewise: what of it is code
  readonly best: Span; // likewise: the line, or sentence, that answers best
  readonly answer: Span; // the same in `text`
  readonly score: number; // larger is better; comparable within one search only
  readonly distance: number | null; // from the question, where it was computed
  readonly ranks: Readonly<Record<string, number>>; // place in each ranking that found it, from 1
  readonly tokens: number | null; // how well it matches the question's tokens, where they were compared
  readonly words: number; // BM25, where the best of both rankings were ranked again
  readonly exact: number; // what is looked up in it, to the letter
  readonly reranker: number | null; // what a reranking model says of it, where a server has one
  readonly nearness: number | null; // by how many deviations its vector is nearer than most
  readonly coverage: number | null; // share of what the question's words tell that it holds
  readonly probability: number | null; // that it answers the question, where that can be told
  readonly strength: Strength; // the same in a word
  readonly metadata: Readonly<Record<string, Value>>;
  readonly location: string; // path:line, or path and page
  readonly headings: readonly string[]; // that it stands under, outermost first
  readonly url: string; // the page where people read it, at the nearest heading; "" where nobody knows
  readonly copies: number; // how many other passages say the same
  readonly also: readonly Place[]; // where these stand; a hundred at most
  readonly more: readonly Place[]; // in the same document, below what is shown of it
}

/** Where the vectors of a search came from, and what it cost. */
export interface Explanation {
  readonly mode: Mode;
  readonly strategy: string; // "" where the search was lexical
  readonly chunks: number;
  readonly allowedChunks: number | null;
  readonly codesTouched: number;
  readonly chunksEmbedded: number; // again, in this page
  readonly chunksCached: number; // whose vectors were in memory
  readonly chunksRead: number; // whose vectors were read from storage or fetched by range
  readonly chunksAsked: number; // whose vectors came from the server
  readonly rounds: number;
  readonly candidates: number; // of both rankings, that were ranked again
  readonly copies: number; // that were left out, as another passage says the same
  readonly bytesFetched: number; // over the network, for this search
  readonly lexicalTerms: Readonly<Record<string, number>>; // chunks that hold each term
  readonly stages: Readonly<Record<string, number>>; // milliseconds
}

export interface Results {
  readonly question: string;
  readonly hits: readonly Hit[]; // best first
  readonly absent: readonly string[]; // what was to be found to the letter, and is nowhere
  readonly explanation: Explanation;
  readonly notes: readonly string[]; // what else to know of this answer
  readonly tookMs: number;
}

export interface SearchOptions {
  readonly k?: number; // 10
  readonly mode?: Mode; // "hybrid"
  readonly rerank?: Rerank; // "auto"
  readonly recall?: number; // 0.9, or what codes choose where the best of both rankings are ranked again
  readonly distinct?: boolean; // passages that say the same are one hit; true
  readonly perFile?: number; // hits of a document while there are others among the best; 2, 0 for any number
  readonly minScore?: number; // the least probability of a hit, 0 to 1
  readonly plain?: boolean; // quotes, signs and fields of the question are text
  // All of these must hold, as in Python.
  readonly filter?: string; // an expression: `type == "markdown" and "docs" in path`
  readonly paths?: readonly string[]; // patterns: `notes/**/*.md`; `!` before one leaves out
  readonly types?: readonly string[]; // kinds of documents or extensions of their files
  // The first day (month, year, minute) that counts, 2024-05-31: of mails and chats by their own
  // dates, of other files by their times.
  readonly after?: string;
  readonly before?: string; // the first that does not
  readonly signal?: AbortSignal;
}

export type SimilarOptions = Omit<
  SearchOptions,
  "mode" | "rerank" | "plain" | "distinct" | "perFile" | "minScore"
>;

/** How far a long job is. */
export interface Progress {
  readonly phase: string;
  readonly done: number;
  readonly total: number; // 0 while it is not known
}
export type OnProgress = (progress: Progress) => void;

/** Where vectors come from that are not in memory, see README. */
export type VectorSource = "stored" | "ranges" | "server" | "recompute";
export type EvictionName = "fifo" | "lru" | "hub";

/** What an open index is and takes. */
export interface IndexStatus {
  readonly name: string; // in storage; "" where it is not kept
  readonly origin: string; // address it is read from or follows; "" for none
  readonly follows: boolean; // it is all here, and follows a server
  readonly model: string;
  readonly dim: number;
  readonly chunks: number;
  readonly documents: number;
  readonly vectors: VectorSource;
  readonly memoryBytes: number; // Wasm and JavaScript together
  readonly wasmBytes: number;
  readonly cacheBytes: number; // vectors and texts in memory
  readonly cacheBudget: number;
  readonly storageBytes: number; // of this index in OPFS or IndexedDB
  readonly storageKind: "opfs" | "indexeddb" | "memory" | "none";
  readonly bytesFetched: number; // over the network since it was opened
  readonly requests: number;
}

/** A chunk with the text around it. */
export interface ChunkContext {
  readonly before: string;
  readonly text: string;
  readonly after: string;
}
