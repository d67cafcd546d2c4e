// The same content in other parts, under other names, in 16 bytes. The core does it; here is what is asked
// of it.
import { startDigest } from "../bytes/hashes.ts";
import type { SourceEditor } from "../core/sources.ts";
import type { Catalogue } from "./catalogue.ts";
import { readCatalogue } from "./catalogue_view.ts";

/** A catalogue in one piece, as it goes from one module to another. */
export type TravelCatalogue = Catalogue & { readonly origin: { readonly bytes: Uint8Array } };

/** A catalogue in one piece of these sources, under other names of their roots, in the order of their
 * paths: `rename` says what each is called. */
export function travelCatalogue(
  editor: SourceEditor,
  catalogue: Catalogue,
  rows: ArrayLike<number>,
  rename: (root: string) => string,
): TravelCatalogue {
  const names = catalogue.words.map(rename);
  const bytes = editor.edit(catalogue.origin, (list) => {
    const renamed = list.renameRoots(names).take(rows);
    return renamed.take(renamed.order()).pack();
  });
  return readCatalogue(editor, bytes, true) as TravelCatalogue;
}

/** 16 bytes for what is indexed: the same whatever changes led to it, and wherever texts are kept. */
export function catalogueDigest(editor: SourceEditor, catalogue: Catalogue): Uint8Array {
  const digest = startDigest();
  digest.update(editor.edit(catalogue.origin, (list) => list.content()));
  return digest.bytes();
}
