// What the tests of the format share: made files, and how damage is done to them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { GossamerError } from "../src/errors.ts";

/** A golden file of the format, whose content expected.json says. */
export function dataFile(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`data/format/${name}`, import.meta.url)));
}

/** What Python read in these files. */
export const expected = JSON.parse(new TextDecoder().decode(dataFile("expected.json"))) as Expected;

export interface Expected {
  catalogues: Record<string, ExpectedCatalogue>;
  hashes: { text: string; check: number; hash: string }[];
  texts: { offset: number; length: number; digest: string }[];
}

export interface ExpectedCatalogue {
  digest: string;
  words: string[];
  paths: string[];
  sources: Record<string, unknown>[];
  documents: Record<string, unknown>[];
  ids: number[];
  documentRows: number[];
  starts: number[];
  ends: number[];
  checks: number[];
  contexts: [number, number][][];
}

/** Every byte of a file flipped, and the file cut at many places: what is read is the same or refused. */
export async function readDamaged<T>(
  whole: Uint8Array,
  read: (bytes: Uint8Array) => T | Promise<T>,
  step = 1,
): Promise<void> {
  const right = await read(whole);
  for (let at = 0; at < whole.length; at += step) {
    const flipped = whole.slice();
    flipped[at]! ^= 1 << at % 8;
    await sameOrRefused(flipped, read, right);
    await sameOrRefused(whole.slice(0, at), read, right);
  }
}

/** Many bytes overwritten by chance: an answer of any kind, or GossamerError. */
export async function readHostile<T>(
  whole: Uint8Array,
  read: (bytes: Uint8Array) => T | Promise<T>,
  rounds: number,
): Promise<void> {
  const next = randomNumbers(7);
  for (let round = 0; round < rounds; ++round) {
    const changed = whole.slice();
    for (let i = next(8); i >= 0; --i) changed[next(changed.length)] = next(3) === 0 ? 255 : next(256);
    await answerOf(changed, read);
  }
}

/** Numbers below a bound, the same in every run. */
export function randomNumbers(seed: number): (beyond: number) => number {
  let state = seed;
  return (beyond) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * beyond);
  };
}

async function sameOrRefused<T>(
  bytes: Uint8Array,
  read: (bytes: Uint8Array) => T | Promise<T>,
  right: T,
): Promise<void> {
  const answer = await answerOf(bytes, read);
  if (answer !== REFUSED) assert.deepEqual(answer, right);
}

const REFUSED = Symbol("refused");

async function answerOf<T>(bytes: Uint8Array, read: (bytes: Uint8Array) => T | Promise<T>): Promise<unknown> {
  try {
    return await read(bytes);
  } catch (error) {
    assert(error instanceof GossamerError, `another error than ours: ${String(error)}`);
    return REFUSED;
  }
}
