// Text as the store keeps it: UTF-8, in which a lone surrogate stands as three bytes. Names of files
// that are no UTF-8 have such surrogates in Python, and must come back as the same bytes.

const ENCODER = new TextEncoder();
const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LONE = /\p{Surrogate}/u;

/** Text as bytes, lone surrogates included. */
export function encodeText(text: string): Uint8Array {
  if (!LONE.test(text)) return ENCODER.encode(text);
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    if (point < 0xd800 || point > 0xdfff) bytes.push(...ENCODER.encode(character));
    else bytes.push(0xed, 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
  }
  return Uint8Array.from(bytes);
}

/** What encodeText gave; null for bytes that are no text. */
export function decodeText(bytes: Uint8Array): string | null {
  const whole = decodeStrict(bytes);
  if (whole !== null || !bytes.includes(0xed)) return whole;
  let text = "";
  let from = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    const second = bytes[at + 1] ?? 0;
    const third = bytes[at + 2] ?? 0;
    if (second < 0xa0 || second > 0xbf || third < 0x80 || third > 0xbf) continue;
    const before = decodeStrict(bytes.subarray(from, at));
    if (before === null) return null;
    text += before + String.fromCharCode(0xd000 | ((second & 63) << 6) | (third & 63));
    from = at + 3;
  }
  const rest = decodeStrict(bytes.subarray(from));
  return rest === null ? null : text + rest;
}

/** JSON as Python writes it: ASCII alone. */
export function inAscii(json: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(/[\u007f-\uffff]/g, escaped);
}

/** The order of Python's strings, that of characters: negative, 0 or positive. */
export function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; ++at) {
    const a = one.charCodeAt(at);
    const b = other.charCodeAt(at);
    if (a !== b) return weightOf(one, at) - weightOf(other, at);
  }
  return one.length - other.length;
}

/** A unit's place in the order of characters: halves of a pair come after all others. */
function weightOf(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  const isHigh = unit < 0xdc00;
  const other = isHigh ? text.charCodeAt(at + 1) : text.charCodeAt(at - 1);
  const isPaired = isHigh ? other >= 0xdc00 && other <= 0xdfff : other >= 0xd800 && other < 0xdc00;
  return isPaired ? unit + 0x10000 : unit;
}

function decodeStrict(bytes: Uint8Array): string | null {
  try {
    return STRICT.decode(bytes);
  } catch {
    return null;
  }
}
