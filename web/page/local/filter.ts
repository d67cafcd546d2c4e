// The filters of a query in the language of filters, for indexes that take nothing else.

import { pathsOf, typesOf } from "../query.ts";
import type { Query } from "../query.ts";

/** The filter of a query; "" for none. A pattern of a path is taken as what stands between its stars: that lets
 * a little more through than Python does. */
export function filterOf(query: Query): string {
  const types = typesOf(query).map(quoted).join(", ");
  const parts = [
    ...pathsOf(query).map(pathFilter),
    types ? `type in [${types}] or extension in [${types}]` : "",
    query.after ? `modified >= ${query.after}` : "",
    query.before ? `modified < ${query.before}` : "",
    query.where,
  ].filter((part) => part !== "");
  // What was typed alone stays as it is: a message about it points at its characters.
  return parts.length === 1 ? (parts[0] ?? "") : parts.map((part) => `(${part})`).join(" and ");
}

function pathFilter(pattern: string): string {
  const pieces = pattern.replace(/^!|\[[^\]]*\]/g, "*").split(/[*?]+/);
  const found = pieces.filter((piece) => /[^/]/.test(piece)).map((piece) => `${quoted(piece)} in path`);
  const all = found.join(" and ");
  return all !== "" && pattern.startsWith("!") ? `not (${all})` : all;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
