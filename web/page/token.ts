// The token of a server that asks for one, shared with the server's own page.

import { find } from "./dom.ts";

const KEY = "gossamer-token";

/** The token that was given in this tab; "" for none. */
export function knownToken(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** Keeps a token that the server has taken, for this tab. */
export function keepToken(token: string): void {
  try {
    if (token) sessionStorage.setItem(KEY, token);
  } catch {
    // It is asked for again.
  }
}

/** Forgets a token that the server does not take. */
export function forgetToken(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // There is none.
  }
}

/** Asks for the token; "" if it was not given. `isRefused` says that the last one was wrong. */
export function askToken(isRefused: boolean): Promise<string> {
  const dialog = find("token", HTMLDialogElement);
  const form = find("token-form", HTMLFormElement);
  const value = find("token-value", HTMLInputElement);
  find("token-problem", HTMLElement).textContent = isRefused ? "That token was not accepted." : "";
  value.value = "";
  return new Promise((resolve) => {
    let given = "";
    const take = () => (given = value.value.trim());
    form.addEventListener("submit", take, { once: true });
    dialog.addEventListener(
      "close",
      () => {
        form.removeEventListener("submit", take);
        resolve(given);
      },
      { once: true },
    );
    dialog.showModal();
  });
}
