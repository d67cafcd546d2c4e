// The worker and the index that is open in it.

import { start } from "../src/index.ts";
import type { Gossamer, GossamerIndex, IndexStatus, OpenOptions } from "../src/index.ts";
import { recall, remember } from "./memory.ts";
import { askToken, knownToken } from "./token.ts";
import { reasonOf } from "./words.ts";

/** Which index: the one of this site, one at an address, one in storage, or a file that was picked. */
export type Target =
  | { readonly kind: "site" }
  | { readonly kind: "address"; readonly url: string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "file"; readonly file: File };

/** An index that is open. */
export interface Opened {
  readonly target: Target;
  readonly index: GossamerIndex;
  readonly label: string;
  status: IndexStatus;
}

/** Where this site's index is, and the server that has more of it; "" for none. */
export const SITE = { index: metaOf("gossamer-index"), server: metaOf("gossamer-server") } as const;

const BUDGET = "gossamer-budget";
const PAGE_MODELS = ["pocket"]; // models that run in a page

let running: Gossamer | null = null;

/** The worker, started when first asked for. */
export function gossamer(): Gossamer {
  running ??= start();
  return running;
}

/** Ends the worker, so that the next call starts another one. */
export function restart(): void {
  running?.close();
  running = null;
}

/** Opens an index; asks for the server's token where it is wanted. */
export async function openIndex(target: Target, signal: AbortSignal): Promise<Opened> {
  for (let token = knownToken(); ;) {
    try {
      return await openWith(target, token, signal);
    } catch (error) {
      const isRefused = reasonOf(error) === "WrongState" && /token/.test(String(error));
      if (!isRefused || SITE.server === "" || signal.aborted) throw error;
      const next = await askToken(token !== "");
      if (next === "") throw error;
      token = next;
    }
  }
}

/** Whether files can be added to an index: it is in this browser, and nowhere else. */
export function isPrivate(opened: Opened | null): boolean {
  return opened !== null && opened.index.name !== "" && opened.status.origin === "";
}

/** How the address of the page names a target; a picked file has no address. */
export function paramsOf(target: Target): Record<string, string> {
  if (target.kind === "address") return { index: target.url };
  return target.kind === "name" ? { name: target.name } : {};
}

/** The target that an address names. */
export function targetOf(search: string): Target {
  const said = new URLSearchParams(search);
  const [url, name] = [said.get("index"), said.get("name")];
  if (url) return { kind: "address", url };
  return name ? { kind: "name", name } : { kind: "site" };
}

/** What this site's index is called in storage, where parts of it are kept. */
export function siteName(): string {
  if (SITE.index === "") return "";
  const { host, pathname, search } = new URL(SITE.index, document.baseURI);
  return `${host}${pathname}${search}`;
}

/** Keeps how much memory vectors may take, for this and later visits. */
export async function keepBudget(opened: Opened, bytes: number): Promise<void> {
  remember(BUDGET, String(bytes));
  await opened.index.setMemoryBudget(bytes);
}

/** A name in storage that none of these is: "notes", "notes 2". */
export function freeName(wanted: string, taken: readonly string[]): string {
  const base = wanted.trim().slice(0, 100) || "My files";
  let name = base;
  for (let number = 2; taken.includes(name); number += 1) name = `${base} ${number}`;
  return name;
}

async function openWith(target: Target, token: string, signal: AbortSignal): Promise<Opened> {
  const asked = optionsFor(target, token, signal);
  const first = await openPlain(target, asked);
  const more = missingFor(first.status, asked);
  if (more === null) return first;
  await first.index.close();
  return openPlain(target, { ...asked, ...more });
}

async function openPlain(target: Target, options: OpenOptions): Promise<Opened> {
  const index = await gossamer().open(placeOf(target), options);
  try {
    const status = await index.status();
    return { target, index, label: labelOf(target, status), status };
  } catch (error) {
    await index.close();
    throw error;
  }
}

/** What an index needs besides, now that it is known which one it is. */
function missingFor(
  { model, origin }: IndexStatus,
  asked: OpenOptions,
): Partial<OpenOptions> | null {
  const isOfPages = PAGE_MODELS.includes(model);
  // A file that was brought here has no model beside it; the page does.
  if (isOfPages && origin === "") return { model: absolute(`${model}.model.gossamer`) };
  // A model that does not run in a page: its server embeds questions and gives vectors.
  return !isOfPages && asked.server ? { vectors: "server" } : null;
}

function optionsFor(target: Target, token: string, signal: AbortSignal): OpenOptions {
  const budget = Number(recall(BUDGET));
  // What is private must not come to the ears of a server.
  const isServed = target.kind === "site" || (target.kind === "name" && target.name === siteName());
  return {
    signal,
    ...(budget >= 1 << 20 ? { memoryBudget: budget } : {}),
    ...(isServed && SITE.server ? { server: { url: absolute(SITE.server), token } } : {}),
  };
}

function placeOf(target: Target): string | URL | File {
  if (target.kind === "name") return target.name;
  if (target.kind === "file") return target.file;
  return new URL(target.kind === "site" ? SITE.index : target.url, document.baseURI);
}

function labelOf(target: Target, status: IndexStatus): string {
  if (target.kind === "file") return target.file.name;
  const site = SITE.index === "" ? "" : absolute(SITE.index);
  if (status.origin !== "" && status.origin === site) return "This site";
  if (target.kind === "name" && status.origin === "") return target.name;
  return (
    decodeURIComponent(
      new URL(status.origin || document.baseURI).pathname.split("/").pop() ?? "",
    ) || status.name
  );
}

function absolute(url: string): string {
  return new URL(url, document.baseURI).href;
}

function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}
