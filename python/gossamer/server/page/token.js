/** The dialog that asks for the server's token. */

import { find } from "./dom.js";

/**
 * Ask for a token; gives "" if the dialog is closed without one.
 * @param {boolean} isRefused whether the last one was not accepted
 * @returns {Promise<string>}
 */
export function askToken(isRefused) {
  const dialog = find("token", HTMLDialogElement);
  const value = find("token-value", HTMLInputElement);
  const problem = find("token-problem", HTMLElement);
  value.value = "";
  dialog.returnValue = "";
  problem.textContent = isRefused ? "That token was not accepted." : "";
  return new Promise((resolve) => {
    find("token-form", HTMLFormElement).onsubmit = () => dialog.close(value.value.trim());
    dialog.onclose = () => resolve(dialog.returnValue);
    dialog.showModal();
    value.focus();
  });
}
