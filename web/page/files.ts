// What people drop or pick: files, and folders with all that is below them.

import type { PickedFile } from "../src/index.ts";

/** Files to index, and what they are called together. */
export interface Collected {
  readonly files: readonly PickedFile[];
  readonly name: string;
  readonly notes: readonly string[];
}

const MOST_FILES = 50_000;
const MOST_NAMED = 8; // of what was left out
// What programs make for themselves; nobody looks for it.
const JUNK = new Set(["node_modules", "bower_components", "__pycache__", "venv", "site-packages"]);
// People have folders of these names too: they are a program's beside the file of a project.
const MADE = new Set(["target", "build", "dist", "out", "coverage"]);
const PROJECTS = [
  ...["package.json", "Cargo.toml", "pyproject.toml", "setup.py", "pom.xml", "build.gradle"],
  ...["build.gradle.kts", "CMakeLists.txt", "Makefile", "meson.build", "go.mod", "build.sbt"],
];
const MADE_BY_SYSTEMS = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);

/** Whether a file is an index rather than something to put into one. */
export function isIndexFile(file: File): boolean {
  return file.name.toLowerCase().endsWith(".gossamer");
}

/** Files of an input, with their paths if a folder was picked. */
export function pickedFiles(files: readonly File[]): Collected {
  const pathOf = (file: File) => file.webkitRelativePath || file.name;
  const paths = new Set(files.map(pathOf));
  const left = new Set<string>();
  const picked: PickedFile[] = [];
  for (const file of files) {
    const unwanted = unwantedPart(pathOf(file), (path) => paths.has(path));
    if (unwanted === null) picked.push(fileOf(file, pathOf(file)));
    else left.add(unwanted);
  }
  return collected(picked, left);
}

/** Files of a drop. To be called at once: what was dropped is gone when the event is over. */
export function droppedFiles(items: DataTransferItemList): Promise<Collected> {
  const entries = Array.from(items, (item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  return walk(entries.filter((entry) => entry !== null));
}

async function walk(dropped: readonly (FileSystemEntry | File)[]): Promise<Collected> {
  const picked: PickedFile[] = [];
  const left = new Set<string>();
  const paths = new Set<string>(); // of what was seen: a folder's own files before what is below it
  const visit = async (entry: FileSystemEntry | File): Promise<void> => {
    if (picked.length >= MOST_FILES) return;
    if (entry instanceof File) return void picked.push(fileOf(entry, entry.name));
    const path = entry.fullPath.slice(1);
    // A folder is judged as one, without what is in it.
    const unwanted = unwantedPart(entry.isDirectory ? `${path}/` : path, (other) => paths.has(other));
    if (unwanted !== null) left.add(unwanted);
    else if (entry.isDirectory) {
      const entries = await entriesOf(entry as FileSystemDirectoryEntry);
      for (const below of entries) paths.add(below.fullPath.slice(1));
      for (const below of entries) await visit(below);
    } else picked.push(fileOf(await contentOf(entry as FileSystemFileEntry), path));
  };
  for (const entry of dropped) await visit(entry);
  return collected(picked, left);
}

function collected(picked: readonly PickedFile[], left: ReadonlySet<string>): Collected {
  const files = picked.slice(0, MOST_FILES);
  const tops = new Set(files.map(({ path }) => path.split("/")[0] ?? ""));
  const [top = ""] = tops;
  const isFolder = files.some(({ path }) => path.includes("/"));
  const name = tops.size === 1 ? (isFolder ? top : top.replace(/\.[^.]*$/, "")) : "My files";
  const notes = [
    ...(left.size > 0 ? [`left out as hidden or generated: ${someOf([...left])}`] : []),
    ...(picked.length >= MOST_FILES
      ? [`only the first ${MOST_FILES.toLocaleString("en")} files were taken`]
      : []),
  ];
  return { files, name, notes };
}

function someOf(paths: readonly string[]): string {
  const more = paths.length - MOST_NAMED;
  return paths.slice(0, MOST_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** The file or folder of a path that is not worth reading: hidden, or made by programs; null for none. */
function unwantedPart(path: string, isThere: (path: string) => boolean): string | null {
  const parts = path.split("/");
  for (const [at, part] of parts.entries()) {
    const before = parts.slice(0, at).map((one) => `${one}/`).join("");
    const isFolder = at < parts.length - 1;
    const isHidden = part.startsWith(".") && part !== ".";
    // What was given itself is wanted, whatever it is called.
    const isJunk = isFolder && at > 0 && JUNK.has(part);
    const isMade =
      isFolder && at > 0 && MADE.has(part) && PROJECTS.some((name) => isThere(before + name));
    if (isHidden || isJunk || isMade || (!isFolder && MADE_BY_SYSTEMS.has(part))) {
      return `${before}${part}${isFolder ? "/" : ""}`;
    }
  }
  return null;
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
