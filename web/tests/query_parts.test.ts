import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import type { Value } from "../src/records.ts";
import { contextLine, embeddedText } from "../src/text/embedded.ts";
import { dateOf } from "../src/query/filters/comparisons.ts";
import { parseFilter } from "../src/query/filters/expression.ts";
import { extensionOf, momentOf } from "../src/query/filters/scope.ts";
import { fuse } from "../src/query/fusion.ts";
import { chooseSnippet } from "../src/query/snippet.ts";

interface FilterData {
  readonly fields: Record<string, Value | null>[];
  readonly matches: { text: string; names: string[]; matches: boolean[] }[];
  readonly errors: { text: string; message: string }[];
  readonly dates: { text: string; date: string | null }[];
  readonly moments: { ns: string; moment: string }[];
  readonly extensions: { path: string; extension: string }[];
}

function made<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`data/query/${name}.json`, import.meta.url), "utf8")) as T;
}

test("rankings are fused into the order and scores of Python", () => {
  const cases = made<{ rankings: Record<string, number[]>; fused: unknown }[]>("fusion");

  for (const { rankings, fused } of cases) assert.deepEqual(fuse(rankings), fused);
});

test("a filter lets through what Python's does", () => {
  const { fields, matches } = made<FilterData>("filters");

  for (const one of matches) {
    const filter = parseFilter(one.text);
    assert.deepEqual(fields.map((some) => filter.matches(some)), one.matches, one.text);
    assert.deepEqual([...filter.names].sort(), one.names, one.text);
  }
});

test("a malformed filter is refused in the words of Python", () => {
  for (const { text, message } of made<FilterData>("filters").errors) {
    assert.throws(() => parseFilter(text), (error) => {
      assert.ok(error instanceof GossamerError);
      assert.equal(error.reason, "InvalidArgument");
      assert.equal(error.message, message);
      return true;
    });
  }
});

test("dates of all precisions and zones are written as Python writes them", () => {
  const { dates, moments, extensions } = made<FilterData>("filters");

  for (const { text, date } of dates) assert.equal(dateOf(text), date, text);
  for (const { ns, moment } of moments) assert.equal(momentOf(BigInt(ns)), moment, ns);
  for (const { path, extension } of extensions) assert.equal(extensionOf(path), extension, path);
});

test("snippets and their highlights are those of Python", () => {
  interface Case {
    readonly text: string;
    readonly question: string;
    readonly spans: number[];
    readonly terms: Record<string, string[]>;
    readonly snippet: string;
    readonly shown: string[];
    readonly line: number;
  }
  for (const one of made<Case[]>("snippets")) {
    const words = {
      findTerms: () => Uint32Array.from(one.spans),
      termsOf: (word: string) => one.terms[word] ?? assert.fail(`${word} was not looked for`),
    };

    const snippet = chooseSnippet(words, one.text, one.question);

    assert.equal(snippet.text, one.snippet);
    assert.deepEqual(snippet.highlights.map(([start, end]) => snippet.text.slice(start, end)), one.shown);
    assert.equal(snippet.line, one.line);
  }
});

test("what is embedded of a chunk is what Python embeds", () => {
  interface Case {
    readonly name: string;
    readonly title: string;
    readonly headings: string[];
    readonly body: string;
    readonly embedded: string;
  }
  for (const { name, title, headings, body, embedded } of made<Case[]>("embedded")) {
    assert.equal(embeddedText(contextLine(name, title), headings, body), embedded);
  }
});
