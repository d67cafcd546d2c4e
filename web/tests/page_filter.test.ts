// The filters of the page, as an index in the page takes them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { filterOf } from "../page/local/filter.ts";
import { pathsOf, readQuery, typesOf } from "../page/query.ts";
import { parseFilter } from "../src/query/filters/expression.ts";

const NOTE = {
  ...{ path: "/home/ann/notes/2024/lease.md", type: "markdown", extension: "md" },
  ...{ modified: "2024-05-31T10:00:00+00:00", lang: "en" },
};

function letsThrough(said: Record<string, string>, fields = NOTE): boolean {
  const filter = filterOf(readQuery(new URLSearchParams(said).toString()));
  return filter === "" || parseFilter(filter).matches(fields);
}

test("without filters everything is let through", () => {
  assert.equal(filterOf(readQuery("?q=lease")), "");
});

test("paths are what they hold, or patterns", () => {
  for (const path of ["lease", "notes/", "notes/2024", "*.md", "notes/**/*.md", "lea?e", "/home/**", "!*.pdf"])
    assert.ok(letsThrough({ path }), path);
  for (const path of ["rent", "notes/2023", "*.pdf", "letters/**", "!notes/**", '"quoted"', "back\\slash"])
    assert.ok(!letsThrough({ path }), path);
});

test("types are kinds or extensions, whatever their letters", () => {
  for (const type of ["markdown", "pdf, Markdown", ".md", "MD,"]) assert.ok(letsThrough({ type }), type);
  for (const type of ["pdf", "mark"]) assert.ok(!letsThrough({ type }), type);
});

test("the first day counts, and the last one does not", () => {
  assert.ok(letsThrough({ after: "2024-05-31", before: "2024-06-01" }));
  assert.ok(!letsThrough({ after: "2024-06-01" }));
  assert.ok(!letsThrough({ before: "2024-05-31" }));
});

test("what is no date is no filter", () => {
  assert.equal(filterOf(readQuery("?after=yesterday&before=2024")), "");
});

test("all filters hold at once, whatever stands in one of them", () => {
  const where = 'lang == "en" or lang == "de"';

  assert.ok(letsThrough({ path: "lease", type: "md", where }));
  assert.ok(!letsThrough({ path: "rent", type: "md", where }));
  assert.ok(!letsThrough({ type: "pdf", where }));
});

test("an expression alone stays as it was typed", () => {
  assert.equal(filterOf(readQuery("?where=size+%3D+3")), "size = 3");
});

test("a server is asked for what stands anywhere in a path, or for the pattern as it is", () => {
  const pathsFor = (path: string) => pathsOf(readQuery(`?path=${encodeURIComponent(path)}`));

  assert.deepEqual(pathsFor(""), []);
  assert.deepEqual(pathsFor("lease"), ["*lease*"]);
  assert.deepEqual(pathsFor(".md"), ["*.md*"]);
  for (const path of ["*.md", "notes/**", "~/notes", "./a", "!old"]) assert.deepEqual(pathsFor(path), [path]);
  assert.deepEqual(typesOf(readQuery("?type=pdf,%20.MD,")), ["pdf", "md"]);
});
