import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { GossamerError } from "../src/errors.ts";
import { readFile } from "../src/readers/read.ts";
import type { Document } from "../src/records.ts";

interface Failed {
  readonly reason: string;
  readonly message: string;
}

type Found = (Omit<Document, "text"> & { text: string })[] | Failed;

const CASES = JSON.parse(readFileSync(new URL("data/readers.json", import.meta.url), "utf8")) as {
  path: string;
  data: string;
  found: Found;
}[];

function outcome(path: string, bytes: Uint8Array): Found {
  try {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    return readFile(path, bytes).map((document) => ({ ...document, text: decoder.decode(document.text) }));
  } catch (error) {
    if (!(error instanceof GossamerError)) throw error;
    return { reason: error.reason, message: error.message };
  }
}

/** Why a file is left out; what to do about it is another thing in a page. */
function causeOf(found: Found): Found {
  return "reason" in found ? { ...found, message: found.message.replace(/ \(.*\)$/, "") } : found;
}

for (const { path, data, found } of CASES) {
  test(`${path} is read as Python reads it`, () => {
    assert.deepEqual(causeOf(outcome(path, Buffer.from(data, "base64"))), causeOf(found));
  });
}

test("what a page cannot read says who can", () => {
  const found = outcome("a/paper.pdf", Buffer.from("%PDF-1.7"));

  assert.ok("reason" in found && found.reason === "Unreadable" && found.message.includes("gossamer add"));
});

test("hostile bytes give documents or a reason, never anything else", () => {
  const names = "x.html x.md x.csv x.jsonl x.json x.eml x.mbox x.rst x.py x x.txt".split(" ");
  let state = 1;
  const next = (): number => (state = (state * 48271) % 2147483647);
  for (let round = 0; round < 60; round += 1) {
    const bytes = Uint8Array.from({ length: 300 }, () => (round % 2 ? next() % 256 : 32 + (next() % 95)));
    for (const name of names) assert.ok(outcome(`d/${name}`, bytes));
  }
});

test("markup that is never closed takes no longer than its length", () => {
  const open = "<div a='".repeat(50_000) + "<!--".repeat(50_000) + "<svg>".repeat(9);
  const deep = new TextEncoder().encode(open);

  assert.ok(outcome("d/x.html", deep));
});

test("long runs of space take no longer than their length", () => {
  const run = " ".repeat(400_000);
  const table = `a,b${'"'.repeat(60_000)}c`;
  const files = { "x.md": `# a${run}b`, "x.jsonl": `"a${run}b"`, "x.csv": table, "x.html": run };
  const mail = `From: a@b\nContent-Transfer-Encoding: quoted-printable\n\na${run}b`;

  for (const [name, text] of Object.entries({ ...files, "x.eml": mail })) {
    assert.ok(outcome(`d/${name}`, new TextEncoder().encode(text)));
  }
});
