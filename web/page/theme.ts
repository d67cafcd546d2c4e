// Dark or light: as the system has it, until the button says otherwise.

import { find } from "./dom.ts";
import { recall, remember } from "./memory.ts";

const KEY = "gossamer-theme";

/** Puts the colors that were chosen before in place, and the button to work. */
export function setUpTheme(): void {
  const button = find("theme", HTMLButtonElement);
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = recall(KEY);
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset["theme"] = chosen;
  const isDark = () =>
    (document.documentElement.dataset["theme"] ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    const wanted = isDark() ? "light" : "dark";
    document.documentElement.dataset["theme"] = wanted;
    remember(KEY, wanted);
    show();
  });
  system.addEventListener("change", show);
  show();
}
