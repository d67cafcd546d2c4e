// Ids of a page that lead to its headings: a heading's own, or that of what begins just above. The
// twin of readers/html_ids.py.

import { unescapeHtml } from "./entities.ts";
import { attributesOf, type Tag } from "./html_tags.ts";

/** The name by which a link leads to an element; "" if it has none. */
export function idOf(tag: Tag): string {
  const isMark = tag.name === "a" && tag.attributes.includes("name");
  if (!isMark && !tag.attributes.toLowerCase().includes("id")) return "";
  const found = attributesOf(tag.attributes);
  return unescapeHtml(found.get("id") || (tag.name === "a" ? (found.get("name") ?? "") : ""));
}

/** The id that leads to what comes next, as long as no text comes between.
 *
 * That of a section is preferred to one that marks a place, and this to any other: a section of
 * Sphinx has the id that its title gives it, and the labels that stand in it. */
export class IdAbove {
  private id = "";
  private rank = 0;
  private at = -1;

  /** Takes the id of an element that begins where so much text was written. */
  note(tag: Tag, id: string, at: number): void {
    const named = attributesOf(tag.attributes).get("class") ?? "";
    const isSection = tag.name === "section" || tag.name === "article" || named.includes("section");
    const rank = isSection ? 3 : tag.name === "a" || tag.name === "span" ? 2 : 1;
    if (at !== this.at || rank >= this.rank) [this.id, this.rank, this.at] = [id, rank, at];
  }

  /** The id that leads to where so much text was written. */
  take(at: number): string {
    return at === this.at ? this.id : "";
  }
}
