// The server of this page answers: no engine is loaded here.

import { RemoteIndex } from "../../src/remote/remote_index.ts";
import type { Conflict, ServerStatus } from "../../src/remote/remote_index.ts";
import type { Backend, Beginning, Hooks, Opened } from "../backend.ts";
import { find, make } from "../dom.ts";
import type { Child } from "../dom.ts";
import type { Collected } from "../files.ts";
import { job, showNote, showReport } from "../job.ts";
import { optionsOf } from "../query.ts";
import { SITE, absolute } from "../site.ts";
import { knownToken, renewToken } from "../token.ts";
import { counted, isPassing, messageOf } from "../words.ts";
import { makeStatus } from "./status.ts";

const TARGET = { kind: "site" } as const;
const ZONE = "to add them to this index: they are sent to this server and kept there.";
const READ_ONLY = "This server takes no files: it is read-only.";
const EDGE = "This server takes no files: its index follows another server.";
const TEXT = "Your questions are answered by this server.";

interface ServerIndex extends Opened {
  status: ServerStatus | null;
  problem: unknown;
}

const index = new RemoteIndex(absolute(SITE.server), { known: knownToken, renew: renewToken });
let isOpen = false;
const opened: ServerIndex = {
  target: TARGET,
  get label() {
    return this.status?.name ?? "This server";
  },
  status: null,
  problem: null,
  isWordsOnly: false,
  search: (query, mode, signal) => index.search(query.question, { ...optionsOf(query), mode, signal }),
  context: (id, margin) => index.context(id, margin),
  titles: () => index.titles(),
};

export const server: Backend = {
  typingMs: 350,
  isNear: false,
  opened: () => (isOpen ? opened : null),
  open,
  refresh,
  stateOf: ({ status }) => {
    const isFresh = (status as ServerStatus).is_fresh;
    const fresh = isFresh ? "fresh" : "not fresh";
    return [`${counted(status?.documents ?? 0, "document")}, ${fresh}`, isFresh ? "good" : "old"];
  },
  beginning,
  panel,
  take,
  dropText: () => refusal() || `Drop to add them to “${opened.label}”`,
  mends: () => false,
  remediesOf: async (error, _, again) => {
    return isPassing(error) ? [{ label: "Try again", act: again }] : [];
  },
  targetOf: () => TARGET,
  paramsOf: () => ({}),
};

/** Shows what only the page of a server has, and hides what it has not. */
export function setUpServer(): void {
  find("foot", HTMLElement).hidden = false;
  find("pick-index", HTMLElement).hidden = true;
}

/** Questions need not wait until all files of the index were looked at. */
async function open(_: unknown, hooks: Hooks): Promise<void> {
  isOpen = true;
  hooks.opening();
  hooks.opened(TARGET);
  await refresh();
  hooks.refreshed();
}

async function refresh(): Promise<boolean> {
  const before = opened.status;
  try {
    opened.status = await index.status();
    opened.problem = null;
  } catch (error) {
    opened.problem = error;
  }
  return before !== null && before.chunks !== opened.status?.chunks;
}

async function beginning(): Promise<Beginning> {
  const { documents = 0, chunks = 0 } = opened.status ?? {};
  const counts = `${counted(documents, "document")}, ${counted(chunks, "chunk")}`;
  const command = make("code", {}, "gossamer add PATH");
  const isEmpty = chunks === 0;
  return {
    heading: isEmpty ? "This index is empty." : `${opened.label}: ${counts}`,
    text: isEmpty ? [command, " puts files into it."] : [TEXT],
    zone: refusal() === "" ? ZONE : "",
    others: [],
  };
}

async function panel(): Promise<Child[]> {
  await refresh();
  const { status, problem } = opened;
  if (status === null || problem !== null) throw problem;
  const fill = (conflicts: readonly Conflict[]) =>
    makeStatus(status, conflicts, (number) => index.conflict(number));
  // An index that nobody follows has no conflicts, and asking for them would begin a history.
  if (!status.bytes_by_part["sync"]) return fill([]);
  try {
    return fill(await index.conflicts());
  } catch (error) {
    const said = `Conflicts: ${messageOf(error)}`;
    return [...fill([]), make("p", { class: "problem", role: "alert" }, said)];
  }
}

/** Why no files are taken; "" if they are. */
function refusal(): string {
  if (SITE.readOnly !== "") return READ_ONLY;
  return Object.keys(opened.status?.follows ?? {}).length > 0 ? EDGE : "";
}

async function take({ files, notes }: Collected, hooks: Hooks): Promise<void> {
  if (refusal() !== "") return showNote(refusal(), false);
  await job(`Sending ${counted(files.length, "file")}`, async (tools) => {
    const report = await index.addFiles(files, tools);
    const { added, replaced, unchanged, failed } = report;
    const left = files.length - added - replaced - unchanged - failed.length;
    await refresh();
    hooks.opened(TARGET);
    const unsent = left > 0 ? [`cancelled: ${counted(left, "file")} not sent`] : [];
    showReport(report, opened.label, [...unsent, ...notes]);
  });
}
