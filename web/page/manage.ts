// The panel at work: opened, filled anew after each of its actions.

import { announce, find, make, makeButton } from "./dom.ts";
import type { Child } from "./dom.ts";
import * as indexes from "./indexes.ts";
import type { Hooks } from "./indexes.ts";
import { showNote } from "./job.ts";
import { confirmDelete, makePanel } from "./panel.ts";
import type { PanelActions } from "./panel.ts";
import { gossamer, keepBudget } from "./session.ts";
import { messageOf } from "./words.ts";

const dialog = find("panel", HTMLDialogElement);
const body = find("panel-body", HTMLElement);

/** Makes the button open the panel, and all dialogs close as they should. */
export function setUpPanel(hooks: Hooks): void {
  const actions = actionsFor(hooks);
  find("panel-button", HTMLButtonElement).addEventListener("click", () => {
    dialog.showModal();
    void fill(actions, hooks);
  });
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog")?.close());
  }
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
}

function actionsFor(hooks: Hooks): PanelActions {
  const actions: PanelActions = {
    open: (name) => {
      dialog.close();
      void indexes.open({ kind: "name", name }, hooks);
    },
    exportNamed: (name) => {
      dialog.close();
      void indexes.exportNamed(name);
    },
    remove: (name) => void remove(name, actions, hooks),
    importFile: () => {
      dialog.close();
      find("import-input", HTMLInputElement).click();
    },
    setBudget: async (bytes) => {
      const opened = indexes.opened();
      if (opened) await keepBudget(opened, bytes);
      await fill(actions, hooks);
    },
    persist: async () => {
      const isKept = await gossamer().persist();
      await fill(actions, hooks);
      if (!isKept) body.append(make("p", { class: "note" }, REFUSED));
      announce(isKept ? "The browser keeps it." : REFUSED);
    },
  };
  return actions;
}

const REFUSED =
  "The browser did not agree. It may later, for sites that are used often or kept as a bookmark; " +
  "export what must not be lost.";

async function fill(actions: PanelActions, hooks: Hooks): Promise<void> {
  try {
    const [storage, names] = await Promise.all([
      gossamer().storage(),
      indexes.names(),
      indexes.refresh(),
    ]);
    put(...makePanel({ opened: indexes.opened(), storage, names }, actions));
    hooks.refreshed();
  } catch (error) {
    const again = makeButton({}, "Try again", () => void fill(actions, hooks));
    put(make("div", { class: "problem", role: "alert" }, make("p", {}, messageOf(error)), again));
  }
}

/** Fills the panel anew; what had the focus has it again, or if that is gone, the button that closes. */
function put(...content: Child[]): void {
  const focused = document.activeElement;
  const wanted = body.contains(focused) ? nameOf(focused) : "";
  body.replaceChildren(...content);
  if (!dialog.open || dialog.contains(document.activeElement)) return;
  const same = [...body.querySelectorAll<HTMLElement>("button:enabled, input, summary")].find(
    (element) => nameOf(element) === wanted,
  );
  (same ?? dialog.querySelector<HTMLElement>("[data-close]"))?.focus();
}

function nameOf(element: Element | null): string {
  return element?.id || element?.getAttribute("aria-label") || element?.textContent || "";
}

async function remove(name: string, actions: PanelActions, hooks: Hooks): Promise<void> {
  if (!(await confirmDelete(name))) return;
  try {
    const wasOpen = await indexes.removeNamed(name, hooks);
    if (!wasOpen) return await fill(actions, hooks);
    dialog.close();
    await indexes.open({ kind: "site" }, hooks);
  } catch (error) {
    dialog.close();
    showNote(messageOf(error), false);
  }
}
