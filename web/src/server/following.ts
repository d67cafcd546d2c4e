// What an edge remembers of the server it follows: `follow.json` in its folder. The twin of
// python/gossamer/sync/following.py.

import { GossamerError } from "../errors.ts";
import { readManifest } from "../format/manifest.ts";
import type { Manifest } from "../format/manifest.ts";
import { readFile, writeFile } from "../storage/small_files.ts";
import type { Folder } from "../storage/storage.ts";
import { objectOf } from "../text/json.ts";
import type { IndexServer } from "./index_server.ts";
import type { Base, Texts } from "./records.ts";

/** Where a server is, and what an edge wants of it. */
export interface Following {
  readonly url: string;
  readonly token: string; // "" for none
  readonly keepsToken: boolean; // whether the token is written down
  readonly mode: string;
  readonly texts: Texts;
}

const FOLLOW = "follow.json";
const MOST_BYTES = 1 << 16;

/** What was written down; null if nothing was, or nothing of use. */
export async function readFollowing(folder: Folder): Promise<Following | null> {
  const bytes = await readFile(folder, FOLLOW);
  const values = bytes && bytes.length <= MOST_BYTES ? objectOf(new TextDecoder().decode(bytes)) : null;
  const { url, token, mode, texts, keeps_token: keepsToken = true } = values ?? {};
  const areTexts = [url, token, mode].every((value) => typeof value === "string");
  if (!areTexts || (texts !== "kept" && texts !== "away")) return null;
  const known = { url: url as string, token: token as string, mode: mode as string };
  return { ...known, texts, keepsToken: keepsToken === true };
}

/** Writes it down. Whatever else runs in pages of this origin can read it, the token too if it is kept. */
export async function saveFollowing(folder: Folder, following: Following): Promise<void> {
  const { keepsToken, token, ...rest } = following;
  const kept = { token: keepsToken ? token : "", keeps_token: keepsToken };
  const values = { ...rest, ...kept, budget: null, model: "" };
  await writeFile(folder, FOLLOW, new TextEncoder().encode(JSON.stringify(values, null, 1)));
}

/** Whom an index follows, by its manifest if `follow.json` is of no use; null if nobody. An edge has no
 * manifest before its first pull. */
export async function followingOf(folder: Folder, manifest: Manifest | null): Promise<Following | null> {
  const { url, mode, texts } = manifest?.origin ?? {};
  if (manifest && typeof url !== "string") return null;
  const written = await readFollowing(folder);
  if (written || !manifest) return written;
  const known = { url: String(url), token: "", keepsToken: true, mode: String(mode) };
  return { ...known, texts: texts === "away" ? "away" : "kept" };
}

/** The server that an index follows, as searches ask it; null if it follows none. */
export async function serverOf(folder: Folder, manifest: Manifest): Promise<IndexServer | null> {
  const following = await followingOf(folder, manifest);
  if (!following) return null;
  const { index, epoch } = manifest.origin;
  const { url, token } = following;
  return { url, token, index: String(index ?? ""), epoch: String(epoch ?? "") };
}

/** The state that an edge is in; null if it is no edge. */
export function baseOf(manifest: Manifest | null): Base | null {
  const { epoch, version, state } = manifest?.origin ?? {};
  const isBase = typeof epoch === "string" && Number.isSafeInteger(version) && typeof state === "string";
  return isBase ? { epoch, version: version as number, state } : null;
}

/** The manifest of a folder; null if it has none. WrongState if it keeps parts of a remote file. */
export async function manifestIn(folder: Folder): Promise<Manifest | null> {
  const bytes = await folder.readManifest();
  if (!bytes) return null;
  try {
    return readManifest(bytes);
  } catch (error) {
    if (!(error instanceof GossamerError) || error.reason !== "NotGossamer") throw error;
    throw new GossamerError(
      "WrongState",
      `the name ${folder.name} is that of an index that is read from elsewhere; choose another one`,
    );
  }
}
