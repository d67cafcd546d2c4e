// What is shown before anything is asked: what can be searched here, and how to put in more.

import { find, make, makeButton } from "./dom.ts";
import { isPrivate, siteName, titleOf } from "./session.ts";
import type { Opened, Target } from "./session.ts";
import { counted } from "./words.ts";

const section = find("start", HTMLElement);
const FIRST =
  "Gossamer searches files by what they mean, and this page does it by itself: what you drop here is read, " +
  "indexed and searched in this browser. Nothing is sent anywhere, and it is still here when you come back.";
const PRIVATE =
  "It is in this browser only: neither the files nor your questions are sent anywhere. " +
  "Drop more files to add them.";
const REMOTE =
  "Questions are answered in this page, from the parts of the index that each one touches; those are kept " +
  "in this browser.";
const ASKED =
  "Your questions are sent to this server, which embeds them; they are answered in this page.";
const FOLLOWED =
  "All of it is in this browser, where questions are answered, and it follows a server: it is " +
  "brought up to date when it is opened.";
const WORDS_ONLY = "Its model does not run in this page: it is searched by words only.";
const PICKED = "It is read from the file that you picked; nothing is copied.";

/** Shows where one can begin. */
export function showStart(
  opened: Opened | null,
  names: readonly string[],
  open: (target: Target) => void,
  acts: { keep(): void; update(): void },
): void {
  find("start-heading", HTMLElement).textContent = headingOf(opened);
  const text = find("start-text", HTMLElement);
  text.textContent = textOf(opened);
  if (opened?.target.kind === "file") {
    text.append(" ", makeButton({ class: "quiet" }, "Keep it in this browser", () => acts.keep()));
  } else if (opened?.status.follows) {
    text.append(" ", makeButton({ class: "quiet" }, "Update", () => acts.update()));
  }
  const others = names.filter((name) => name !== opened?.index.name);
  const buttons = others.map((name) => {
    const target: Target = name === siteName() ? { kind: "site" } : { kind: "name", name };
    return makeButton({ class: "quiet chip" }, make("bdi", {}, titleOf(name)), () => open(target));
  });
  find("kept", HTMLElement).replaceChildren(
    ...(buttons.length > 0
      ? [make("h3", {}, "Also in this browser"), make("p", { class: "choices" }, ...buttons)]
      : []),
  );
  section.hidden = false;
}

/** Shows that something was asked instead. */
export function hideStart(): void {
  section.hidden = true;
}

function headingOf(opened: Opened | null): string {
  if (!opened) return "Search your own files, in this page";
  const { documents, chunks } = opened.status;
  if (chunks === 0) return `“${opened.label}” is empty`;
  return `${opened.label}: ${counted(documents, "document")}, ${counted(chunks, "chunk")}`;
}

function textOf(opened: Opened | null): string {
  if (!opened) return FIRST;
  if (opened.status.chunks === 0) return isPrivate(opened) ? "Drop files to put something in." : "";
  if (opened.target.kind === "file") return PICKED;
  if (isPrivate(opened)) return PRIVATE;
  const { follows, vectors } = opened.status;
  const whose = opened.host === "" ? "" : `This index is not of this site: it comes from ${opened.host}. `;
  const limits = opened.isWordsOnly ? ` ${WORDS_ONLY}` : "";
  return `${whose}${follows ? FOLLOWED : vectors === "server" ? ASKED : REMOTE}${limits}`;
}
