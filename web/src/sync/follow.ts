// An edge in the browser: an index in storage that follows a server's, by packages. The twin of
// python/gossamer/sync/follow.py.

import { GossamerError } from "../errors.ts";
import type { Reason } from "../errors.ts";
import type { Manifest, ModelStamp } from "../format/manifest.ts";
import { cleanUrl, Client, type ServerInfo } from "../server/client.ts";
import { baseOf, followingOf, manifestIn, readFollowing, saveFollowing } from "../server/following.ts";
import type { Following } from "../server/following.ts";
import { checkTexts, parseMode, PROTOCOL } from "../server/records.ts";
import type { Base, PullReport, Texts } from "../server/records.ts";
import type { Folder } from "../storage/storage.ts";
import { safeProgress } from "../update/pause.ts";
import { applyPackage, renameOrigin } from "./apply.ts";
import type { Applied, ApplyTools } from "./apply.ts";
import { download } from "./download.ts";
import type { DownloadOptions } from "./download.ts";
import { readPackage } from "./package.ts";
import type { Package } from "./package.ts";
import { forgetPart } from "./part.ts";

export type { PullReport } from "../server/records.ts";

/** What is asked of `follow`; what is left out is as it was chosen before, or the usual. */
export interface FollowWish {
  readonly token?: string;
  readonly keepsToken?: boolean; // whether the token is written down; true
  readonly mode?: string; // "codes" (the usual), "slim", "slim:int8", "slim:f16:8"
  readonly texts?: Texts; // "kept" (the usual) or "away"
}

export interface PullWish {
  readonly token?: string; // in place of the one that was written down, if any was
  readonly again?: boolean; // from nothing, also back to an older state
}

/** What packages are applied with. */
export interface FollowTools extends DownloadOptions {
  readonly builder: ApplyTools["builder"];
  readonly chunks: ApplyTools["chunks"];
  /** Codebook and calibration that ship with a model. MissingModel if they are not to be had. */
  readonly pack: (model: ModelStamp, server: { url: string; token: string }) => Promise<Uint8Array>;
  readonly fetch?: typeof fetch;
}

// What a package is that was damaged on its way, or was never what it should be.
const UNFIT: readonly Reason[] = ["Damaged", "Truncated", "NotGossamer", "TooLarge"];

/** Lets a folder follow a server, and pulls: a new or empty folder, or one that follows this index already.
 *
 * WrongState for a folder that holds anything else; Unreachable if the server does not answer: what is
 * there stays as it was, and what came of a package is kept for the next time. Locked if another tab
 * changes or pulls the index. */
export async function follow(
  folder: Folder,
  url: string,
  wish: FollowWish,
  tools: FollowTools,
): Promise<PullReport> {
  const address = cleanUrl(url);
  return folder.whileWriting(async () => {
    const manifest = await manifestIn(folder);
    const known = await followingOf(folder, manifest);
    const following: Following = {
      url: address,
      token: wish.token || (await rememberedToken(folder, address)),
      keepsToken: wish.keepsToken ?? known?.keepsToken ?? true,
      mode: parseMode(wish.mode ?? known?.mode ?? "codes"),
      texts: checkTexts(wish.texts ?? known?.texts ?? "kept"),
    };
    const client = new Client(address, { token: following.token, fetch: tools.fetch });
    const info = await client.info(tools.signal);
    checkProtocol(info.protocol);
    checkFolder(folder.name, manifest, info, address);
    await saveFollowing(folder, following);
    return pullWith({ folder, following, client, tools, again: false }, info);
  });
}

/** Brings an edge up to date, by a delta where that is possible. NoIndex if there is none, WrongState if it
 * follows no server; otherwise as `follow`. */
export async function pull(folder: Folder, wish: PullWish, tools: FollowTools): Promise<PullReport> {
  return folder.whileWriting(async () => {
    const manifest = await manifestIn(folder);
    const known = await followingOf(folder, manifest);
    if (!known) throw followsNobody(folder.name, manifest);
    const following = wish.token ? { ...known, token: wish.token } : known;
    const client = new Client(following.url, { token: following.token, fetch: tools.fetch });
    const info = await client.info(tools.signal);
    checkProtocol(info.protocol);
    if (following.token !== known.token) await saveFollowing(folder, following); // the server has taken it
    return pullWith({ folder, following, client, tools, again: wish.again ?? false }, info);
  });
}

interface Pulling {
  readonly folder: Folder;
  readonly following: Following;
  readonly client: Client;
  readonly tools: FollowTools;
  readonly again: boolean;
}

async function pullWith(pulling: Pulling, info: ServerInfo): Promise<PullReport> {
  const { folder, following, client, again } = pulling;
  const manifest = await manifestIn(folder);
  const { mode, texts } = manifest?.origin ?? {};
  const isSame = mode === following.mode && texts === following.texts;
  const base = again || !isSame ? null : baseOf(manifest);
  checkServer(client, info, manifest, base);
  try {
    return await run(pulling, base, info.epoch);
  } catch (error) {
    if (!isUnfit(error)) throw error;
    if (!base) throw givenUp(client, error);
    // Once: a snapshot, which also mends an edge of whose files storage has lost some.
    return { ...(await run(pulling, null, info.epoch).catch(rethrow(client))), fellBack: error.message };
  }
}

/** Fetches and applies what leads from a base to the newest version. */
async function run(pulling: Pulling, base: Base | null, epoch: string): Promise<PullReport> {
  const { folder, following, client, again } = pulling;
  const tools = { ...pulling.tools, onProgress: safeProgress(pulling.tools.onProgress) };
  const own = baseOf(await manifestIn(folder));
  const wanted = { mode: following.mode, texts: following.texts, base };
  const bytes = await download(client, folder, wanted, tools);
  if (!bytes) {
    await renameOrigin(folder, following.url, epoch);
    return current(own?.version ?? 0);
  }
  try {
    const pkg = await readPackage(await tools.chunks(), bytes, following.token);
    const { builder, chunks, onProgress, signal } = tools;
    const pack: ApplyTools["pack"] = (model) => tools.pack(model, following);
    const applying = { url: following.url, builder, chunks, pack, mayGoBack: again, onProgress, signal };
    const applied = await applyPackage(folder, pkg, wanted, applying);
    await forgetPart(folder);
    return reportOf(pkg, applied, own);
  } catch (error) {
    // What could not be finished for other reasons than its own is good for another time.
    if (isUnfit(error) || isOf(error, "WrongState", "UnknownVersion", "Unwritable")) await forgetPart(folder);
    throw error;
  }
}

function reportOf({ head, size }: Package, applied: Applied, own: Base | null): PullReport {
  return {
    kind: head.kind,
    fromVersion: own?.version ?? 0,
    version: head.version,
    bytesReceived: size,
    bytesBySection: Object.fromEntries(head.sections.map((entry) => [entry.name, entry.size])),
    documentsChanged: applied.documentsChanged,
    documentsRemoved: applied.documentsRemoved,
    // A snapshot brings all that ever were; those of others' pasts are no news.
    conflicts: applied.conflicts.filter(({ version }) => head.base || (own && version > own.version)),
    fellBack: "",
  };
}

function current(version: number): PullReport {
  return {
    kind: "current",
    fromVersion: version,
    version,
    bytesReceived: 0,
    bytesBySection: {},
    documentsChanged: 0,
    documentsRemoved: 0,
    conflicts: [],
    fellBack: "",
  };
}

/** The token that was written down: for the server that it was given for, no other. */
async function rememberedToken(folder: Folder, url: string): Promise<string> {
  const known = await readFollowing(folder);
  return known?.url === url ? known.token : "";
}

function checkFolder(name: string, manifest: Manifest | null, info: ServerInfo, url: string): void {
  if (!manifest) return;
  if (Object.keys(manifest.origin).length === 0) {
    throw new GossamerError(
      "WrongState",
      `there is an index named ${name} that follows no server; choose another name`,
    );
  }
  if (manifest.origin["index"] !== info.index) {
    throw new GossamerError(
      "WrongState",
      `${name} follows another index (${String(manifest.origin["url"])}) than the one at ${url}; choose ` +
        "another name, or remove this one",
    );
  }
}

/** Refuses a server that has another index now, or has gone back in time. */
function checkServer(client: Client, info: ServerInfo, manifest: Manifest | null, base: Base | null): void {
  const followed = manifest?.origin["index"];
  if (manifest && info.index !== followed) {
    throw new GossamerError(
      "WrongState",
      `there is another index at ${client.url} now (${info.index}) than the one that was followed ` +
        `(${String(followed)}); pull it under another name`,
    );
  }
  if (base && info.version < base.version) {
    throw new GossamerError(
      "WrongState",
      `the server at ${client.url} is at version ${info.version} and this edge at ${base.version}: the ` +
        "server was put back to an older state. Pulling with `again: true` takes that state, and what " +
        "came later is gone from here too",
    );
  }
}

function checkProtocol(protocol: number): void {
  if (protocol === PROTOCOL) return;
  throw new GossamerError(
    "UnknownVersion",
    `the server speaks version ${protocol} of the protocol, and this release ${PROTOCOL}; ` +
      "bring the older of the two up to date",
  );
}

function followsNobody(name: string, manifest: Manifest | null): GossamerError {
  if (!manifest) return new GossamerError("NoIndex", `there is no index named ${name} in this browser`);
  const advice = "`follow` makes one that does";
  return new GossamerError("WrongState", `the index ${name} follows no server; ${advice}`);
}

function isUnfit(error: unknown): error is GossamerError {
  return isOf(error, ...UNFIT);
}

function isOf(error: unknown, ...reasons: readonly Reason[]): boolean {
  return error instanceof GossamerError && reasons.includes(error.reason);
}

function rethrow(client: Client): (error: unknown) => never {
  return (error) => {
    throw isUnfit(error) ? givenUp(client, error) : error;
  };
}

function givenUp(client: Client, error: GossamerError): GossamerError {
  return new GossamerError(
    "Damaged",
    `what ${client.url} sent does not fit together (${error.message}). The index here is as it was; try ` +
      "again later, and if it stays so, restart the server, or pull under another name",
  );
}
