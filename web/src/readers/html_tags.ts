// Tags of HTML, found in one pass over any text: what is not closed goes on to the end, so nothing
// is looked at twice. The twin of readers/html_tags.py.

/** A tag, comment or declaration; the latter two have no name. */
export interface Tag {
  readonly begin: number;
  readonly end: number; // of an element whose content is no markup: where the element ends
  readonly name: string; // in lower case
  readonly isEnd: boolean;
  readonly isEmpty: boolean; // an element without content, as XML writes it
  readonly attributes: string;
  readonly inner: readonly [number, number]; // the content that is no markup
}

export const MAX_ATTRIBUTE_CHARS = 4096;
const ATTRIBUTE = /([\w:-]{1,64})\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/dg;
const XML_BEGIN = /^(?:\ufeff?\s*<\?xml|[^>]{0,512}<html[^>]{0,512}xmlns=)/i;
// Their content is not markup: it ends at their end tag and nowhere else.
const RAW = new Map(
  "script style title textarea iframe noembed noframes xmp"
    .split(" ")
    .map((name): [string, RegExp] => [name, new RegExp(`</${name}(?=[\\s/>])[^>]*>?`, "gi")]),
);
const NOTHING = [0, 0] as const;
// Low halves of pairs are no letters of their own.
const NO_LETTERS = /&#?[a-zA-Z0-9]{1,32};|[\x00-%'-/:-@[-`{-\x7f\udc00-\udfff]+|&/g;

const NAME = /(\/?)([a-zA-Z][^\s/>]*)/y;
const COMMENT_END = /--!?>/g;

/** Whether elements can be closed with a slash, which HTML ignores. */
export function isXhtml(source: string): boolean {
  return XML_BEGIN.test(source);
}

/** How many letters and digits a text has; entities are none. */
export function lettersIn(text: string): number {
  return text.replace(NO_LETTERS, "").length;
}

/** The attributes of a tag, by names in lower case. */
export function attributesOf(source: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const match of source.slice(0, MAX_ATTRIBUTE_CHARS).matchAll(ATTRIBUTE)) {
    found.set((match[1] ?? "").toLowerCase(), match[2] || match[3] || match[4] || "");
  }
  return found;
}

/** Where in the source the value of an attribute begins, or its tag if it has none. */
export function placeOfAttribute(tag: Tag, name: string): number {
  const before = tag.begin + 1 + tag.name.length;
  let place = tag.begin;
  for (const match of tag.attributes.slice(0, MAX_ATTRIBUTE_CHARS).matchAll(ATTRIBUTE)) {
    if (match[1]?.toLowerCase() !== name) continue;
    const value = match.indices?.[2] ?? match.indices?.[3] ?? match.indices?.[4];
    if (value) place = before + value[0];
  }
  return place;
}

/** The first tag at or after a place; null if there is none. */
export function nextTag(source: string, at: number, isXml: boolean): Tag | null {
  for (let begin = source.indexOf("<", at); begin >= 0; begin = source.indexOf("<", begin + 1)) {
    NAME.lastIndex = begin + 1;
    const found = NAME.exec(source);
    if (found) {
      const from = begin + 1 + found[0].length;
      const close = endOfAttributes(source, from);
      const name = (found[2] ?? "").toLowerCase();
      const attributes = source.slice(from, close);
      const isEmpty = isXml && attributes.endsWith("/");
      const end = Math.min(close + 1, source.length);
      const tag = { begin, end, name, isEnd: found[1] === "/", isEmpty, attributes, inner: NOTHING };
      const pattern = tag.isEnd || isEmpty ? undefined : RAW.get(name);
      return pattern ? rawElement(source, tag, pattern) : tag;
    }
    const end = endOfOther(source, begin);
    if (end > 0) {
      return { begin, end, name: "", isEnd: false, isEmpty: false, attributes: "", inner: NOTHING };
    }
  }
  return null;
}

/** An element whose content is no markup, from its begin tag on. */
function rawElement(source: string, tag: Tag, pattern: RegExp): Tag {
  pattern.lastIndex = tag.end;
  const closing = pattern.exec(source);
  const end = closing ? closing.index + closing[0].length : source.length;
  return { ...tag, end, inner: [tag.end, closing ? closing.index : source.length] };
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
