// WhatsApp chats exported as text: plain text that stays as it is, told from other text here.

import { decoded } from "../bytes/strings.ts";
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
const ANY_LINE = new RegExp(BEGIN, "gu");
const DAY = /(\d{1,4})([./-])\s?(\d{1,2})[./-]\s?(\d{1,4})/;
const ORDERS = ["ymd", "dmy", "mdy"];
const FILE_NAME = /^WhatsApp Chat (?:with|-) (.+)/i;

/** A chat as the text it is, its places its lines; null if the text is none. */
export function readWhatsApp(path: string, text: Uint8Array): Document | null {
  const head = headOf(text).trimStart();
  if (!FIRST_LINE.test(head)) return null;
  const names = [...head.matchAll(LINE)].map((match) => oneLine(match.groups?.["name"] ?? ""));
  if (names.length < MIN_MESSAGES) return null;
  const participants = [...new Set(names)].slice(0, MAX_NAMES).join(", ");
  const metadata = { program: "whatsapp", participants, ...datesOf(decoded(text)) };
  return documentOf(text, "chat", { title: titleOf(path), metadata });
}

/** The days of the first and the last message; nothing where their order is not told. */
function datesOf(text: string): Record<string, string> {
  const found = [...text.matchAll(ANY_LINE)].map((begin) => DAY.exec(begin[0]));
  const numbers = found.filter((day) => day !== null);
  let possible = ORDERS.map((order) => daysOf(numbers, order)).filter((days) => days.length);
  // Messages stand in the order of time.
  if (possible.length > 1) possible = possible.filter((days) => String(days) === String(days.toSorted()));
  const told = new Set(possible.map((days) => `${days[0]} ${days.toSorted().at(-1)}`));
  if (told.size !== 1) return {};
  const [date = "", last_date = ""] = [...told].join("").split(" ");
  return { date, last_date };
}

/** All dates in an order of year, month and day; nothing where one is none in it. */
function daysOf(numbers: readonly RegExpExecArray[], order: string): string[] {
  const days: string[] = [];
  for (const [, first, sign, second, third] of numbers) {
    const named = Object.fromEntries([first, second, third].map((part, at) => [order[at], Number(part)]));
    const { y = 0, m = 0, d = 0 } = named as Record<string, number>;
    // A year that comes first is written in full; behind a point nobody puts the day.
    if (order === "ymd" ? y < 100 : order === "mdy" && sign === ".") return [];
    const year = String(y < 100 ? 2000 + y : y).padStart(4, "0");
    const day = `${year}-${String(m).padStart(2, "0")}-${String(d).padStart(2, "0")}`;
    const time = Date.parse(day);
    if (!Number.isFinite(time) || new Date(time).toISOString().slice(0, 10) !== day) return [];
    days.push(day);
  }
  return days;
}

/** The chat's name; an iPhone calls every file the same, and names the folder. */
function titleOf(path: string): string {
  const stem = stemOf(path).toLowerCase() === "_chat" ? parentNameOf(path) : stemOf(path);
  return oneLine(`WhatsApp: ${FILE_NAME.exec(stem)?.[1] ?? stem}`);
}

function oneLine(text: string): string {
  return splitWords(text).join(" ").slice(0, MAX_CHARS);
}
