// Tags of HTML, found in one pass over any text: what is not closed goes on to the end, so nothing
// is looked at twice.

/** A tag, comment or declaration; the latter two have no name. */
export interface Tag {
  readonly begin: number;
  readonly end: number;
  readonly name: string; // in lower case
  readonly isEnd: boolean;
  readonly attributes: string;
}

const NAME = /(\/?)([a-zA-Z][^\s/>]*)/y;
const COMMENT_END = /--!?>/g;

/** The first tag at or after a place; null if there is none. */
export function nextTag(source: string, at: number): Tag | null {
  for (let begin = source.indexOf("<", at); begin >= 0; begin = source.indexOf("<", begin + 1)) {
    NAME.lastIndex = begin + 1;
    const found = NAME.exec(source);
    if (found) {
      const from = begin + 1 + found[0].length;
      const close = endOfAttributes(source, from);
      return {
        begin,
        end: Math.min(close + 1, source.length),
        name: (found[2] ?? "").toLowerCase(),
        isEnd: found[1] === "/",
        attributes: source.slice(from, close),
      };
    }
    const end = endOfOther(source, begin);
    if (end > 0) return { begin, end, name: "", isEnd: false, attributes: "" };
  }
  return null;
}

/** Where the `>` stands that ends a tag; one within quotes after `=` does not. */
function endOfAttributes(source: string, at: number): number {
  while (at < source.length) {
    const character = source[at];
    if (character === ">") return at;
    at += 1;
    if (character !== "=") continue;
    while (at < source.length && /\s/.test(source.charAt(at))) at += 1;
    const quote = source[at];
    if (quote !== '"' && quote !== "'") continue;
    const closing = source.indexOf(quote, at + 1);
    at = closing < 0 ? source.length : closing + 1;
  }
  return source.length;
}

/** Where a comment or declaration ends; 0 if none begins here. */
function endOfOther(source: string, begin: number): number {
  if (source.startsWith("!--", begin + 1)) {
    COMMENT_END.lastIndex = begin + 4;
    const found = COMMENT_END.exec(source);
    return found ? found.index + found[0].length : source.length;
  }
  if (!"!?/".includes(source[begin + 1] ?? " ")) return 0;
  const close = source.indexOf(">", begin + 2);
  return close < 0 ? source.length : close + 1;
}
