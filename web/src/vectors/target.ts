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

/** The bytes of a target, to be read in part. NoIndex if there is none. */
export async function openTarget(target: Target, options: OpenVectorsOptions): Promise<ByteSource> {
  const { signal, storage } = options;
  if (target instanceof Blob) return blobSource(target);
  if (target instanceof Uint8Array) return memorySource(target);
  if (!(target instanceof URL)) return openStored(target.name, storage);
  if (isOnDisk(target)) return diskSource(target);
  return openRemote(target, signal ? { signal } : {});
}
