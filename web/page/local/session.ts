// The worker and the index that is open in it.

import { GossamerError } from "../../src/errors.ts";
import type { Gossamer, GossamerIndex, IndexStatus, OpenOptions } from "../../src/index.ts";
import { loadPart } from "../../src/lazy.ts";
import type { Opened } from "../backend.ts";
import { recall, remember } from "../memory.ts";
import { optionsOf } from "../query.ts";
import { SITE, absolute, hostOf } from "../site.ts";
import type { Target } from "../site.ts";
import { knownToken, renewToken } from "../token.ts";
import { reasonOf } from "../words.ts";

/** An index that is open in the worker. */
export interface LocalIndex extends Opened {
  readonly index: GossamerIndex;
  readonly host: string; // another one than this site's that it comes from; "" for none
  status: IndexStatus;
  problem: unknown;
}

const BUDGET = "gossamer-budget";
const PAGE_MODELS = ["pocket"]; // models that run in a page

let running: Promise<Gossamer> | null = null;

/** The worker, loaded and started when first asked for. */
export function gossamer(): Promise<Gossamer> {
  running ??= loadPart(import("../../src/index.ts")).then(({ start }) => start());
  running.catch(() => (running = null)); // the next call tries again
  return running;
}

/** Ends the worker, so that the next call starts another one. */
export function restart(): void {
  void running?.then((old) => old.close());
  running = null;
}

/** Opens an index; asks for the server's token where it is wanted. */
export async function openIndex(target: Target, signal: AbortSignal): Promise<LocalIndex> {
  for (let token = knownToken(); ;) {
    try {
      return await openWith(target, token, signal);
    } catch (error) {
      if (!isRefused(error) || !isServed(target) || signal.aborted) throw error;
      token = await renewToken(token);
      if (token === "") throw error;
    }
  }
}

/** Whether a server wants a token, or another one than it was given. */
export function isRefused(error: unknown): boolean {
  return reasonOf(error) === "WrongState" && /token/.test(String(error));
}

/** Whether this site's server is asked for what an index needs: never for what is private, or of others. */
export function isServed(target: Target): boolean {
  const isSite = target.kind === "site" || (target.kind === "name" && target.name === siteName());
  return isSite && SITE.server !== "";
}

/** An error of opening, with what may be behind it where the index is on another host. */
export function explained(error: unknown, target: Target): unknown {
  if (target.kind !== "address" || reasonOf(error) !== "Unreachable") return error;
  if (hostOf(absolute(target.url)) === "") return error;
  const said = error instanceof Error ? error.message : String(error);
  const why =
    "either it does not answer, or it does not let other sites read (Access-Control-Allow-Origin), or the " +
    "policy of this page lets it ask its own host only (connect-src)";
  return new GossamerError("Unreachable", `${said} (another host: ${why})`);
}

/** Whether files can be added to an index: it is in this browser, and nowhere else. */
export function isPrivate(opened: LocalIndex | null): boolean {
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
  if (url) return isSite(url) ? { kind: "site" } : { kind: "address", url };
  return name ? { kind: "name", name } : { kind: "site" };
}

/** What this site's index is called in storage, where parts of it are kept. */
export function siteName(): string {
  if (SITE.index === "") return "";
  const { host, pathname, search } = new URL(SITE.index, document.baseURI);
  return `${host}${pathname}${search}`;
}

/** What people know a name in storage by. */
export function titleOf(name: string): string {
  return name === siteName() ? "This site" : name;
}

/** Keeps how much memory vectors may take, for this and later visits. */
export async function keepBudget(opened: LocalIndex, bytes: number): Promise<void> {
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

async function openWith(target: Target, token: string, signal: AbortSignal): Promise<LocalIndex> {
  const asked = optionsFor(target, token, signal);
  const first = await openPlain(target, asked);
  const more = missingFor(first.status, asked);
  if (more === null) return first;
  await first.index.close();
  return openPlain(target, { ...asked, ...more });
}

async function openPlain(target: Target, options: OpenOptions): Promise<LocalIndex> {
  const index = await (await gossamer()).open(placeOf(target), options);
  try {
    const status = await index.status();
    const host = hostOf(status.follows ? "" : status.origin);
    const label = labelOf(target, status);
    return { target, index, status, host, label, problem: null, isWordsOnly: false, ...questionsTo(index) };
  } catch (error) {
    await index.close();
    throw error;
  }
}

function questionsTo(index: GossamerIndex): Pick<Opened, "search" | "context" | "titles"> {
  return {
    search: (query, mode, signal) => index.search(query.question, { ...optionsOf(query), mode, signal }),
    context: (id, margin) => index.context(id, margin),
    titles: () => index.titles(),
  };
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
  return {
    signal,
    ...(budget >= 1 << 20 ? { memoryBudget: budget } : {}),
    ...(isServed(target) ? { server: { url: absolute(SITE.server), token } } : {}),
  };
}

function placeOf(target: Target): URL | File | { name: string } {
  if (target.kind === "name") return { name: target.name };
  if (target.kind === "file") return target.file;
  return new URL(absolute(target.kind === "site" ? SITE.index : target.url));
}

/** What an index is called. One of another host never goes by a name alone: that could be any. */
function labelOf(target: Target, { origin, follows, name }: IndexStatus): string {
  if (target.kind === "file") return target.file.name;
  if (origin === "" || follows) return target.kind === "name" ? target.name : name;
  if (isSite(origin)) return "This site";
  const file = decoded(new URL(origin).pathname.split("/").pop() ?? "") || name;
  const host = hostOf(origin);
  return host === "" ? file : `${host}/${file}`;
}

function isSite(url: string): boolean {
  return SITE.index !== "" && URL.canParse(url, document.baseURI) && absolute(url) === absolute(SITE.index);
}

/** A part of an address as people read it, without what turns the direction of text. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part).replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
  } catch {
    return part; // a % that begins nothing
  }
}
