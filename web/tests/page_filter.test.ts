// The filters of the page, as an index in the page or a server takes them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { optionsOf, readQuery } from "../page/query.ts";
import { makeServices } from "../src/query/services.ts";
import { WebIndex } from "../src/query/web_index.ts";
import { memoryStorage } from "../src/storage/memory.ts";
import { applyChange } from "../src/update/change.ts";
import { CHUNKS } from "./cores.ts";
import { fakeEmbedder, fakeEngine } from "./update_fakes.ts";
import { builtWasm } from "./wasm_files.ts";

const index = await indexOf("home/ann/notes/2024/lease.md", "---\nlang: en\n---\nThe lease is due.");

/** An index of one file that was changed in the morning of the last of May. */
async function indexOf(path: string, text: string): Promise<WebIndex> {
  const storage = memoryStorage();
  const folder = await storage.folder("notes");
  const file = { path, bytes: new TextEncoder().encode(text), mtime: Date.parse("2024-05-31T10:00Z") };
  const tools = { builder: async () => fakeEngine(), chunks: async () => CHUNKS, pack: new Uint8Array() };
  await applyChange(null, { adds: [file] }, { folder, embedder: fakeEmbedder(), ...tools });
  return WebIndex.open("notes", {}, makeServices(builtWasm, storage));
}

function optionsFor(said: Record<string, string>) {
  return optionsOf(readQuery(new URLSearchParams(said).toString()));
}

async function letsThrough(said: Record<string, string>): Promise<boolean> {
  const { hits } = await index.search("lease", { ...optionsFor(said), mode: "lexical" });
  return hits.length > 0;
}

test("without filters everything is let through", async () => {
  const { explanation } = await index.search("lease", { ...optionsFor({}), mode: "lexical" });

  assert.equal(explanation.allowedChunks, null);
  assert.ok(await letsThrough({}));
});

test("paths are what they hold, or patterns", async () => {
  for (const path of ["lease", "notes/", "notes/2024", "*.md", "notes/**/*.md", "lea?e*", "/home/**", "!*.pdf"])
    assert.ok(await letsThrough({ path }), path);
  for (const path of ["rent", "notes/2023", "*.pdf", "letters/**", "!notes/**", '"quoted"', "back\\slash"])
    assert.ok(!(await letsThrough({ path })), path);
  assert.ok(!(await letsThrough({ path: "home/*.md" })), "a star stays within a name");
});

test("types are kinds or extensions, whatever their letters", async () => {
  for (const type of ["markdown", "pdf, Markdown", ".md", "MD,"]) assert.ok(await letsThrough({ type }), type);
  for (const type of ["pdf", "mark"]) assert.ok(!(await letsThrough({ type })), type);
});

test("the first day counts, and the last one does not", async () => {
  assert.ok(await letsThrough({ after: "2024-05-31", before: "2024-06-01" }));
  assert.ok(!(await letsThrough({ after: "2024-06-01" })));
  assert.ok(!(await letsThrough({ before: "2024-05-31" })));
});

test("what is no date is no filter of the page, and refused by an index", async () => {
  assert.ok(await letsThrough({ after: "yesterday", before: "2024" }));
  await assert.rejects(index.search("lease", { after: "yesterday" }), {
    reason: "InvalidArgument",
    message: /expected a date such as 2024-05-31 or 2024, not 'yesterday'/,
  });
});

test("all filters hold at once, whatever stands in one of them", async () => {
  const where = 'lang == "en" or lang == "de"';

  assert.ok(await letsThrough({ path: "lease", type: "md", where }));
  assert.ok(!(await letsThrough({ path: "rent", type: "md", where })));
  assert.ok(!(await letsThrough({ type: "pdf", where })));
});

test("a message about an expression points at its characters", async () => {
  await assert.rejects(letsThrough({ type: "md", where: "size = 3" }), { message: /write ==/ });
});

test("what is no pattern may stand anywhere in a path, and a pattern stays as it is", () => {
  const pathsFor = (path: string) => optionsFor({ path }).paths;

  assert.deepEqual(pathsFor(""), []);
  assert.deepEqual(pathsFor("lease"), ["*lease*"]);
  assert.deepEqual(pathsFor(".md"), ["*.md*"]);
  for (const path of ["*.md", "notes/**", "~/notes", "./a", "!old"]) assert.deepEqual(pathsFor(path), [path]);
  assert.deepEqual(optionsFor({ type: "pdf, .MD," }).types, ["pdf", ".MD"]);
});
