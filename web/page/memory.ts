// Small choices that outlive the page, where the browser lets it keep them.

/** What was kept under a key; "" for nothing. */
export function recall(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return ""; // no storage for this site
  }
}

/** Keeps a choice for the next visit, if that may be. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // It holds until the page is closed.
  }
}
