// New files of an index folder: written once under numbers that no file has, and taken back as long
// as no manifest names them.

import { startDigest } from "../bytes/hashes.ts";
import { joinBytes } from "../bytes/join.ts";
import { numberOfFile, type FileEntry } from "../format/manifest.ts";
import type { ByteSink, Folder } from "../storage/storage.ts";

// Storage takes few large writes far better than many small ones.
const WRITE_BYTES = 1 << 18;
const ENDINGS = { segment: "gss", vectors: "gsm" } as const;
const INDEX_FILE = /^(?:segment|vectors|catalogue|texts)-\d+\.(?:gss|gsm|gsc|gst)(?:\.part)?$/;

/** What a change makes. */
export type NewKind = keyof typeof ENDINGS;

/** A file of the index on its way. */
export interface IndexFile {
  readonly name: string;
  /** The bytes must not change before the file is closed. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes sure it is there; what the manifest says of it. */
  close(): Promise<FileEntry>;
}

/** The files that one change makes. */
export interface NewFiles {
  create(kind: NewKind): Promise<IndexFile>;
  write(kind: NewKind, parts: readonly Uint8Array[]): Promise<FileEntry>;
  /** What was made so far is of a committed state: abandon() leaves it. */
  keep(): void;
  /** Leaves nothing behind of what was made and is not kept. */
  abandon(): Promise<void>;
}

/** Begins to make files in a folder; to be called while writing (Folder.whileWriting). */
export async function newFiles(folder: Folder): Promise<NewFiles> {
  const names = (await folder.files()).map((file) => file.name.replace(/\.part$/, ""));
  let last = names.reduce((most, name) => Math.max(most, numberOfFile(name)), 0);
  const open = new Set<ByteSink>();
  let made: string[] = [];

  const create = async (kind: NewKind): Promise<IndexFile> => {
    last += 1;
    const name = `${kind}-${last}.${ENDINGS[kind]}`;
    const sink = await folder.create(name);
    open.add(sink);
    made.push(name);
    const digest = startDigest();
    let size = 0;
    let pending: Uint8Array[] = [];
    let pendingBytes = 0;
    const flush = async (): Promise<void> => {
      const bytes = joinBytes(pending);
      pending = [];
      pendingBytes = 0;
      if (bytes.length) await sink.write(bytes);
    };
    return {
      name,
      write: async (bytes) => {
        digest.update(bytes);
        size += bytes.length;
        pending.push(bytes);
        pendingBytes += bytes.length;
        if (pendingBytes >= WRITE_BYTES) await flush();
      },
      close: async () => {
        await flush();
        await sink.close();
        open.delete(sink);
        return { name, size, digest: digest.hex() };
      },
    };
  };
  return {
    create,
    write: async (kind, parts) => {
      const file = await create(kind);
      for (const part of parts) await file.write(part);
      return file.close();
    },
    keep: () => {
      made = [];
    },
    abandon: async () => {
      // Whatever cannot be taken back now is an orphan, which the next change removes.
      for (const sink of open) await sink.abandon().catch(() => {});
      for (const name of made) await folder.removeFile(name).catch(() => {});
    },
  };
}

/** Deletes files of states that were never committed or are replaced; what another tab still reads
 * goes another time. To be called while writing. */
export async function removeUnnamed(folder: Folder, named: readonly FileEntry[]): Promise<void> {
  const kept = new Set(named.map((entry) => entry.name));
  for (const { name } of await folder.files()) {
    if (INDEX_FILE.test(name) && !kept.has(name)) await folder.removeFile(name).catch(() => {});
  }
}
