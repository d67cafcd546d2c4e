// Files come in: dropped on the page, or picked.

import type { Backend, Hooks } from "./backend.ts";
import { find } from "./dom.ts";
import { droppedFiles, pickedFiles } from "./files.ts";
import type { Collected } from "./files.ts";
import { showNote } from "./job.ts";
import { messageOf } from "./words.ts";

/** Takes files that are dropped anywhere or picked by the buttons. */
export function setUpPicking(backend: Backend, hooks: Hooks): void {
  const take = (collected: Collected) => {
    const { files, notes } = collected;
    if (files.length > 0) return void backend.take(collected, hooks);
    showNote(`There is nothing to index${notes.length > 0 ? `: ${notes.join(", ")}` : ""}.`, false);
  };
  pick("files-input", (files) => take(pickedFiles(files)), "pick-files");
  pick("folder-input", (files) => take(pickedFiles(files)), "pick-folder");
  setUpDrop(backend, (items) => {
    droppedFiles(items).then(take, (error: unknown) => showNote(messageOf(error), false));
  });
}

/** Gives the files that are picked in an input; a button may open it. */
export function pick(input: string, take: (files: File[]) => void, button = ""): void {
  const field = find(input, HTMLInputElement);
  if (button !== "") find(button, HTMLButtonElement).addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    const files = Array.from(field.files ?? []);
    field.value = ""; // the same ones can be picked again
    if (files.length > 0) take(files);
  });
}

function setUpDrop(backend: Backend, take: (items: DataTransferItemList) => void): void {
  const cover = find("drop-cover", HTMLElement);
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (cover.hidden) find("drop-text", HTMLElement).textContent = backend.dropText();
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
