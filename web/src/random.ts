/** A name that nobody else has: 32 letters of 0 to f. Also in pages that are not secure contexts (http
 * in a local network), where crypto.randomUUID is missing. */
export function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
