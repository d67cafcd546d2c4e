// A hit made of a passage: where it stands, and the lines that answer best. The twin of
// python/gossamer/query/described.py.

import type { Hit } from "../records.ts";
import type { Fused } from "./fusion.ts";
import type { Passage } from "./passages.ts";
import { chooseSnippet } from "./snippet.ts";
import type { Words } from "./snippet.ts";

/** Makes a hit of a passage; `question` is what its snippet is chosen for. */
export function locate(
  words: Words,
  passage: Passage,
  question: string,
  fused: Fused,
  distance: number | null,
): Hit {
  const { document, body } = passage;
  const [first, last] = passage.place;
  const snippet = chooseSnippet(words, body, question);
  // Where a line of the chunk is a line of the source, the best one can be named.
  const hasLines = document.unit === "line" && last - first === body.split("\n").length - 1;
  const line = first + (hasLines ? snippet.line : 0);
  return {
    id: passage.id,
    source: passage.path,
    key: document.key,
    kind: document.kind,
    title: passage.title,
    unit: document.unit,
    first,
    last,
    line,
    start: passage.start,
    end: passage.end,
    text: body,
    snippet: snippet.text,
    highlights: snippet.highlights,
    score: fused.score,
    distance,
    ranks: fused.ranks,
    metadata: document.metadata,
    location: locationOf(passage, line),
  };
}

/** Where the hit stands, to show and to click on: path:line, or path and page. */
function locationOf({ path, document, body }: Passage, line: number): string {
  const where = document.key === "" ? path : `${path}#${document.key}`;
  if (body === "" && line === 0) return where; // a text that is not here: nobody counted its lines
  return document.unit === "line" ? `${where}:${line}` : `${where} ${document.unit} ${line}`;
}
