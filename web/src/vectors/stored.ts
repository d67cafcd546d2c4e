// Vectors in the browser's storage: a folder for each name, with one file that a record names. The record is
// replaced whole, so that a page that is killed leaves what was there before.

import type { ByteSource } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";
import { randomName } from "../random.ts";
import { openStorage } from "../storage/open.ts";
import type { Folder, Storage } from "../storage/storage.ts";
import { decodeText, encodeText } from "../text/text.ts";
import type { StorageKind } from "./options.ts";

const FORMAT = "gossamer vectors";
const PLACE = "gossamer-vectors"; // apart from indexes of texts, whatever their names

const opened = new Map<StorageKind | undefined, Promise<Storage>>();

/** The names that vectors are kept under. */
export async function storedNames(kind?: StorageKind): Promise<string[]> {
  const storage = await ownStorage(kind);
  const names = await storage.names();
  // One that is damaged has its name still: it can be removed.
  const isThere = async (name: string) => fileOf(await storage.folder(name)).then((file) => file !== null, () => true);
  const there = await Promise.all(names.map(isThere));
  return names.filter((_, i) => there[i]);
}

/** What is kept under a name: which file, and its bytes. NoIndex if there is none. */
export async function openStored(
  name: string,
  kind?: StorageKind,
): Promise<{ readonly file: string; readonly source: ByteSource }> {
  const storage = await ownStorage(kind);
  const isThere = (await storage.names()).includes(name);
  const folder = isThere ? await storage.folder(name) : null;
  const file = folder && (await fileOf(folder));
  if (file) return { file, source: await folder.open(file) };
  throw new GossamerError("NoIndex", `no vectors are stored under the name ${name}: build them and store(name)`);
}

/** Puts a file in place of what is kept under a name, and gives which. `before` is what the bytes came from: WrongState
 * if somebody stored another in its place meanwhile, which would be lost. Unwritable where there is no room. */
export async function writeStored(
  name: string,
  bytes: Uint8Array,
  before: string | null,
  kind?: StorageKind,
): Promise<string> {
  const folder = await (await ownStorage(kind)).folder(name);
  return folder.whileWriting(async () => {
    const current = before === null ? null : await fileOf(folder);
    if (current !== null && current !== before) {
      const how = "open it again and change that, or store this one under another name";
      throw new GossamerError("WrongState", `${name} was stored by somebody else since it was opened here: ${how}`);
    }
    const file = `${randomName()}.gossamer`;
    const sink = await folder.create(file);
    await sink.write(bytes);
    await sink.close();
    await folder.writeManifest(encodeText(JSON.stringify({ format: FORMAT, version: 1, file })));
    const others = (await folder.files()).filter((other) => other.name !== file);
    // One that another tab reads stays until the next time.
    for (const other of others) await folder.removeFile(other.name).catch(() => undefined);
    return file;
  }, true);
}

/** Removes what is kept under a name; nothing if there is none. */
export async function removeStored(name: string, kind?: StorageKind): Promise<void> {
  await (await ownStorage(kind)).remove(name);
}

async function fileOf(folder: Folder): Promise<string | null> {
  const manifest = await folder.readManifest();
  if (!manifest) return null;
  try {
    const record = JSON.parse(decodeText(manifest) ?? "") as { format?: unknown; file?: unknown };
    if (record.format === FORMAT && typeof record.file === "string") return record.file;
  } catch {
    // Below.
  }
  throw new GossamerError("Damaged", `what is stored as ${folder.name} is not what was written: remove it`);
}

/** Storage that outlives the page, of a kind or the best there is. Unavailable without one. */
async function ownStorage(kind?: StorageKind): Promise<Storage> {
  const opening = opened.get(kind) ?? openStorage(kind, PLACE);
  opened.set(kind, opening);
  opening.catch(() => opened.delete(kind));
  const storage = await opening;
  if (storage.kind !== "memory") return storage;
  throw new GossamerError(
    "Unavailable",
    "there is no storage for names here (a private window, a page without https, Node): open a file by ./NAME, " +
      "and keep what save() gives",
  );
}
