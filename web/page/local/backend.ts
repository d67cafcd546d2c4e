// This page answers: a worker searches indexes in the browser, or at an address.

import type { Backend, Beginning, Hooks, Remedy } from "../backend.ts";
import { makeButton } from "../dom.ts";
import { pick } from "../picking.ts";
import { SITE } from "../site.ts";
import type { Target } from "../site.ts";
import { knownToken } from "../token.ts";
import { counted, isPassing, reasonOf } from "../words.ts";
import { panel } from "./actions.ts";
import * as indexes from "./indexes.ts";
import { isPrivate, isRefused, isServed, paramsOf, restart, siteName, targetOf, titleOf } from "./session.ts";
import type { LocalIndex } from "./session.ts";

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
const ZONE = "to search them privately: they are read by this page and stay in this browser.";
const LOST: readonly string[] = ["NoIndex", "Damaged", "Truncated"];

export const local: Backend = {
  typingMs: 60,
  isNear: true,
  opened: indexes.opened,
  open: indexes.open,
  refresh: indexes.refresh,
  stateOf: ({ status }) => [counted(status?.documents ?? 0, "document"), "good"],
  beginning,
  panel,
  take: indexes.take,
  dropText: () => {
    const opened = indexes.opened();
    if (opened && isPrivate(opened)) return `Drop to add them to “${opened.label}”`;
    return "Drop to make an index of them in this browser";
  },
  // With another token where the server's has changed.
  mends: (error, { target }, hooks) => {
    if (!isRefused(error) || !isServed(target) || knownToken() === "") return false;
    void indexes.open(target, hooks);
    return true;
  },
  remediesOf,
  targetOf,
  paramsOf,
};

/** Takes the index files that are picked. */
export function setUpIndexFiles(hooks: Hooks): void {
  const open = ([file]: File[]) => file && void indexes.open({ kind: "file", file }, hooks);
  pick("index-input", open, "pick-index");
  pick("import-input", ([file]) => file && void indexes.importFile(file, hooks));
}

async function beginning(hooks: Hooks): Promise<Beginning> {
  const names = await indexes.names();
  const opened = indexes.opened();
  const others = names.filter((name) => name !== opened?.index.name);
  return {
    heading: headingOf(opened),
    text: [textOf(opened), ...buttonsFor(opened, hooks)],
    zone: ZONE,
    others: others.map((name) => {
      return [titleOf(name), name === siteName() ? { kind: "site" } : { kind: "name", name }];
    }),
  };
}

function headingOf(opened: LocalIndex | null): string {
  if (!opened) return "Search your own files, in this page";
  const { documents, chunks } = opened.status;
  if (chunks === 0) return `“${opened.label}” is empty`;
  return `${opened.label}: ${counted(documents, "document")}, ${counted(chunks, "chunk")}`;
}

function textOf(opened: LocalIndex | null): string {
  if (!opened) return FIRST;
  if (opened.status.chunks === 0) return isPrivate(opened) ? "Drop files to put something in." : "";
  if (opened.target.kind === "file") return PICKED;
  if (isPrivate(opened)) return PRIVATE;
  const { follows, vectors } = opened.status;
  const whose = opened.host === "" ? "" : `This index is not of this site: it comes from ${opened.host}. `;
  const limits = opened.isWordsOnly ? ` ${WORDS_ONLY}` : "";
  return `${whose}${follows ? FOLLOWED : vectors === "server" ? ASKED : REMOTE}${limits}`;
}

function buttonsFor(opened: LocalIndex | null, hooks: Hooks): (string | HTMLElement)[] {
  const button = (label: string, act: () => void) => [" ", makeButton({ class: "quiet" }, label, act)];
  if (opened?.target.kind === "file") {
    const { file } = opened.target;
    return button("Keep it in this browser", () => void indexes.importFile(file, hooks));
  }
  return opened?.status.follows ? button("Update", () => void indexes.update(hooks, true)) : [];
}

/** What can be done about a failure of an index. */
async function remediesOf(
  error: unknown,
  target: Target,
  again: () => void,
  hooks: Hooks,
): Promise<Remedy[]> {
  const reason = reasonOf(error);
  const toSite = () => void indexes.open({ kind: "site" }, hooks);
  const remedies: Remedy[] = [];
  if (reason === "WrongState" && /worker/.test(String(error))) {
    const act = () => {
      restart();
      void indexes.closeCurrent().then(() => indexes.open(target, hooks));
    };
    remedies.push({ label: "Start again", act });
  } else if (isPassing(error)) remedies.push({ label: "Try again", act: again });
  const isLost = LOST.includes(reason);
  if (isLost && target.kind === "name" && (await indexes.names()).includes(target.name)) {
    const forget = () => void indexes.removeNamed(target.name, hooks).catch(() => false).then(toSite);
    remedies.push({ label: "Delete what is left", act: forget });
  }
  if (isLost && target.kind !== "site" && SITE.index !== "")
    remedies.push({ label: "Search this site instead", act: toSite });
  return remedies;
}
