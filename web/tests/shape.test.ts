// The shape of src/: what may use what, and how long files and functions may get.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const SRC = resolve(dirname(fileURLToPath(import.meta.url)), "..", "src");
const MOST_FILE_LINES = 400;
const MOST_FUNCTION_LINES = 60;

// From the bottom up: each uses only itself and what stands before it, types included.
const LAYERS = [
  "errors.ts",
  "files.ts", // where the files of the package are
  "lazy.ts", // loads parts of the package when they are needed
  "random.ts",
  "turns.ts",
  "records.ts",
  "options.ts",
  "answers.ts", // what the core says of an answer, here or on a server
  "text",
  "bytes",
  "core", // the Wasm modules
  "storage",
  "format",
  "embed",
  "tiers",
  "server", // what is asked of a server
  "query",
  "readers",
  "update",
  "sync",
  "worker",
  "remote", // an index that a server searches
  "vectors", // of the page itself, without texts
  "index.ts",
  "react", // hooks
];

const texts = new Map(
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => [name.replaceAll("\\", "/"), readFileSync(join(SRC, name), "utf8")]),
);

test("every file stands in a layer, and uses only what stands below it", () => {
  const wrong = [...texts].flatMap(([file, text]) =>
    importsOf(file, text)
      .filter((used) => layerOf(used) > layerOf(file))
      .map((used) => `${file} uses ${used}`),
  );
  assert.deepEqual(wrong, []);
  assert.deepEqual([...texts.keys()].filter((file) => layerOf(file) < 0), []);
});

test("no files import each other in a circle", () => {
  assert.deepEqual(circleIn(new Map([...texts].map(([file, text]) => [file, importsOf(file, text)]))), []);
});

test("no file is too long", () => {
  const long = [...texts].filter(([, text]) => text.split("\n").length - 1 > MOST_FILE_LINES);
  assert.deepEqual(long.map(([file]) => file), []);
});

test("no function is too long", () => {
  const long = [...texts].flatMap(([file, text]) => longFunctions(file, text).map((name) => `${file} ${name}`));
  assert.deepEqual(long, []);
});

test("circles, imports and long functions are seen", () => {
  const circle = new Map([["a", ["b"]], ["b", ["c", "d"]], ["c", []], ["d", ["b"]]]); // prettier-ignore
  assert.deepEqual(circleIn(circle), ["b", "d", "b"]);
  const some = ['import type { A } from "../a.ts"', 'export * from "./b.ts"', 'void import("./c.ts")'];
  const text = [...some, 'let d: import("./d.ts").D'].join(";\n");
  assert.deepEqual(importsOf("x/y.ts", text), ["a.ts", "x/b.ts", "x/c.ts", "x/d.ts"]);
  const body = "\n".repeat(MOST_FUNCTION_LINES);
  const long = `class A { b() {${body}} }\nconst c = () => {${body}};\nfunction d() {}\n`;
  assert.deepEqual(longFunctions("x.ts", long), ["b", "c"]);
});

function layerOf(file: string): number {
  return LAYERS.indexOf(file.split("/")[0] ?? "");
}

/** The files of src/ that a file imports in any way. */
function importsOf(file: string, text: string): string[] {
  const names = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  return names.filter((name) => name.startsWith(".")).map((name) => normalize(join(dirname(file), name)));
}

/** The first circle of a graph, its first member again at its end; empty if there is none. */
function circleIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const search = (node: string, path: readonly string[]): string[] => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return [];
    for (const next of graph.get(node) ?? []) {
      const found = search(next, [...path, node]);
      if (found.length > 0) return found;
    }
    done.add(node);
    return [];
  };
  for (const node of graph.keys()) {
    const found = search(node, []);
    if (found.length > 0) return found;
  }
  return [];
}

/** The names of the functions that have too many lines. */
function longFunctions(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const lineAt = (place: number) => source.getLineAndCharacterOfPosition(place).line;
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const lines = lineAt(node.end) - lineAt(node.getStart()) + 1;
    if (ts.isFunctionLike(node) && lines > MOST_FUNCTION_LINES) found.push(nameOf(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** What a function is called: by itself, or by what it is given to. */
function nameOf(node: ts.SignatureDeclaration): string {
  const { parent } = node;
  const given = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name : undefined;
  return (node.name ?? given)?.getText() ?? "(without a name)";
}
