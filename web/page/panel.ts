// The panel: opened, and filled anew after each of its actions.

import type { Backend, Hooks } from "./backend.ts";
import { find, make, makeButton } from "./dom.ts";
import type { Child } from "./dom.ts";
import { messageOf } from "./words.ts";

const dialog = find("panel", HTMLDialogElement);
const body = find("panel-body", HTMLElement);

/** Makes the button open the panel, and all dialogs close as they should. */
export function setUpPanel(backend: Backend, hooks: Hooks): void {
  const fill = async (): Promise<void> => {
    try {
      put(...(await backend.panel(hooks, fill)));
    } catch (error) {
      const again = makeButton({}, "Try again", () => void fill());
      put(make("div", { class: "problem", role: "alert" }, make("p", {}, messageOf(error)), again));
    }
    hooks.refreshed();
  };
  find("panel-button", HTMLButtonElement).addEventListener("click", () => {
    dialog.showModal();
    void fill();
  });
  for (const button of document.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => button.closest("dialog")?.close());
  }
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close(); // the backdrop
  });
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
