// What server and edge compare to know that they hold the same. The twin of python/gossamer/sync/state.py.

import { startDigest } from "../bytes/hashes.ts";
import type { SourceEditor } from "../core/sources.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { catalogueDigest } from "../format/changes.ts";
import type { Container } from "../format/container.ts";
import { SECTIONS } from "../format/container.ts";

/** Names a state in hexadecimal: what is indexed, and the digest of what is kept of it. */
export function stateOf(editor: SourceEditor, catalogue: Catalogue, vectorsDigest: Uint8Array): string {
  const digest = startDigest();
  digest.update(catalogueDigest(editor, catalogue));
  digest.update(vectorsDigest);
  return digest.hex();
}

/** The digest of what an edge keeps of each chunk: rising ids, then their rows in the same order. */
export function digestOfRows(ids: Float64Array, rows: Uint8Array): Uint8Array {
  const digest = startDigest();
  digest.update(new Uint8Array(BigInt64Array.from(ids, BigInt).buffer));
  digest.update(rows);
  return digest.bytes();
}

// What one of two equal engine files may lack: the codebook is in `meta` by its fingerprint.
const LEFT_OUT: readonly number[] = [SECTIONS.codebook, SECTIONS.sourceGraph, SECTIONS.calibration];
const ENTRY_BYTES = 16;

/** The digest of a slim edge's engine file, by its table of sections. */
export function digestOfEngine(container: Container): Uint8Array {
  const digest = startDigest();
  const kinds = container.kinds.filter((kind) => !LEFT_OUT.includes(kind));
  for (const kind of kinds.sort((one, other) => one - other)) {
    const place = container.sectionAt(kind);
    const entry = new DataView(new ArrayBuffer(ENTRY_BYTES));
    entry.setUint32(0, kind, true);
    entry.setBigUint64(4, BigInt(place?.length ?? 0), true);
    entry.setUint32(12, place?.checksum ?? 0, true);
    digest.update(new Uint8Array(entry.buffer));
  }
  return digest.bytes();
}
