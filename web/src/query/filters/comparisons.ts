// Comparisons of fields with values, compiled to functions. The twin of filters/comparisons.py.

import type { Value } from "../../records.ts";
import { compareTexts } from "../../text/text.ts";

export type Fields = Readonly<Record<string, Value | null | undefined>>;
export type Test = (fields: Fields) => boolean;

/** A test of documents, compiled once. */
export interface Filter {
  readonly names: ReadonlySet<string>; // the fields it asks for
  /** Whether a document with these fields is to be looked at; never throws. */
  matches(fields: Fields): boolean;
}

export type Constant = Value | null | readonly (Value | null)[];
export type Operand = { readonly field: string } | { readonly constant: Constant };

/** What may stand between two values. */
export const SYMBOLS: readonly string[] = ["==", "<", "<=", ">", ">=", "!=", "in", "not in"];

const MIRRORED: Readonly<Record<string, string>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
const DATE =
  /^\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?<zone>Z|[+-]\d\d:?\d\d)?)?)?)?$/;
const MOMENT =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(?:Z|([+-])(\d\d):?(\d\d))$/;

/** Compiles one comparison; what is compared with a list is `in` it or `not in` it. */
export function comparison(symbol: string, left: Operand, right: Operand): Test {
  if (symbol === "!=" || symbol === "not in") {
    const test = comparison(symbol === "!=" ? "==" : "in", left, right);
    return (fields) => !test(fields);
  }
  if ("field" in right && !("field" in left) && symbol !== "in") {
    // The precision of a date is that of the value, which therefore stands on the right.
    return comparison(MIRRORED[symbol] ?? symbol, right, left);
  }
  const [getLeft, getRight] = [getter(left), getter(right)];
  if (symbol === "in") return (fields) => isIn(getLeft(fields), getRight(fields));
  return (fields) => isOrdered(symbol, getLeft(fields), getRight(fields));
}

/** What gets the value of an operand; null where a document has no such field. */
export function getter(operand: Operand): (fields: Fields) => Constant {
  if ("constant" in operand) return () => operand.constant;
  const { field } = operand;
  return (fields) => (Object.hasOwn(fields, field) ? (fields[field] ?? null) : null);
}

/** Joins tests of which every one must hold. */
export function allOf(tests: readonly Test[]): Test {
  const [only] = tests;
  if (only && tests.length === 1) return only;
  return (fields) => tests.every((test) => test(fields));
}

function isIn(value: Constant, group: Constant): boolean {
  if (Array.isArray(group)) return group.some((member) => isOrdered("==", value, member));
  return typeof value === "string" && typeof group === "string" && group.includes(value);
}

function isOrdered(symbol: string, left: Constant, right: Constant): boolean {
  if (left === null || right === null) return symbol === "==" && left === right;
  if (typeof left === "string") {
    const text = typeof right === "number" ? yearOf(left, right) : right;
    return typeof text === "string" && holds(symbol, compareTexts(...toOnePrecision(left, text)));
  }
  const isNumber = typeof left === "number" && typeof right === "number";
  const isBoolean = typeof left === "boolean" && typeof right === "boolean";
  return (isNumber || isBoolean) && holds(symbol, Number(left) - Number(right), left === right);
}

/** The year of a date as a text; any other text is of another kind than a number. */
function yearOf(text: string, year: number): string | null {
  const isYear = Number.isInteger(year) && year >= 1000 && year <= 9999;
  return isYear && text.length > 4 && dateOf(text) !== null ? String(year) : null;
}

function holds(symbol: string, difference: number, isSame = difference === 0): boolean {
  switch (symbol) {
    case "==":
      return isSame;
    case "<":
      return difference < 0;
    case "<=":
      return difference < 0 || isSame;
    case ">":
      return difference > 0;
    default:
      return difference > 0 || isSame;
  }
}

/** Shortens a date to what it is compared with; other texts stay as they are. */
function toOnePrecision(left: string, right: string): [string, string] {
  if (!/^\d/.test(left) || !/^\d/.test(right)) return [left, right];
  const [date, other] = [dateOf(left), dateOf(right)];
  if (date === null || other === null) return [left, right];
  return [date.slice(0, other.length), other];
}

/** A date so written that the order of texts is the order of time; null if it is none. */
export function dateOf(text: string): string | null {
  const found = DATE.exec(text);
  if (!found) return null;
  return found.groups?.["zone"] ? inUtc(text) : text.replaceAll(" ", "T");
}

function inUtc(text: string): string | null {
  const found = MOMENT.exec(text);
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0));
  const local = utcMs(year ?? 0, month ?? 0, day ?? 0, hour ?? 0, minute ?? 0, second ?? 0);
  const offset = Number(found[9] ?? 0) * 60 + Number(found[10] ?? 0);
  if (local === null || offset >= 24 * 60) return null;
  const moment = new Date(local - (found[8] === "-" ? -offset : offset) * 60_000);
  if (moment.getUTCFullYear() < 1 || moment.getUTCFullYear() > 9999) return null;
  const micros = (found[7] ?? "").padEnd(6, "0");
  return moment.toISOString().slice(0, 19) + (Number(micros) === 0 ? "" : `.${micros}`);
}

/** Milliseconds of a moment; null for one that no calendar has. */
function utcMs(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year > 0;
  if (!isDay || hour > 23 || minute > 59 || second > 59) return null;
  return date.setUTCHours(hour, minute, second);
}
