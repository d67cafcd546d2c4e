// What is shown before anything is asked: what can be searched here, how to put in more, and what to ask.

import type { Beginning, Opened } from "./backend.ts";
import { find, make, makeButton } from "./dom.ts";
import type { Child } from "./dom.ts";
import { hasWord } from "./query.ts";
import { SITE } from "./site.ts";
import type { Target } from "./site.ts";

const MOST_EXAMPLES = 4;
const MOST_LETTERS = 60;
const section = find("start", HTMLElement);
const examples = new WeakMap<Opened, Promise<readonly string[]>>();
let latest: Opened | null = null; // whose examples are wanted

/** Shows where one can begin. */
export function showStart(beginning: Beginning, open: (target: Target) => void): void {
  const { heading, text, zone, others } = beginning;
  find("start-heading", HTMLElement).textContent = heading;
  find("start-text", HTMLElement).replaceChildren(...text);
  find("zone", HTMLElement).hidden = zone === "";
  find("zone-text", HTMLElement).textContent = zone;
  const chips = others.map(([title, target]) => makeChip(title, () => open(target)));
  fill("kept", "Also in this browser", chips);
  section.hidden = false;
}

/** Shows that something was asked instead. */
export function hideStart(): void {
  section.hidden = true;
}

/** Offers what the site says can be asked, or else titles of what is in the index. */
export async function showExamples(opened: Opened | null, ask: (question: string) => void): Promise<void> {
  latest = opened;
  const found = opened?.status?.chunks ? await examplesOf(opened) : [];
  if (latest !== opened) return;
  const chips = found.map((question) => makeChip(question, () => ask(question)));
  fill("examples", "For example", chips);
}

function examplesOf(opened: Opened): Promise<readonly string[]> {
  const own = SITE.examples.split("|").map((question) => question.trim());
  if (opened.target.kind === "site" && own.some(hasWord)) return Promise.resolve(own.filter(hasWord));
  // Without titles there are no examples; what is wrong is said when something is asked.
  const titles = examples.get(opened) ?? opened.titles().then(fitting, () => []);
  examples.set(opened, titles);
  return titles;
}

/** Titles that can be asked as they are, from all over the index. */
function fitting(titles: readonly string[]): readonly string[] {
  const short = titles.filter((title) => hasWord(title) && title.length <= MOST_LETTERS);
  const step = Math.max(1, Math.floor(short.length / MOST_EXAMPLES));
  return short.filter((_, at) => at % step === 0).slice(0, MOST_EXAMPLES);
}

function makeChip(label: string, press: () => void): HTMLElement {
  return makeButton({ class: "quiet chip" }, make("bdi", {}, label), press);
}

function fill(id: string, heading: string, chips: readonly Child[]): void {
  const content = [make("h3", {}, heading), make("p", { class: "choices" }, ...chips)];
  find(id, HTMLElement).replaceChildren(...(chips.length > 0 ? content : []));
}
