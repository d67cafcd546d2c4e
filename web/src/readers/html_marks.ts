// Marks of furniture: roles, classes and labels of elements, and what a link shows. The twin of
// readers/html_marks.py.

import { stripEnd, stripStart } from "../text/python_text.ts";
import { unescapeHtml } from "./entities.ts";
import { attributesOf } from "./html_tags.ts";

/** What a tag says of its element: nothing; furniture; furniture if half of it is links; the main part. */
export const Mark = { None: 0, Firm: 1, Weak: 2, Main: 3 } as const;
export type Mark = (typeof Mark)[keyof typeof Mark];

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const ROLES = words(
  `navigation search contentinfo banner menu menubar toolbar tablist directory dialog alertdialog
   doc-toc doc-index doc-pagelist doc-backlink toc page-list landmarks`,
);
const FIRM_WORDS = words(
  `footer printfooter navheader navfooter breadcrumb breadcrumbs toctree sphinxsidebar catlinks
   editsection searchbox searchform linenodiv linenos skipnav skiplink toplang bottomlang
   genindextable modindextable`,
);
const WEAK_WORDS = words(
  `nav navbar navigation navlinks navlist navbox navpath navpanel topnav bottomnav subnav sidenav
   menu menubar mainmenu submenu toolbar sidebar sidebarwrapper crumb crumbs toc minitoc localtoc
   globaltoc tocwrapper pagination pager pagenav prevnext related relbar langlinks indextable
   jumptable skip`,
);
const NEGATIONS = words("no not has with without hide");
const NAMES = words("aside header"); // as weak as a class of such a name
const WORD = /[A-Z]?[a-z]+|[A-Z]+/g;

// Signs, and what fonts of icons have in their place.
const SIGNS = /^[\s\x1c-\x1f\x85¶#§◆◇∞☍⚓⛓🔗\ufe0f\u200b\ufeff\ue000-\uf8ff]+$/u;
const ANCHOR_WORDS = /headerlink|permalink|anchor|hash-?link|self-?link|sectionlink/i;
const WAY =
  /\s(?:accesskey\s*=|rel\s*=\s*["']?(?:next|prev|previous|up|start|first|last|contents|index)[\s"'>])/i;
const WAYS = words("next previous prev up home top contents index");
const SKIPS = /^\s*(?:skip|jump) to\s/i;
const MAX_MARKED_CHARS = 200;
const MAX_KEPT = 1024;
const known = new Map<string, Mark>();

/** What a tag is by its name and its attributes. */
export function markOf(name: string, attributes: string): Mark {
  const key = `${name} ${attributes}`;
  let mark = known.get(key);
  if (mark === undefined) {
    mark = findMark(name, attributes);
    if (known.size >= MAX_KEPT) known.clear();
    known.set(key, mark);
  }
  return mark;
}

/** Whether a link shows nothing but a sign to copy its target by, or leads over a menu. */
export function isAnchorMark(content: string, attributes: string, hasHeading: boolean): boolean {
  if (SKIPS.test(content)) return true;
  const said = wordsOf(content);
  return SIGNS.test(said) && (hasHeading || said.includes("¶") || ANCHOR_WORDS.test(attributes));
}

/** How surely a link leads to a page's neighbors: 2, 1 or 0. */
export function wayOf(content: string, attributes: string): number {
  if (WAY.test(attributes)) return 2;
  const said = wordsOf(content).toLowerCase();
  return WAYS.has(said.replace(/^[«»<>←→‹›|[\]() ]+|[«»<>←→‹›|[\]() ]+$/g, "")) ? 1 : 0;
}

function findMark(name: string, attributes: string): Mark {
  if (name === "main") return Mark.Main;
  const found = attributesOf(attributes);
  const value = (key: string): string => found.get(key) ?? "";
  const roles = `${value("role")} ${value("epub:type")}`.toLowerCase().split(/\s+/);
  if (roles.includes("main")) return Mark.Main;
  if (roles.some((role) => ROLES.has(role))) return Mark.Firm;
  let named = `${value("class")} ${value("aria-label")}`;
  // The id of a section is what its heading says.
  if (name !== "section" && !named.includes("section")) named += ` ${value("id")}`;
  const said = new Set<string>();
  for (const token of named.split(/\s+/)) {
    const parts = (token.match(WORD) ?? []).map((word) => word.toLowerCase());
    if (!NEGATIONS.has(parts[0] ?? "no")) for (const part of parts) said.add(part);
  }
  const hasAll = (...all: string[]): boolean => all.every((word) => said.has(word));
  const hasAny = (some: ReadonlySet<string>): boolean => [...said].some((word) => some.has(word));
  if (hasAll("contents", "topic") || hasAll("table", "of", "contents") || hasAny(FIRM_WORDS)) return Mark.Firm;
  return NAMES.has(name) || hasAny(WEAK_WORDS) ? Mark.Weak : Mark.None;
}

function wordsOf(content: string): string {
  if (content.length > MAX_MARKED_CHARS) return "";
  return stripEnd(stripStart(unescapeHtml(content.replace(/<[^>]*>/g, ""))));
}
