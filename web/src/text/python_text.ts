// What white space is to Python: readers of both must find the same text in a file.

/** The characters that Python strips and splits at, for a class of a regular expression. */
export const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const LEADING = new RegExp(`^[${SPACE}]+`);
const IS_SPACE = new RegExp(`[${SPACE}]`);
const SPACES = new RegExp(`[${SPACE}]+`);

/** `str.lstrip()`. */
export function stripStart(text: string): string {
  return text.replace(LEADING, "");
}

/** `str.rstrip()`. Not by a regular expression: one tries every run of spaces to its end. */
export function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && IS_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** `str.split()`. */
export function splitWords(text: string): string[] {
  return text.split(SPACES).filter((word) => word !== "");
}
