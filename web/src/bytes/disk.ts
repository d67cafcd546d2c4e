// Files on a disk, where this runs in Node, Deno or the like: pages have none.
import { GossamerError, throwIfAborted } from "../errors.ts";
import { checkRange } from "./ranges.ts";
import type { ByteSource } from "./source.ts";

/** What of node:fs is used. */
interface FileSystem {
  openSync(path: URL, flags: "r"): number;
  fstatSync(file: number): { readonly size: number };
  readSync(file: number, into: Uint8Array, offset: number, length: number, at: number): number;
  closeSync(file: number): void;
}

interface Runtime {
  readonly process?: { getBuiltinModule?(name: "node:fs"): FileSystem | undefined; cwd?(): string };
}

/** Whether this is the address of a file on a disk that can be read here. */
export function isOnDisk(url: string | URL): boolean {
  return new URL(url).protocol === "file:" && fileSystem() !== null;
}

/** The folder that this runs in, as an address; null in a page. */
export function workFolder(): string | null {
  const { process } = globalThis as Runtime;
  if (!fileSystem() || !process?.cwd) return null;
  const path = process.cwd().replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
  return `file://${path.startsWith("/") ? "" : "/"}${path.replace(/%3A/i, ":")}/`;
}

/** A file on a disk. NoIndex if there is none. */
export function diskSource(url: URL): ByteSource {
  const disk = fileSystem();
  if (!disk) throw new GossamerError("Unavailable", `files on a disk cannot be read here: ${url.href}`);
  const file = attempt(url, () => disk.openSync(url, "r"));
  const { size } = disk.fstatSync(file);
  let isOpen = true;
  const readNow = (at: number, into: Uint8Array) => {
    checkRange(url.pathname, size, at, into.length);
    if (!isOpen) throw new GossamerError("WrongState", `${url.pathname} is closed; open it again`);
    for (let done = 0; done < into.length; ) {
      const read = disk.readSync(file, into, done, into.length - done, at + done);
      if (read === 0) throw new GossamerError("Truncated", `${url.pathname} got shorter; open it again`);
      done += read;
    }
  };
  return {
    size,
    async read(at, length, signal) {
      throwIfAborted(signal);
      checkRange(url.pathname, size, at, length); // before there is room for it
      const bytes = new Uint8Array(length);
      readNow(at, bytes);
      return bytes;
    },
    readNow,
    close() {
      if (isOpen) disk.closeSync(file);
      isOpen = false;
    },
  };
}

function attempt<T>(url: URL, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new GossamerError("NoIndex", `${url.pathname} cannot be opened: ${why}`);
  }
}

function fileSystem(): FileSystem | null {
  return (globalThis as Runtime).process?.getBuiltinModule?.("node:fs") ?? null;
}
