// The language of filters: an expression read and compiled. The twin of filters/expression.py; what the
// language is stands in python/gossamer/filters/__init__.py.

import { GossamerError } from "../../errors.ts";
import type { Value } from "../../records.ts";
import { SPACE, countCharacters } from "../../text/python_text.ts";
import { SYMBOLS, allOf, comparison, getter } from "./comparisons.ts";
import type { Filter, Operand, Test } from "./comparisons.ts";

const MAX_LENGTH = 10_000;
const MAX_DEPTH = 50;
const MAX_DIGITS = 30;
const WORD = "\\p{L}\\p{N}_";
const KINDS = ["date", "number", "text", "symbol", "name", "end"] as const;
const TOKEN = new RegExp(
  `[${SPACE}]*(?:` +
    `(?<date>\\d{4}-\\d\\d(?:-\\d\\d(?:T[\\d:.]+(?:Z|[+\\-]\\d\\d:?\\d\\d)?)?)?)(?![${WORD}.:\\-])` +
    `|(?<number>[+\\-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+\\-]?\\d+)?)(?![${WORD}.])` +
    `|(?<text>"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')` +
    "|(?<symbol>==|!=|<=|>=|<|>|\\(|\\)|\\[|\\]|,)" +
    `|(?<name>[\\p{L}\\p{Nl}\\p{No}_][${WORD}.\\-]*|\`[^\`]+\`)` +
    "|(?<end>$)" +
    ")",
  "suy",
);
const LEADING_SPACE = new RegExp(`[${SPACE}]*`, "y");
const CONSTANTS: ReadonlyMap<string, Value | null> = new Map([
  ["true", true],
  ["false", false],
  ["none", null],
  ["null", null],
]);
const WORDS: ReadonlySet<string> = new Set(["and", "or", "not", "in", ...CONSTANTS.keys()]);
const HINTS: Readonly<Record<string, string>> = {
  "=": "write == to compare",
  "&": "write and",
  "|": "write or",
  "!": "write not",
  '"': "the text is not closed",
  "'": "the text is not closed",
};

/** Compiles an expression; InvalidArgument points at what cannot be read. */
export function parseFilter(text: string): Filter {
  const length = countCharacters(text);
  if (length > MAX_LENGTH) {
    throw new GossamerError(
      "InvalidArgument",
      `a filter may have ${MAX_LENGTH} characters, this one has ${length}`,
    );
  }
  return new Parser(text).filter();
}

/** Reads an expression from left to right, one token ahead. */
class Parser {
  readonly #text: string;
  readonly #names = new Set<string>();
  #depth = 0;
  #kind: (typeof KINDS)[number] = "end";
  #word = "";
  #start = 0;
  #end = 0;

  constructor(text: string) {
    this.#text = text;
    this.#advance(0);
  }

  filter(): Filter {
    const matches = this.#either();
    if (this.#kind !== "end") this.#fail("expected and, or, or the end");
    return { names: this.#names, matches };
  }

  #either(): Test {
    const tests = [this.#both()];
    while (this.#take("or")) tests.push(this.#both());
    return (fields) => tests.some((test) => test(fields));
  }

  #both(): Test {
    const tests = [this.#negation()];
    while (this.#take("and")) tests.push(this.#negation());
    return allOf(tests);
  }

  #negation(): Test {
    let isNegated = false;
    while (this.#take("not")) isNegated = !isNegated;
    const test = this.#word === "(" ? this.#group() : this.#chain();
    return isNegated ? (fields) => !test(fields) : test;
  }

  #group(): Test {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) {
      this.#fail(`expected at most ${MAX_DEPTH} parentheses within each other`);
    }
    this.#expect("(");
    const test = this.#either();
    this.#expect(")");
    this.#depth -= 1;
    return test;
  }

  /** Reads a comparison, or several in a row as in 2020 <= year < 2024. */
  #chain(): Test {
    const start = this.#start;
    let left = this.#value(false);
    const tests: Test[] = [];
    for (let symbol = this.#symbol(); symbol; symbol = this.#symbol()) {
      const right = this.#value(symbol === "in" || symbol === "not in");
      tests.push(comparison(symbol, left, right));
      left = right;
    }
    if (tests.length > 0) return allOf(tests);
    if ("constant" in left && typeof left.constant !== "boolean") {
      this.#start = start;
      this.#fail("expected a comparison such as year >= 2020");
    }
    const get = getter(left);
    return (fields) => Boolean(get(fields));
  }

  #symbol(): string | null {
    if (SYMBOLS.includes(this.#word)) return this.#taken();
    if (this.#word !== "not") return null;
    this.#taken();
    this.#expect("in");
    return "not in";
  }

  #value(isListAllowed: boolean): Operand {
    const [kind, word] = [this.#kind, this.#word];
    const constant = kind === "name" ? CONSTANTS.get(word) : undefined;
    if (constant !== undefined) {
      this.#taken();
      return { constant };
    }
    if (kind === "name" && !WORDS.has(word)) {
      this.#taken();
      const field = word.replaceAll("`", "");
      this.#names.add(field);
      return { field };
    }
    if (isListAllowed) {
      if (word === "[") return { constant: this.#list() };
      this.#fail('expected a list such as ["a", "b"], or a field');
    }
    if (kind !== "date" && kind !== "number" && kind !== "text") {
      this.#fail("expected a field, a text in quotes, a number or a date");
    }
    return { constant: this.#constant() };
  }

  #list(): (Value | null)[] {
    this.#expect("[");
    const values: (Value | null)[] = [];
    while (this.#word !== "]") {
      values.push(this.#constant());
      if (this.#word !== "]") this.#expect(",");
    }
    this.#expect("]");
    return values;
  }

  #constant(): Value | null {
    const [kind, word] = [this.#kind, this.#word];
    if (kind === "number" && word.length > MAX_DIGITS) {
      this.#fail(`expected a number of at most ${MAX_DIGITS} digits`);
    }
    const constant = kind === "name" ? CONSTANTS.get(word) : undefined;
    if (constant === undefined && kind !== "text" && kind !== "date" && kind !== "number") {
      this.#fail("expected a text in quotes, a number or a date");
    }
    this.#taken();
    if (kind === "text") return word.slice(1, -1).replace(/\\([\\"'])/g, "$1");
    if (kind === "number") return Number(word);
    return constant === undefined ? word : constant;
  }

  #take(word: string): boolean {
    const isThere = this.#word === word;
    if (isThere) this.#taken();
    return isThere;
  }

  #expect(word: string): void {
    if (!this.#take(word)) this.#fail(`expected ${word}`);
  }

  #taken(): string {
    const word = this.#word;
    this.#advance(this.#end);
    return word;
  }

  #advance(position: number): void {
    TOKEN.lastIndex = position;
    const found = TOKEN.exec(this.#text);
    if (!found) {
      LEADING_SPACE.lastIndex = position;
      this.#start = position + (LEADING_SPACE.exec(this.#text)?.[0].length ?? 0);
      this.#fail(HINTS[this.#text.charAt(this.#start)] ?? "this is not part of the language");
    }
    this.#kind = KINDS.find((kind) => found.groups?.[kind] !== undefined) ?? "end";
    const word = found.groups?.[this.#kind] ?? "";
    this.#end = position + found[0].length;
    this.#start = this.#end - word.length;
    const isWord = this.#kind === "name" && WORDS.has(word.toLowerCase());
    this.#word = isWord ? word.toLowerCase() : word;
  }

  #fail(expected: string): never {
    const before = Array.from(this.#text.slice(0, this.#start));
    const shown = before.slice(-60);
    const after = Array.from(this.#text.slice(this.#start)).slice(0, 20);
    const line = [...shown, ...after].join("").replace(/[\n\t]/g, " ");
    throw new GossamerError(
      "InvalidArgument",
      `cannot read the filter at character ${before.length + 1}: ${expected}\n` +
        `  ${line}\n  ${" ".repeat(shown.length)}^`,
    );
  }
}
