// An engine and an embedder that keep what they are given, so that a test can look at it.

import type { Engine, EngineIndex, EngineParts } from "../src/core/engine.ts";
import { GossamerError } from "../src/errors.ts";
import { writeContainer } from "../src/format/container.ts";
import type { ChunkEmbedder } from "../src/update/change.ts";

const CODE_BYTES = 4;

/** Texts whose vectors are four numbers made of their letters. */
export interface FakeEmbedder extends ChunkEmbedder {
  readonly texts: string[]; // that were embedded
}

export function fakeEmbedder(name = "fake"): FakeEmbedder {
  const texts: string[] = [];
  return {
    name,
    fingerprint: `print-of-${name}`,
    dim: 4,
    maxTokens: 64,
    texts,
    tokenStarts: (text) => {
      const found = new TextDecoder("latin1").decode(text).matchAll(/[A-Za-z0-9]{1,4}|[^\sA-Za-z0-9]/g);
      return Uint32Array.from(found, (match) => match.index);
    },
    embed: async (some, signal) => {
      if (signal?.aborted) throw new GossamerError("Cancelled", "cancelled");
      texts.push(...some);
      return Float32Array.from(some.flatMap((text) => [...vectorOf(text)]));
    },
  };
}

/** What the fake engine keeps of a text. */
export function codeOf(text: string): number[] {
  return [...vectorOf(text)];
}

function vectorOf(text: string): Uint8Array {
  const sums = new Uint8Array(CODE_BYTES);
  [...text].forEach((character, place) => {
    sums[place % CODE_BYTES] = (sums[place % CODE_BYTES] ?? 0) + (character.codePointAt(0) ?? 0);
  });
  return sums;
}

/** An engine of codes alone; a file is one section of JSON. */
export function fakeEngine(): Engine {
  return {
    kernels: "simd",
    canBuild: true,
    openCollection: () => {
      throw new GossamerError("WrongState", "the fake answers nothing");
    },
    open: (parts) => fakeIndex(codesIn(parts)),
    create: () => fakeIndex(new Map()),
    build: () => {
      throw new GossamerError("WrongState", "the fake builds nothing");
    },
    memoryBytes: () => 0,
  };
}

/** The code of each id in an engine's file. */
export function codesIn(parts: EngineParts): Map<number, number[]> {
  const meta = parts.sections.get(1) ?? new Uint8Array();
  return new Map(JSON.parse(new TextDecoder().decode(meta)) as [number, number[]][]);
}

function fakeIndex(codes: Map<number, number[]>): EngineIndex {
  const known = (id: number): number[] => {
    const code = codes.get(id);
    if (!code) throw new GossamerError("UnknownId", `there is no ${id}`);
    return code;
  };
  const put = (ids: readonly number[], rows: ArrayLike<number>): void => {
    ids.forEach((id, place) => {
      if (codes.has(id)) throw new GossamerError("DuplicateId", `${id} is there`);
      codes.set(id, Array.from(rows).slice(place * CODE_BYTES, (place + 1) * CODE_BYTES));
    });
  };
  const index = {
    dim: 4,
    keep: "none",
    graph: "none",
    codeBytes: CODE_BYTES,
    get count() {
      return codes.size;
    },
    ids: () => [...codes.keys()],
    add: put,
    addCodes: put,
    codesOf: (ids: readonly number[]) => Uint8Array.from(ids.flatMap(known)),
    remove: (ids: readonly number[]) => ids.forEach((id) => known(id) && codes.delete(id)),
    save: () => writeContainer([{ kind: 1, bytes: new TextEncoder().encode(JSON.stringify([...codes])) }]),
    free: () => {},
  };
  return index as unknown as EngineIndex;
}
