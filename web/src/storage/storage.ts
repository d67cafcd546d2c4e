import type { ByteSource } from "../bytes/source.ts";

/** What of a page survives it: folders of files, one for each named index. */
export interface Storage {
  readonly kind: "opfs" | "indexeddb" | "memory";
  names(): Promise<string[]>;
  /** The folder of an index; made if need be. */
  folder(name: string): Promise<Folder>;
  /** Deletes a folder and all in it; nothing if there is none. */
  remove(name: string): Promise<void>;
  usage(): Promise<{ used: number; quota: number; isPersistent: boolean }>;
  /** Asks the browser not to evict; says whether it agreed. */
  persist(): Promise<boolean>;
}

/** The files of one index. Files are written once and never changed; the manifest says which of
 * them are the index, and replacing it is what commits a change (docs/format.md). */
export interface Folder {
  readonly name: string;
  files(): Promise<{ name: string; size: number }[]>;
  /** NoIndex if there is no such file (storage was cleared). */
  open(file: string): Promise<ByteSource>;
  /** A new file, in place of any of that name. */
  create(file: string): Promise<ByteSink>;
  removeFile(file: string): Promise<void>;
  /** The manifest as it was committed last; null if there is none. Never half of one. */
  readManifest(): Promise<Uint8Array | null>;
  /** All or nothing, also when the page is killed. */
  writeManifest(manifest: Uint8Array): Promise<void>;
  /** Runs `work` while no other tab writes this index. Locked if one does and `waits` is false. */
  whileWriting<T>(work: () => Promise<T>, waits?: boolean): Promise<T>;
}

/** A file on its way. Unwritable when storage is full: what was there before is untouched. */
export interface ByteSink {
  write(bytes: Uint8Array): Promise<void>;
  /** Makes sure it is there. */
  close(): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}
