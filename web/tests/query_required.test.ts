// What a question requires to the letter: in an index of the page's own, whose texts are read, and in the file
// that it exports, which has postings.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import { makeServices, type Services } from "../src/query/services.ts";
import { WebIndex } from "../src/query/web_index.ts";
import type { Mode, Results, SearchOptions } from "../src/records.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import { addFiles, buildIndex, exportIndex } from "../src/worker/changes.ts";
import type { Job } from "../src/worker/job.ts";
import { builtWasm } from "./wasm_files.ts";

const MODEL = "http://host/pocket.model.gossamer";
const MODES: readonly Mode[] = ["hybrid", "semantic", "lexical"];
const FILES = {
  "guides/leases.md": "# Leases\n\nA lease ends when its holder lets it go. Error E1101 says that it was lost.",
  "guides/locks.txt": "A lock that ends a lease early is broken; take_lock() takes another.",
  "notes/whales.md": "# Whales of the sea\n\nThe blue whale is the largest animal of the sea.",
  "notes/fish.txt": "The largest whale of the sea is blue, and no fish.",
};
const EVERY = Object.keys(FILES).sort();

interface Opened {
  readonly name: string;
  readonly index: WebIndex;
  readonly loaded: string[]; // the modules that were asked for
}

/** The same documents in both kinds of index. */
async function openBoth(): Promise<Opened[]> {
  const model = readFileSync(new URL("../../python/gossamer/models/data/pocket.gossamer", import.meta.url));
  const fetched = mock.method(globalThis, "fetch", async () => new Response(new Uint8Array(model)));
  const storage = memoryStorage();
  const services = (loaded: string[]): Services => {
    const fetch = (name: string) => {
      loaded.push(name);
      return builtWasm.fetch(name);
    };
    return makeServices({ ...builtWasm, fetch }, storage);
  };
  const job: Job = { signal: new AbortController().signal, progress: () => {}, texts: async function* () {} };
  const [own, exported]: [string[], string[]] = [[], []];
  const { index } = await buildIndex(services(own), "own", { model: MODEL }, job);
  const files = Object.entries(FILES).map(([path, text]) => ({ path, file: new Blob([text]), mtime: 0 }));
  await addFiles(services(own), index, files, job);
  const file = await exportIndex(services(own), index, job);
  own.length = 0;
  fetched.mock.restore();
  return [
    { name: "own", index, loaded: own },
    { name: "exported", index: await WebIndex.open(file, {}, services(exported)), loaded: exported },
  ];
}

const opened = openBoth();

/** What is found, in every mode and both kinds. */
async function ask(
  question: string,
  check: (found: Results, said: string) => void,
  options: SearchOptions = {},
): Promise<void> {
  for (const { name, index } of await opened) {
    for (const mode of MODES) check(await index.search(question, { mode, ...options }), `${question}, ${name}, ${mode}`);
  }
}

function sourcesOf({ hits }: Results): string[] {
  return hits.map(({ source }) => source).sort();
}

function finds(...sources: (keyof typeof FILES)[]): (found: Results, said: string) => void {
  return (found, said) => {
    assert.deepEqual(sourcesOf(found), [...sources].sort(), said);
    assert.deepEqual(found.absent, [], said);
  };
}

test("a phrase is found where its words stand side by side", async () => {
  await ask('"blue whale"', finds("notes/whales.md"));
  await ask('largest “ends a lease”', finds("guides/locks.txt"));
});

test("what must be there is, and what must not is not", async () => {
  await ask("+fish the largest", finds("notes/fish.txt"));
  await ask("largest whale +sea -fish", finds("notes/whales.md"));
  await ask('+lease -"lets it go"', finds("guides/locks.txt"));
});

test("fields choose files by path and kind, and passages by title", async () => {
  await ask("lease path:guides type:markdown", finds("guides/leases.md"));
  await ask("whales -path:guides -type:markdown", finds("notes/fish.txt"));
  await ask("largest title:whales", finds("notes/whales.md"));
  await ask("broken lock path:GUIDES/*.TXT", finds("guides/locks.txt"));
});

test("fields narrow what filters let through", async () => {
  await ask("the largest type:markdown", finds("notes/whales.md"), { paths: ["*notes*"] });
  await ask("a lease ends path:guides", finds("guides/leases.md"), { filter: 'type == "markdown"' });
});

test("what is nowhere is said, and the rest of the question is answered", async () => {
  const lacks = (absent: string) => (found: Results, said: string) => {
    assert.deepEqual(found.absent, [absent], said);
    if (found.explanation.mode !== "lexical") assert.deepEqual(sourcesOf(found), EVERY, said);
  };
  await ask('"blue fish"', lacks("blue fish"));
  await ask("largest +submarine", lacks("submarine"));
  await ask("whale title:submarine", lacks("title:submarine"));
});

test("a name that is nowhere is said where words are looked for", async () => {
  await ask("error E9999", ({ absent, explanation: { mode } }, said) => {
    assert.deepEqual(absent, mode === "semantic" ? [] : ["E9999"], said);
  });
  await ask("error E1101", ({ absent, hits, explanation: { mode } }, said) => {
    assert.deepEqual(absent, [], said);
    if (mode !== "semantic") assert.equal(hits[0]?.source, "guides/leases.md", said);
  });
});

test("a plain question is text to the letter", async () => {
  await ask('"blue fish" -whale path:guides', ({ absent, hits, explanation: { mode } }, said) => {
    assert.deepEqual(absent, [], said);
    assert.equal(hits.length, mode === "lexical" ? 2 : EVERY.length, said);
  }, { plain: true });
});

test("chunks like one whose text has signs are found whatever these mean", async () => {
  for (const { index } of await opened) {
    const { hits } = await index.search("take_lock", { k: 1 });

    const found = await index.similar(hits[0]?.id ?? 0, { k: 9 });

    assert.deepEqual(sourcesOf(found), EVERY.filter((source) => source !== "guides/locks.txt"));
    assert.deepEqual(found.absent, []);
  }
});

test("the module of filters is loaded by the first question that names one", async () => {
  const [own] = (await openBoth()) as [Opened];
  await own.index.search('"blue whale" +sea title:whales');
  await own.index.search("whale path:notes", { plain: true });
  assert.ok(!own.loaded.includes("gossamer-filters.wasm"));

  await own.index.search("whale path:notes");

  assert.ok(own.loaded.includes("gossamer-filters.wasm"));
});

test("more filters than are remembered do not get into each other's way", async () => {
  const [{ index }] = (await opened) as [Opened];
  const search = async (question: string) => sourcesOf(await index.search(question, { mode: "semantic" }));
  const numbers = Array.from({ length: 50 }, (_, number) => number);
  const many = numbers.slice(0, 31).map((number) => `-path:none${number}`).join(" ");

  for (const number of numbers) {
    assert.deepEqual(await search(`whale path:fish -path:other${number}`), ["notes/fish.txt"]);
  }
  assert.deepEqual(await search(`whale path:fish ${many}`), ["notes/fish.txt"]);
  const both = await Promise.all([search(`whale path:fish ${many}`), search("whale path:locks")]);
  assert.deepEqual(both, [["notes/fish.txt"], ["guides/locks.txt"]]);
});

test("a field that no filter takes is said to be wrong", async () => {
  const [{ index }] = (await opened) as [Opened];

  const found = await index.search("whale path:[").catch((error: unknown) => error);

  assert.ok(!(found instanceof GossamerError) || found.reason === "InvalidArgument", String(found));
});
