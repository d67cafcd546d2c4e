// Links to where people read what was found, and the headings that it stands under.

import type { Hit } from "../src/index.ts";
import { make } from "./dom.ts";
import type { Child } from "./dom.ts";

/** The address if it is one of the web, else "": an index or a server may name any. */
export function safeAddress(url: string): string {
  if (url === "") return "";
  try {
    const { protocol } = new URL(url, location.href);
    return protocol === "https:" || protocol === "http:" ? url : "";
  } catch {
    return "";
  }
}

/** The title of a hit and the headings that it stands under, outermost first; none twice in a row. */
export function makePath({ title, headings }: Hit): Child[] {
  const words = [title, ...headings].filter((said, at, all) => said !== "" && said !== all[at - 1]);
  return words.flatMap((said, at) => [
    ...(at > 0 ? [" ", make("span", { class: "below", "aria-hidden": "true" }, "›"), " "] : []),
    make("bdi", {}, said),
  ]);
}

/** What leads to a place, if an address is known. */
export function linkTo(url: string, shown: HTMLElement): HTMLElement {
  const href = safeAddress(url);
  return href === "" ? shown : make("a", { href }, shown);
}
