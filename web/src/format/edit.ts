// An index open for changes: its catalogue as columns beside its parts.
import type { SourceEditor } from "../core/sources.ts";
import { AWAY } from "./catalogue.ts";
import type { Catalogue } from "./catalogue.ts";
import { CatalogueView } from "./catalogue_view.ts";
import { textsOf } from "./parts.ts";
import type { IndexParts, OpenSegment, TextStore } from "./parts.ts";

/** An index that can be changed. */
export interface ChangeParts extends IndexParts {
  readonly catalogue: Catalogue;
}

/** The parts of an index with its catalogue. */
export function withCatalogue(editor: SourceEditor, parts: IndexParts): ChangeParts {
  const { words, tables } = editor.readTables(parts.origin);
  return { ...parts, catalogue: new CatalogueView(parts.origin, words, tables) };
}

/** What segments hold together, oldest first. */
export function joinSegments(
  editor: SourceEditor,
  segments: readonly OpenSegment[],
): { catalogue: Catalogue; texts: TextStore } {
  const origin = { files: segments };
  const { words, tables } = editor.readTables(origin);
  const texts = textsOf(segments, { text: async () => editor });
  return { catalogue: new CatalogueView(origin, words, tables), texts };
}

/** The text of a document, by its row; null if it is away. */
export async function textOfDocument(
  { catalogue, texts }: Pick<ChangeParts, "catalogue" | "texts">,
  row: number,
  signal?: AbortSignal,
): Promise<Uint8Array | null> {
  const { segments, offsets } = catalogue.textPlaces;
  const [segment, start] = [segments[row] as number, offsets[row] as number];
  if (segment === AWAY) return null;
  return texts.read(segment, start, start + (catalogue.textLengths[row] as number), signal);
}
