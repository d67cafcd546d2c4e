// What people drop or pick: files, and folders with all that is below them.

import type { PickedFile } from "../src/index.ts";

/** Files to index, and what they are called together. */
export interface Collected {
  readonly files: readonly PickedFile[];
  readonly name: string;
  readonly notes: readonly string[];
}

const MOST_FILES = 50_000;
// What programs make for themselves; nobody looks for it.
const JUNK = new Set([
  ...["node_modules", "bower_components", "__pycache__", "venv", "site-packages"],
  ...["target", "build", "dist", "out", "coverage"],
]);
const MADE_BY_SYSTEMS = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);

/** Whether a file is an index rather than something to put into one. */
export function isIndexFile(file: File): boolean {
  return file.name.toLowerCase().endsWith(".gossamer");
}

/** Files of an input, with their paths if a folder was picked. */
export function pickedFiles(files: readonly File[]): Collected {
  const picked = files
    .filter((file) => isWanted(file.webkitRelativePath || file.name))
    .map((file) => fileOf(file, file.webkitRelativePath || file.name));
  return collected(picked, files.length - picked.length);
}

/** Files of a drop. To be called at once: what was dropped is gone when the event is over. */
export function droppedFiles(items: DataTransferItemList): Promise<Collected> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  return walk(entries.filter((entry) => entry !== null));
}

async function walk(dropped: readonly (FileSystemEntry | File)[]): Promise<Collected> {
  const picked: PickedFile[] = [];
  let left = 0;
  const visit = async (entry: FileSystemEntry | File): Promise<void> => {
    if (picked.length >= MOST_FILES) return;
    if (entry instanceof File) picked.push(fileOf(entry, entry.name));
    else if (!isWanted(entry.fullPath.slice(1))) left += 1;
    else if (entry.isDirectory) {
      for (const below of await entriesOf(entry as FileSystemDirectoryEntry)) await visit(below);
    } else
      picked.push(fileOf(await contentOf(entry as FileSystemFileEntry), entry.fullPath.slice(1)));
  };
  for (const entry of dropped) await visit(entry);
  return collected(picked, left);
}

function collected(picked: readonly PickedFile[], left: number): Collected {
  const files = picked.slice(0, MOST_FILES);
  const tops = new Set(files.map(({ path }) => path.split("/")[0] ?? ""));
  const [top = ""] = tops;
  const isFolder = files.some(({ path }) => path.includes("/"));
  const name = tops.size === 1 ? (isFolder ? top : top.replace(/\.[^.]*$/, "")) : "My files";
  const notes = [
    ...(left > 0 ? [`${left} hidden or generated ones were left out`] : []),
    ...(picked.length >= MOST_FILES
      ? [`only the first ${MOST_FILES.toLocaleString("en")} files were taken`]
      : []),
  ];
  return { files, name, notes };
}

/** Whether a path is worth reading: nothing hidden, nothing that programs made. */
function isWanted(path: string): boolean {
  const parts = path.split("/");
  const name = parts.at(-1) ?? "";
  const isHidden = parts.some((part) => part.startsWith(".") && part !== ".");
  return (
    !isHidden && !MADE_BY_SYSTEMS.has(name) && !parts.slice(1, -1).some((part) => JUNK.has(part))
  );
}

function fileOf(file: File, path: string): PickedFile {
  return { file, path, mtime: file.lastModified };
}

/** All entries of a folder: browsers give a hundred at a time. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) =>
      reader.readEntries(done, fail),
    );
    if (some.length === 0) return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    found.push(...some);
  }
}

function contentOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((done, fail) => entry.file(done, fail));
}
