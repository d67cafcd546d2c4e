// Files come in: dropped on the page, or picked.

import { find } from "./dom.ts";
import { droppedFiles, isIndexFile, pickedFiles } from "./files.ts";
import type { Collected } from "./files.ts";
import * as indexes from "./indexes.ts";
import type { Hooks } from "./indexes.ts";
import { showNote } from "./job.ts";
import { isPrivate } from "./session.ts";
import type { Opened } from "./session.ts";
import { messageOf } from "./words.ts";

/** Takes files that are dropped anywhere or picked by the buttons. */
export function setUpPicking(hooks: Hooks): void {
  const take = (collected: Collected) => {
    const [only] = collected.files;
    const isIndex =
      collected.files.length === 1 && only?.file instanceof File && isIndexFile(only.file);
    if (isIndex) void indexes.open({ kind: "file", file: only.file as File }, hooks);
    else void indexes.addFiles(collected, hooks);
  };
  pick("pick-files", "files-input", (files) => take(pickedFiles(files)));
  pick("pick-folder", "folder-input", (files) => take(pickedFiles(files)));
  pick(
    "pick-index",
    "index-input",
    ([file]) => file && void indexes.open({ kind: "file", file }, hooks),
  );
  pick("", "import-input", ([file]) => file && void indexes.importFile(file, hooks));
  setUpDrop((items) => {
    droppedFiles(items).then(take, (error: unknown) => showNote(messageOf(error), false));
  });
}

function pick(button: string, input: string, take: (files: File[]) => void): void {
  const field = find(input, HTMLInputElement);
  if (button !== "") find(button, HTMLButtonElement).addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    const files = Array.from(field.files ?? []);
    field.value = ""; // the same ones can be picked again
    if (files.length > 0) take(files);
  });
}

/** What becomes of files that are dropped now. */
function promiseOf(opened: Opened | null): string {
  if (opened && isPrivate(opened)) return `Drop to add them to “${opened.label}”`;
  return "Drop to make an index of them in this browser";
}

function setUpDrop(take: (items: DataTransferItemList) => void): void {
  const cover = find("drop-cover", HTMLElement);
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (cover.hidden) find("drop-text", HTMLElement).textContent = promiseOf(indexes.opened());
    cover.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) cover.hidden = true; // it left the window
  });
  addEventListener("drop", (event) => {
    cover.hidden = true;
    if (!hasFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    take(event.dataTransfer.items);
  });
}
