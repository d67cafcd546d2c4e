/** What is asked for, and how the address of the page carries it. */

/**
 * @typedef {object} Query
 * @property {string} question
 * @property {string} mode "hybrid", "semantic" or "lexical"
 * @property {number} k
 * @property {string} path a glob; "" for every path
 * @property {string} type kinds of files, parted by commas; "" for all
 * @property {string} where an expression over metadata; "" for none
 */

export const MODES = ["hybrid", "semantic", "lexical"];
export const FILTERS = /** @type {const} */ (["path", "type", "where"]);
const DEFAULT_K = 10;
const MOST_HITS = 50;

/**
 * The query that an address carries; what it does not say, or says wrongly, is as usual.
 * @param {string} search such as "?q=whale&mode=lexical"
 * @returns {Query}
 */
export function readQuery(search) {
  const said = new URLSearchParams(search);
  const mode = said.get("mode") ?? "";
  const k = Number(said.get("k"));
  return {
    question: said.get("q") ?? "",
    mode: MODES.includes(mode) ? mode : MODES[0],
    k: Number.isInteger(k) && k >= 1 && k <= MOST_HITS ? k : DEFAULT_K,
    path: said.get("path") ?? "",
    type: said.get("type") ?? "",
    where: said.get("where") ?? "",
  };
}

/**
 * The address that carries a query; only what is not as usual is in it.
 * @param {Query} query
 */
export function writeQuery(query) {
  const said = new URLSearchParams();
  if (query.question) said.set("q", query.question);
  if (query.mode !== MODES[0]) said.set("mode", query.mode);
  if (query.k !== DEFAULT_K) said.set("k", String(query.k));
  for (const name of FILTERS) if (query[name]) said.set(name, query[name]);
  const text = said.toString();
  return text ? `?${text}` : location.pathname;
}
