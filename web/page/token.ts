// The token of a server that asks for one: kept in this tab until it is closed.

import { find } from "./dom.ts";

const KEY = "gossamer-token";
let known = recalled();
let asking: Promise<string> | null = null;

/** The token that was given in this tab; "" for none. */
export function knownToken(): string {
  return known;
}

/** Asks for a token in place of one that was refused, once for all who wait for it; "" if none is given. */
export async function renewToken(refused: string): Promise<string> {
  if (!asking && known !== refused) return known; // another request did meanwhile
  keep("");
  asking ??= askToken(refused !== "").finally(() => (asking = null));
  const token = await asking;
  keep(token);
  return token;
}

function keep(token: string): void {
  known = token;
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Where there is no storage it holds until the page is left.
  }
}

function recalled(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}

/** Shows the dialog; `isRefused` says that the last token was wrong. */
function askToken(isRefused: boolean): Promise<string> {
  const dialog = find("token", HTMLDialogElement);
  const form = find("token-form", HTMLFormElement);
  const value = find("token-value", HTMLInputElement);
  find("token-problem", HTMLElement).textContent = isRefused ? "That token was not accepted." : "";
  value.value = "";
  let given = "";
  form.onsubmit = () => void (given = value.value.trim());
  dialog.showModal();
  return new Promise((resolve) => (dialog.onclose = () => resolve(given)));
}
