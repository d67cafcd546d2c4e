// The form: a query is read from it and put into it.

import { find, make } from "./dom.ts";
import { FILTERS, readQuery } from "./query.ts";
import type { Query } from "./query.ts";

const form = find("form", HTMLFormElement);
let modeBefore = ""; // while only words are offered

/** What the form asks for. */
export function queryOfForm(): Query {
  const data = new FormData(form);
  const said = new URLSearchParams();
  for (const [name, value] of data) said.set(name, String(value).trim());
  return readQuery(said.toString());
}

/** Makes the form ask for this. */
export function setForm(query: Query): void {
  const set = (name: string, value: string) => {
    const control = form.elements.namedItem(name);
    if (control instanceof HTMLInputElement || control instanceof RadioNodeList)
      control.value = value;
  };
  set("q", query.question);
  set("mode", query.mode);
  for (const name of FILTERS) set(name, query[name]);
  const select = find("k", HTMLSelectElement);
  const isThere = Array.from(select.options).some((option) => option.value === String(query.k));
  if (!isThere) select.append(make("option", {}, String(query.k)));
  select.value = String(query.k);
  if (showFilterCount(query) > 0) find("filters", HTMLDetailsElement).open = true;
}

/** Offers words alone where nothing else can be searched by, else all modes, the one before chosen again. */
export function offerModes(wordsOnly: boolean): void {
  const radios = Array.from(form.querySelectorAll<HTMLInputElement>("input[name=mode]"));
  const isLimited = radios.some((radio) => radio.disabled);
  const chosen = radios.find((radio) => radio.checked)?.value ?? "";
  if (wordsOnly && !isLimited) modeBefore = chosen;
  const wanted = wordsOnly ? "lexical" : isLimited ? modeBefore : chosen;
  for (const radio of radios) {
    radio.disabled = wordsOnly && radio.value !== "lexical";
    radio.checked = radio.value === wanted;
  }
}

/** Says how many filters are set. */
export function showFilterCount(query: Query): number {
  const count = FILTERS.filter((name) => query[name] !== "").length;
  find("filter-count", HTMLElement).textContent = count ? `(${count})` : "";
  return count;
}
