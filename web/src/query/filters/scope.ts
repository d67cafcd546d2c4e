// Which documents a filter lets through. The twin of python/gossamer/query/scope.py.

import type { Catalogue } from "../../format/catalogue.ts";
import type { Value } from "../../records.ts";
import type { Filter } from "./comparisons.ts";

type Columns = Readonly<Record<string, (row: number) => Value>>;

/** Says of each document, by row, whether the filter lets it through (1) or not (0). Only the fields
 * that it asks for are looked at. */
export function allowedDocuments(catalogue: Catalogue, filter: Filter): Uint8Array {
  const known = sourceFields(catalogue);
  const wanted = Object.entries(known).filter(([name]) => filter.names.has(name));
  const fieldsOf = (row: number) => Object.fromEntries(wanted.map(([name, of]) => [name, of(row)]));
  const { sourceRows } = catalogue;
  if (wanted.length === filter.names.size) {
    const bySource = new Uint8Array(catalogue.sourceCount);
    for (let row = 0; row < bySource.length; row += 1) {
      bySource[row] = Number(filter.matches(fieldsOf(row)));
    }
    return Uint8Array.from(sourceRows, (row) => bySource[row] ?? 0);
  }
  // What the product knows of a file goes before what the file says of itself.
  const metadata = catalogue.metadata();
  return Uint8Array.from(sourceRows, (source, row) =>
    Number(filter.matches({ ...metadata[row], ...fieldsOf(source) })),
  );
}

/** What is known of every source, as functions of its row. */
function sourceFields(catalogue: Catalogue): Columns {
  const { paths } = catalogue;
  const path = (row: number) => paths[row] ?? "";
  return {
    path,
    source: (row) => {
      const { root } = catalogue.source(row);
      return root === "" ? path(row) : path(row).slice(root.length).replace(/^\/+/, "");
    },
    type: (row) => catalogue.source(row).kind,
    extension: (row) => extensionOf(path(row)),
    size: (row) => catalogue.source(row).size,
    modified: (row) => momentOf(catalogue.source(row).mtimeNs),
  };
}

/** The ending of a file's name without its dot, in small letters; "" where there is none. */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
}

/** A time in nanoseconds as ISO 8601 to the second; "" for one that no calendar has. */
export function momentOf(timeNs: bigint): string {
  const seconds = Number(timeNs) / 1e9;
  // Rounded to microseconds first, as Python does.
  const whole = Math.floor(seconds);
  const isNext = Math.round((seconds - whole) * 1e6) >= 1e6;
  const moment = new Date((whole + Number(isNext)) * 1000);
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999 ? `${moment.toISOString().slice(0, 19)}+00:00` : "";
}
