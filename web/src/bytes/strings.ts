// Texts as bytes and back, as Python makes them.

const PIECE = 1 << 13;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** A string with a character for each byte: what patterns that are written for bytes run over. */
export function byteString(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    // Not spread: that goes through an iterator, which takes ten times as long.
    parts.push(String.fromCharCode.apply(null, bytes.subarray(at, at + PIECE) as unknown as number[]));
  }
  return parts.join("");
}

/** UTF-8 of a text; half a pair of surrogates becomes a question mark, as in Python. */
export function utf8(text: string): Uint8Array {
  return ENCODER.encode(wellFormed(text));
}

/** The text with a question mark for each half of a pair of surrogates. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "?");
}

/** The text of UTF-8, a byte order mark included; what is no UTF-8 is replaced. */
export function decoded(bytes: Uint8Array): string {
  return DECODER.decode(bytes);
}

/** The lines of a text, as Python's str.splitlines parts them. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}
