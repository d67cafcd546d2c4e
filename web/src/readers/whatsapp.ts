// WhatsApp chats exported as text: plain text that stays as it is, told from other text here.

import type { Document } from "../records.ts";
import { splitWords } from "../text/python_text.ts";
import { documentOf, headOf } from "./documents.ts";
import { parentNameOf, stemOf } from "./paths.ts";

const MIN_MESSAGES = 2;
const MAX_NAMES = 20;
const MAX_CHARS = 300;
// "[12/31/23, 10:00:00 PM] Ann: ..." from an iPhone, "31.12.23, 22:00 - Ann: ..." from Android.
// Dates are in the order of the phone's country; some put a word before the time.
const NOON = "(?:[\\s\\u202f\\xa0]{0,2}[AaPp]\\.?\\s?[Mm]\\.?)?";
const DATE = "\\d{1,4}[./-]\\s?\\d{1,2}[./-]\\s?\\d{1,4},?\\s(?:[\\p{L}\\p{N}_]{1,3}\\s)?";
// Logs begin with a date too: only between brackets are seconds and 2024-05-01 those of a chat.
const BEGIN =
  `(?<![^\\n])[\\ufeff\\u200e\\u200f]{0,3}(?:\\[${DATE}\\d{1,2}[:.]\\d\\d(?:[:.]\\d\\d)?${NOON}\\]` +
  `|(?!\\d{4}-)${DATE}\\d{1,2}[:.]\\d\\d${NOON}\\s[-–])\\s`;
const LINE = new RegExp(`${BEGIN}[\\u200e~\\s]{0,3}(?<name>[^:\\n]{1,80}?):\\s`, "gu");
const FIRST_LINE = new RegExp(`^${BEGIN}`, "u");
const FILE_NAME = /^WhatsApp Chat (?:with|-) (.+)/i;

/** A chat as the text it is, its places its lines; null if the text is none. */
export function readWhatsApp(path: string, text: Uint8Array): Document | null {
  const head = headOf(text).trimStart();
  if (!FIRST_LINE.test(head)) return null;
  const names = [...head.matchAll(LINE)].map((match) => oneLine(match.groups?.["name"] ?? ""));
  if (names.length < MIN_MESSAGES) return null;
  const participants = [...new Set(names)].slice(0, MAX_NAMES).join(", ");
  const metadata = { program: "whatsapp", participants };
  return documentOf(text, "chat", { title: titleOf(path), metadata });
}

/** The chat's name; an iPhone calls every file the same, and names the folder. */
function titleOf(path: string): string {
  const stem = stemOf(path).toLowerCase() === "_chat" ? parentNameOf(path) : stemOf(path);
  return oneLine(`WhatsApp: ${FILE_NAME.exec(stem)?.[1] ?? stem}`);
}

function oneLine(text: string): string {
  return splitWords(text).join(" ").slice(0, MAX_CHARS);
}
