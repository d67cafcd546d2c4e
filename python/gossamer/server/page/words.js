/** Numbers, sizes, paths and failures as people read them. */

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];
const RANKINGS = new Map([
  ["semantic", "meaning"],
  ["lexical", "words"],
]);

/**
 * How many there are: "1 file", "1,234 files".
 * @param {number} number
 * @param {string} one
 */
export function counted(number, one) {
  return `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
}

/**
 * Bytes in powers of a thousand: "12.3 MB".
 * @param {number} bytes
 */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : Number(value.toPrecision(3))} ${UNITS[unit]}`;
}

/**
 * How much of the whole a part is: "3.1 %"; nothing if there is no whole.
 * @param {number} part
 * @param {number} whole
 */
export function share(part, whole) {
  if (!whole) return "";
  const percent = (100 * part) / whole;
  const digits = percent >= 100 ? Math.round(percent) : Number(percent.toPrecision(2));
  return `${digits.toLocaleString("en")} %`;
}

/**
 * A moment (ISO 8601) in the time of this place, to the minute; as it is if it is none.
 * @param {string} moment
 */
export function when(moment) {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return moment;
  return date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/**
 * What people call the ranking by which a hit was found.
 * @param {string} ranking
 */
export function rankingName(ranking) {
  return RANKINGS.get(ranking) ?? ranking;
}

/**
 * A path without what stands above the file or folder that was indexed; as it is if it is below
 * none.
 * @param {string} path
 * @param {readonly string[]} roots
 */
export function nearPath(path, roots) {
  const isBelow = (/** @type {string} */ root) =>
    path === root || /^[\\/]/.test(path.startsWith(root) ? path.slice(root.length) : "");
  const above = roots.filter(isBelow).sort((a, b) => a.length - b.length);
  return above.length > 0 ? path.slice(above[0].search(/[^\\/]*$/)) : path;
}

/**
 * What went wrong, to show.
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
