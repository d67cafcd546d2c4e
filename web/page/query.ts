// What is asked for, and how the address of the page carries it.

import type { Mode } from "../src/records.ts";

export interface Query {
  readonly question: string;
  readonly mode: Mode;
  readonly k: number;
  readonly path: string; // what the path holds; "" for every path
  readonly type: string; // kinds of files, parted by commas; "" for all
  readonly where: string; // an expression over metadata; "" for none
}

export const FILTERS = ["path", "type", "where"] as const;
const MODES: readonly Mode[] = ["hybrid", "semantic", "lexical"];
const DEFAULT_K = 10;
const MOST_HITS = 50;

/** The query that an address carries; what it does not say, or says wrongly, is as usual. */
export function readQuery(search: string): Query {
  const said = new URLSearchParams(search);
  const k = Number(said.get("k"));
  return {
    question: said.get("q") ?? "",
    mode: MODES.find((mode) => mode === said.get("mode")) ?? "hybrid",
    k: Number.isInteger(k) && k >= 1 && k <= MOST_HITS ? k : DEFAULT_K,
    path: said.get("path") ?? "",
    type: said.get("type") ?? "",
    where: said.get("where") ?? "",
  };
}

/** The address that carries a query and which index it is asked of (`index` or `name`). */
export function writeQuery(query: Query, target: Readonly<Record<string, string>>): string {
  const said = new URLSearchParams(target);
  if (query.question) said.set("q", query.question);
  if (query.mode !== "hybrid") said.set("mode", query.mode);
  if (query.k !== DEFAULT_K) said.set("k", String(query.k));
  for (const name of FILTERS) if (query[name]) said.set(name, query[name]);
  const text = said.toString();
  return text ? `?${text}` : location.pathname;
}

/** The filter of a query, in the language of filters; undefined for none. */
export function filterOf(query: Query): string | undefined {
  const types = query.type.split(",").map((type) => type.trim());
  const wanted = types.filter((type) => type !== "").map((type) => quoted(type.toLowerCase()));
  const parts = [
    query.path ? `${quoted(query.path)} in path` : "",
    wanted.length > 0 ? `type in [${wanted.join(", ")}]` : "",
    query.where,
  ].filter((part) => part !== "");
  if (parts.length === 0) return undefined;
  // What was typed alone stays as it is: a message about it points at its characters.
  return parts.length === 1 ? parts[0] : parts.map((part) => `(${part})`).join(" and ");
}

/** Whether there is a word to look for. */
export function hasWord(question: string): boolean {
  return /[\p{L}\p{N}]/u.test(question);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
