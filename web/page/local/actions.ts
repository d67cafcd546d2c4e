// What the buttons of the panel do with the indexes in this browser.

import type { Hooks } from "../backend.ts";
import { announce, find, make } from "../dom.ts";
import type { Child } from "../dom.ts";
import { showNote } from "../job.ts";
import { messageOf } from "../words.ts";
import * as indexes from "./indexes.ts";
import { confirmDelete, makePanel } from "./panel.ts";
import type { PanelActions } from "./panel.ts";
import { gossamer, keepBudget } from "./session.ts";

const dialog = find("panel", HTMLDialogElement);

/** The content of the panel; see Backend. */
export async function panel(hooks: Hooks, refill: () => Promise<void>): Promise<Child[]> {
  const [storage, names] = await Promise.all([
    gossamer().then((worker) => worker.storage()),
    indexes.names(),
    indexes.refresh(),
  ]);
  return makePanel({ opened: indexes.opened(), storage, names }, actionsFor(hooks, refill));
}

function actionsFor(hooks: Hooks, refill: () => Promise<void>): PanelActions {
  return {
    open: (name) => {
      dialog.close();
      void indexes.open({ kind: "name", name }, hooks);
    },
    exportNamed: (name) => {
      dialog.close();
      void indexes.exportNamed(name);
    },
    remove: (name) => void remove(name, hooks, refill),
    importFile: () => {
      dialog.close();
      find("import-input", HTMLInputElement).click();
    },
    setBudget: async (bytes) => {
      const opened = indexes.opened();
      if (opened) await keepBudget(opened, bytes);
      await refill();
    },
    persist: async () => {
      const isKept = await (await gossamer()).persist();
      await refill();
      if (!isKept) find("panel-body", HTMLElement).append(make("p", { class: "note" }, REFUSED));
      announce(isKept ? "The browser keeps it." : REFUSED);
    },
  };
}

const REFUSED =
  "The browser did not agree. It may later, for sites that are used often or kept as a bookmark; " +
  "export what must not be lost.";

async function remove(name: string, hooks: Hooks, refill: () => Promise<void>): Promise<void> {
  if (!(await confirmDelete(name))) return;
  try {
    const wasOpen = await indexes.removeNamed(name, hooks);
    if (!wasOpen) return await refill();
    dialog.close();
    await indexes.open({ kind: "site" }, hooks);
  } catch (error) {
    dialog.close();
    showNote(messageOf(error), false);
  }
}
