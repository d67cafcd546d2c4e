// The indexes of this page: opened, made of files, exported, imported, deleted.

import { GossamerError } from "../../src/errors.ts";
import type { ChangeReport, GossamerIndex, PickedFile } from "../../src/index.ts";
import type { Hooks } from "../backend.ts";
import { make } from "../dom.ts";
import { isIndexFile } from "../files.ts";
import type { Collected } from "../files.ts";
import { job, showNote, showReport } from "../job.ts";
import type { JobTools } from "../job.ts";
import { recall, remember } from "../memory.ts";
import { SITE } from "../site.ts";
import type { Target } from "../site.ts";
import { counted, messageOf, reasonOf } from "../words.ts";
import { explained, freeName, gossamer, isPrivate, openIndex, titleOf } from "./session.ts";
import type { LocalIndex } from "./session.ts";

const LAST = "gossamer-last";
const ENDING = /\.gossamer$/i;
let current: LocalIndex | null = null;
let opening = new AbortController();
let pulling = Promise.resolve(); // one pull after the other

/** The index that is open; null for none. */
export function opened(): LocalIndex | null {
  return current;
}

/** Opens an index in place of the one that is open; if that fails, it stays open. Without an index of this
 * site, the one that was open last is. */
export async function open(wanted: Target, hooks: Hooks): Promise<void> {
  opening.abort();
  opening = new AbortController();
  const { signal } = opening;
  hooks.opening();
  let target = wanted;
  try {
    const found = await openOrLast(wanted, signal, (other) => (target = other));
    if (signal.aborted) return void found?.index.close();
    await replace(found);
    hooks.opened(found?.target ?? wanted);
    void update(hooks, false);
  } catch (error) {
    if (!signal.aborted) hooks.failed(explained(error, target), target);
  }
}

/** The names in storage; none where it cannot be used. */
export async function names(): Promise<string[]> {
  return gossamer()
    .then((worker) => worker.names())
    .catch(() => []);
}

/** Asks how the open index is now; see Backend. */
export async function refresh(): Promise<boolean> {
  const asked = current;
  if (!asked) return false;
  const { documents, chunks } = asked.status;
  try {
    asked.status = await asked.index.status();
    asked.problem = null;
  } catch (error) {
    asked.problem = error;
  }
  return documents !== asked.status.documents || chunks !== asked.status.chunks;
}

/** Brings an index that follows a server up to date; says so if it was asked for, or brought something. */
export function update(hooks: Hooks, isAsked: boolean): Promise<void> {
  pulling = pulling.then(() => pull(hooks, isAsked));
  return pulling;
}

async function pull(hooks: Hooks, isAsked: boolean): Promise<void> {
  const asked = current;
  if (!asked?.status.follows) return;
  try {
    const { documentsChanged, documentsRemoved, kind } = await asked.index.pull();
    if (current !== asked) return;
    await refresh();
    if (kind === "current" && isAsked) showNote(`“${asked.label}” is up to date.`);
    if (kind === "current") return;
    const told = [`${counted(documentsChanged, "document")} came`, `${documentsRemoved} went`];
    showNote(`“${asked.label}” was brought up to date: ${told.join(", ")}.`);
    hooks.opened(asked.target);
  } catch (error) {
    // Without a network it is searched as it was; another tab that pulls does it for this one too.
    const isPassing = ["Unreachable", "Locked"].includes(reasonOf(error));
    if (isAsked || !isPassing) showNote(messageOf(error), false);
  }
}

/** Lets go of the index that is open. */
export async function closeCurrent(): Promise<void> {
  await replace(null);
}

/** Puts files into the open index if it is a private one, else into a new one, which is opened; an index file
 * is opened itself. */
export async function take(collected: Collected, hooks: Hooks): Promise<void> {
  const [only, ...others] = collected.files;
  const isIndex = others.length === 0 && only?.file instanceof File && isIndexFile(only.file);
  if (isIndex) await open({ kind: "file", file: only.file as File }, hooks);
  else await addFiles(collected, hooks);
}

async function addFiles(collected: Collected, hooks: Hooks): Promise<void> {
  const { files, notes } = collected;
  const into = isPrivate(current) ? current : null;
  await job(`Indexing ${counted(files.length, "file")}`, async (tools) => {
    const name = into?.index.name ?? freeName(collected.name, await (await gossamer()).names());
    const report = into
      ? await into.index.addFiles(files, tools)
      : await makeIndex(name, files, tools);
    if (into) {
      await refresh();
      hooks.opened(into.target);
    } else if (report.chunks > 0) await open({ kind: "name", name }, hooks);
    // Last: who reads it may ask at once, and means what was added.
    showReport(report, name, [...replacedNotes(report, files), ...notes]);
  });
}

/** Copies an index file into storage and opens it there. */
export async function importFile(file: File, hooks: Hooks): Promise<void> {
  await job(`Importing ${file.name}`, async ({ signal }) => {
    const name = freeName(file.name.replace(ENDING, ""), await (await gossamer()).names());
    const index = await (await gossamer()).open(file, { name, signal });
    await index.close();
    await open({ kind: "name", name }, hooks);
    showNote(`“${name}” is in this browser now.`);
  });
}

/** Gives an index of storage as a file to the user. */
export async function exportNamed(name: string): Promise<void> {
  const title = titleOf(name);
  await job(`Exporting ${title}`, async () => {
    const isOpen = current?.index.name === name;
    const index = isOpen && current ? current.index : await (await gossamer()).open({ name });
    try {
      download(
        await index.export(),
        `${name.replace(/[^\p{L}\p{N}._ -]+/gu, "-").replace(ENDING, "")}.gossamer`,
      );
    } finally {
      if (!isOpen) await index.close();
    }
    showNote(`“${title}” was exported: \`gossamer import\` and this page read the file.`);
  });
}

/** Deletes an index from storage; says whether it was the open one, which is opened again if that fails. */
export async function removeNamed(name: string, hooks: Hooks): Promise<boolean> {
  const before = current?.index.name === name ? current.target : null;
  if (before) await replace(null);
  try {
    await (await gossamer()).remove(name);
  } catch (error) {
    if (before) await open(before, hooks);
    throw error;
  }
  showNote(`“${titleOf(name)}” was deleted.`);
  return before !== null;
}

async function openOrLast(
  target: Target,
  signal: AbortSignal,
  note: (target: Target) => void,
): Promise<LocalIndex | null> {
  try {
    if (target.kind !== "site" || SITE.index !== "") return await openIndex(target, signal);
  } catch (error) {
    if (target.kind !== "site" || reasonOf(error) !== "NoIndex") throw error;
  }
  const kept = await names();
  const last = recall(LAST);
  const name = kept.includes(last) ? last : kept[0];
  if (name === undefined || signal.aborted) return null;
  note({ kind: "name", name });
  return openIndex({ kind: "name", name }, signal);
}

async function replace(next: LocalIndex | null): Promise<void> {
  const old = current;
  current = next;
  if (next?.target.kind === "name") remember(LAST, next.target.name);
  // A worker that has ended has closed it already.
  await old?.index.close().catch(() => undefined);
}

/** A new index of files; nothing is left of it if that fails, or if there was nothing in them. */
async function makeIndex(
  name: string,
  files: readonly PickedFile[],
  tools: JobTools,
): Promise<ChangeReport> {
  const index = await emptyIndex(name, tools);
  let isWanted = false;
  try {
    const report = await index.addFiles(files, tools);
    isWanted = report.chunks > 0;
    return report;
  } finally {
    await index.close().catch(() => undefined);
    if (!isWanted) await (await gossamer()).remove(name).catch(() => undefined);
  }
}

async function emptyIndex(name: string, { signal }: JobTools): Promise<GossamerIndex> {
  try {
    return await (await gossamer()).build(name, [], { signal });
  } catch (error) {
    if (reasonOf(error) !== "NoIndex") throw error;
    const what =
      "indexing needs the file pocket.model.gossamer beside this page, and it is not there";
    throw new GossamerError(
      "MissingModel",
      `${what}; \`gossamer export --site\` and \`make web\` put it there`,
    );
  }
}

/** Files without a folder take the place of others of their name, which may be quite different ones. */
function replacedNotes({ replaced, failed }: ChangeReport, files: readonly PickedFile[]): string[] {
  const loose = files.filter(({ path }) => !path.includes("/"));
  if (replaced === 0 || loose.length === 0) return [];
  const names = loose.map(({ path }) => path).join(", ");
  const which = replaced + failed.length === files.length && names.length <= 200 ? `: ${names}` : "";
  return [`files of the same name that were there before are replaced${which}`];
}

function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
