import { GossamerError } from "../errors.ts";
import type { Folder } from "./storage.ts";

/** A small file of a folder; null if there is none. */
export async function readFile(folder: Folder, name: string): Promise<Uint8Array | null> {
  try {
    const source = await folder.open(name);
    const bytes = await source.read(0, source.size);
    source.close();
    return bytes;
  } catch (error) {
    if (error instanceof GossamerError && error.reason === "NoIndex") return null;
    throw error;
  }
}

/** Writes a file whole, in place of any of that name. */
export async function writeFile(folder: Folder, name: string, bytes: Uint8Array): Promise<void> {
  const sink = await folder.create(name);
  await sink.write(bytes);
  await sink.close();
}
