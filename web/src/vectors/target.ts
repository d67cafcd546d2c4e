// Where the file of an index comes from.

import { blobSource } from "../bytes/blob.ts";
import { diskSource, isOnDisk } from "../bytes/disk.ts";
import { memorySource } from "../bytes/memory.ts";
import { openRemote } from "../bytes/remote.ts";
import type { ByteSource } from "../bytes/source.ts";
import type { StoredName } from "../options.ts";
import type { OpenVectorsOptions } from "./options.ts";
import { openStored } from "./stored.ts";

/** What an index is opened from: an address, the bytes of a file, a name in storage. */
export type Target = URL | Blob | Uint8Array | StoredName;

/** Bytes to be read in part, and which file of storage they are. */
export interface OpenedTarget {
  readonly source: ByteSource;
  readonly stored: { readonly name: string; readonly file: string } | null;
}

/** Opens a target. NoIndex if there is none. */
export async function openTarget(target: Target, options: OpenVectorsOptions): Promise<OpenedTarget> {
  if (!("name" in target) || target instanceof Blob) return { source: await sourceOf(target, options), stored: null };
  const { source, file } = await openStored(target.name, options.storage);
  return { source, stored: { name: target.name, file } };
}

async function sourceOf(target: URL | Blob | Uint8Array, { signal }: OpenVectorsOptions): Promise<ByteSource> {
  if (target instanceof Blob) return blobSource(target);
  if (target instanceof Uint8Array) return memorySource(target);
  if (isOnDisk(target)) return diskSource(target);
  return openRemote(target, signal ? { signal } : {});
}
