// The title of a page, without the name of its site that all pages of the site share. The twin of
// readers/html_title.py.

const SEPARATOR = /\s*[|»«›‹·•—]\s*|\s+[-–~:]\s+|:\s+/g;
const NO_LETTERS = /[\x00-/:-@[-`{-\x7f]+/g;

/** The part of a title that is a heading of the page, or what is not the site's name. */
export function titleOf(title: string, headings: readonly string[], sites: readonly string[]): string {
  const cuts = [...title.matchAll(SEPARATOR)].map((found): [number, number] => [
    found.index,
    found.index + found[0].length,
  ]);
  const said = new Set(headings.map(lettersOf));
  const parts = [...cuts.map(([begin]) => title.slice(0, begin)), ...cuts.map(([, end]) => title.slice(end))];
  for (const part of parts) if (lettersOf(part) && said.has(lettersOf(part))) return part;
  for (const [begin, end] of [...cuts].reverse()) {
    if (begin && isNamed(title.slice(end), sites)) return title.slice(0, begin);
  }
  const first = cuts[0];
  return first && isNamed(title.slice(0, first[0]), sites) ? title.slice(first[1]) || title : title;
}

function isNamed(part: string, sites: readonly string[]): boolean {
  const letters = lettersOf(part);
  // "Search within Python 3.11 documentation" names a site, too.
  return letters !== "" && sites.some((site) => lettersOf(site).endsWith(letters));
}

function lettersOf(words: string): string {
  return words.replace(NO_LETTERS, "").toLowerCase();
}
