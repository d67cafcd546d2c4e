// What is shown before anything is asked: what can be searched here, and how to put in more.

import { find, make, makeButton } from "./dom.ts";
import { isPrivate, siteName } from "./session.ts";
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
  "Questions are answered in this page, from the parts of the index that each one touches.";
const ASKED =
  "Questions are answered in this page; their vectors come from the server that has the index.";
const PICKED = "It is read from the file that you picked; nothing is copied.";

/** Shows where one can begin. */
export function showStart(
  opened: Opened | null,
  names: readonly string[],
  open: (target: Target) => void,
  keep: () => void,
): void {
  find("start-heading", HTMLElement).textContent = headingOf(opened);
  const text = find("start-text", HTMLElement);
  text.textContent = textOf(opened);
  if (opened?.target.kind === "file") {
    text.append(" ", makeButton({ class: "quiet" }, "Keep it in this browser", keep));
  }
  const others = names.filter((name) => name !== opened?.index.name);
  const buttons = others.map((name) => {
    const isSite = name === siteName();
    const target: Target = isSite ? { kind: "site" } : { kind: "name", name };
    return makeButton({ class: "quiet chip" }, make("bdi", {}, isSite ? "This site" : name), () =>
      open(target),
    );
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
  return opened.status.vectors === "server" ? ASKED : REMOTE;
}
