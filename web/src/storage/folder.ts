import type { ByteSource } from "../bytes/source.ts";
import { GossamerError } from "../errors.ts";
import { whileLocked } from "./locks.ts";
import { checkFileName, PART, SLOT, SLOTS } from "./names.ts";
import { decodeSlot, encodeSlot } from "./slots.ts";
import type { ByteSink, Folder } from "./storage.ts";

/** What a folder needs of the storage below it: files that may be half written when a page dies. */
export interface RawFiles {
  list(): Promise<{ name: string; size: number }[]>;
  /** NoIndex if there is none. */
  open(file: string): Promise<ByteSource>;
  /** All of a small file, without keeping others from replacing it; null if there is none. */
  readWhole(file: string): Promise<Uint8Array | null>;
  /** An empty file; Unwritable, here and when it is written, if there is no room. */
  create(file: string): Promise<RawSink>;
  /** In place of any file of that name, all at once; where storage can. */
  rename?(from: string, to: string): Promise<void>;
  /** Nothing if there is none; Locked if another tab reads it. */
  remove(file: string): Promise<void>;
}

export interface RawSink {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes sure it is there. */
  close(): Promise<void>;
  /** Lets go of it, however much was written. */
  drop(): Promise<void>;
}

/** The folder of an index over raw files: names are checked, the manifest is never half there. */
export function makeFolder(name: string, raw: RawFiles, lock: string): Folder {
  async function readSlots() {
    return Promise.all(SLOTS.map(async (slot) => decodeSlot(await raw.readWhole(slot))));
  }

  async function writeManifest(manifest: Uint8Array): Promise<void> {
    const turns = (await readSlots()).map((slot) => slot?.turn ?? 0) as [number, number];
    const older = turns[0] <= turns[1] ? SLOTS[0] : SLOTS[1];
    const sink = await createFile(raw, older);
    await sink.write(encodeSlot(Math.max(...turns) + 1, manifest));
    await sink.close();
  }

  async function readManifest(): Promise<Uint8Array | null> {
    const slots = (await readSlots()).filter((slot) => slot !== null);
    const newest = slots.sort((a, b) => b.turn - a.turn)[0];
    return newest?.manifest ?? null;
  }

  return {
    name,
    async files() {
      const isSlot = ({ name }: { name: string }) => name.startsWith(SLOT);
      const files = (await raw.list()).filter((file) => !isSlot(file));
      return files.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async open(file) {
      checkFileName(file);
      return raw.open(file);
    },
    async create(file) {
      checkFileName(file);
      return createFile(raw, file);
    },
    async removeFile(file) {
      checkFileName(file);
      await raw.remove(file);
    },
    readManifest,
    writeManifest,
    whileWriting: (work, waits = false) => whileLocked(lock, `the index "${name}"`, waits, work),
  };
}

/** A file that has its name only once all of it is there, where storage can rename. */
async function createFile(raw: RawFiles, file: string): Promise<ByteSink> {
  const written = raw.rename ? file + PART : file;
  const sink = await raw.create(written);
  let isOpen = true;

  async function abandon(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await sink.drop();
    await raw.remove(written);
  }

  /** Room is given back at once when there is not enough of it. */
  async function orAbandon(work: () => Promise<void>): Promise<void> {
    if (!isOpen) throw new GossamerError("WrongState", `the file ${file} is closed: create it again`);
    try {
      await work();
    } catch (error) {
      await abandon().catch(() => {});
      throw error;
    }
  }

  return {
    write: (bytes) => orAbandon(() => sink.write(bytes)),
    close: () =>
      orAbandon(async () => {
        await sink.close();
        await raw.rename?.(written, file);
        isOpen = false;
      }),
    abandon,
  };
}
