// What is asked for, and how the address of the page carries it.

import type { Mode, SearchOptions } from "../src/records.ts";

export interface Query {
  readonly question: string;
  readonly mode: Mode;
  readonly k: number;
  readonly path: string; // what the path holds, or a pattern; "" for every path
  readonly type: string; // kinds of files, parted by commas; "" for all
  readonly after: string; // the first day that counts, 2024-05-31; "" for any
  readonly before: string; // the first day that does not
  readonly where: string; // an expression over metadata; "" for none
}

export const FILTERS = ["path", "type", "after", "before", "where"] as const;
const MODES: readonly Mode[] = ["hybrid", "semantic", "lexical"];
const DEFAULT_K = 10;
const MOST_HITS = 50;

/** The query that an address carries; what it does not say, or says wrongly, is as usual. */
export function readQuery(search: string): Query {
  const said = new URLSearchParams(search);
  const k = Number(said.get("k"));
  const day = (name: string) => /^\d{4}-\d\d-\d\d$/.exec(said.get(name) ?? "")?.[0] ?? "";
  return {
    question: said.get("q") ?? "",
    mode: MODES.find((mode) => mode === said.get("mode")) ?? "hybrid",
    k: Number.isInteger(k) && k >= 1 && k <= MOST_HITS ? k : DEFAULT_K,
    path: said.get("path") ?? "",
    type: said.get("type") ?? "",
    after: day("after"),
    before: day("before"),
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

/** What a query asks of an index, besides its question. What is no pattern may stand anywhere in a path. */
export function optionsOf({ k, path, type, after, before, where }: Query): SearchOptions {
  const isPattern = /[*?[]|^(?:[!/~]|\.\.?\/)/.test(path);
  const types = type.split(",").map((kind) => kind.trim());
  return {
    k,
    paths: path === "" ? [] : [isPattern ? path : `*${path}*`],
    types: types.filter((kind) => kind !== ""),
    ...(after ? { after } : {}),
    ...(before ? { before } : {}),
    ...(where ? { filter: where } : {}),
  };
}

/** Whether there is a word to look for. */
export function hasWord(question: string): boolean {
  return /[\p{L}\p{N}]/u.test(question);
}
