// Bundles the worker: what every question needs in one file, and what few need in others that it loads. No file imports
// another, so that bundlers, which give them other names, need not read them (src/worker/parts.ts).
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { shrink } from "./build_small.mjs";

const ENTRY = "src/worker/host.ts";
const MAIN = "main"; // the module that every question needs, and its file
// Parts that are in one file with others: some bundlers put small files into a page as text, which its policy may forbid.
const FILES = { passages: "more", status: "more", memory: "more", indexeddb: "more", ask: "server", server: "server" };
Object.assign(FILES, { builder: "build", chunks: "build" });
const SHARED = "build"; // where modules stand that several parts use, if none of these asks servers
const HASH = "@@HASH@@";
const TABLE = '"@@TABLE@@"';
// Bundlers are not to look for what is only known later.
const IMPORT = "import(/* @vite-ignore *//* webpackIgnore: true *//* turbopackIgnore: true */";

/** Writes the files of the worker into a folder, and worker.js, which imports the one that begins. Their names hold a
 * hash of all, so that none meets one of another release. Gives the hash, the name of the first and those of the rest. */
export async function buildWorker(folder, options) {
  const outputs = await bundleModules(folder, options);
  const modules = namesOf(outputs);
  const table = Object.fromEntries([...modules.values()].map(({ name, file }) => [name, file]));
  const texts = new Map();
  for (const { path, text } of outputs.outputFiles) {
    const module = modules.get(basename(path));
    if (!module) continue; // worker.js
    const made = definitionOf(module.name, text, modules).replace(TABLE, JSON.stringify(table));
    texts.set(module.file, (texts.get(module.file) ?? "") + made);
  }
  // What every question waits for: another tool makes it a twentieth smaller, but takes its time.
  texts.set(MAIN, await shrink(texts.get(MAIN)));
  const digest = createHash("sha256").update([...texts.values()].join("")).digest("hex");
  const hash = digest.slice(0, 8).toUpperCase();
  const nameOf = (file) => `worker-${file}-${hash}.js`;
  for (const [file, text] of texts) {
    const whole = text.replaceAll(HASH, hash).replace(/\bimport\(/g, IMPORT);
    await writeFile(join(folder, nameOf(file)), whole);
  }
  await writeFile(join(folder, "worker.js"), `import"./${nameOf(MAIN)}";\n`);
  const parts = [...texts.keys()].filter((file) => file !== MAIN);
  return { first: nameOf(MAIN), parts: parts.map(nameOf).sort(), hash };
}

/** Bundles each module that is loaded later, and what such modules share, into a text of its own. */
async function bundleModules(folder, options) {
  const here = options.absWorkingDir;
  const define = { BUILD: JSON.stringify(HASH), PART_FILES: TABLE };
  const split = { entryPoints: { worker: ENTRY }, outdir: folder, splitting: true, metafile: true, write: false };
  const named = { ...options, ...split, define, chunkNames: "[name]-[hash]" };
  const { metafile } = await build(named);
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const lazy = imports.filter(({ kind, external }) => kind === "dynamic-import" && !external);
  const parts = new Set(lazy.map(({ path }) => join(here, path)));
  return build({ ...named, plugins: [importEntry(parts, join(here, ENTRY))] });
}

/** Lets each part import the entry. The bundler makes one file of the modules that the same entries and parts
 * lead to: so all that the worker begins with is in one, and not in one for each set of parts that use it. */
function importEntry(parts, entry) {
  const setup = ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!parts.has(path)) return null;
      return { contents: `import ${JSON.stringify(entry)};\n${await readFile(path, "utf8")}`, loader: "ts" };
    });
  return { name: "import-entry", setup };
}

/** What the modules are called and which files they go into, by what the bundler calls them. */
function namesOf({ metafile }) {
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]);
  const [, worker] = outputs.find(([path]) => path === "worker.js");
  const main = basename(worker.imports[0].path);
  const usesServers = ({ imports }, path) => imports.some((used) => basename(used.path) === path);
  const rest = outputs.filter(([path]) => path !== "worker.js" && path !== main);
  const modules = new Map([[main, { name: MAIN, file: MAIN }]]);
  for (const [path, { entryPoint }] of rest) {
    const part = entryPoint && basename(entryPoint, ".ts");
    const users = rest.filter(([, output]) => usesServers(output, path));
    const asks = users.some(([, user]) => FILES[basename(user.entryPoint ?? "", ".ts")] === "server");
    const shared = { name: `shared${modules.size}`, file: asks ? "server" : SHARED };
    modules.set(path, part ? { name: part, file: FILES[part] ?? part } : shared);
  }
  return modules;
}

/** A module as a call that defines it: its imports are what the call is given, its exports what it gives. */
function definitionOf(name, text, modules) {
  const needs = [];
  let body = text.trim();
  const nameAt = (path) => modules.get(path).name;
  for (let found; (found = body.match(/^import(?:\{([^}]*)\}from)?"\.\/([^"]+)";/)); body = body.slice(found[0].length)) {
    needs.push([nameAt(found[2]), found[1]]);
  }
  body = body.replace(/import\("\.\/([^"]+)"\)/g, (_, path) => `gossamerParts.load(${JSON.stringify(nameAt(path))})`);
  const exported = body.match(/export\{([^}]*)\};?$/);
  body = body.slice(0, exported ? exported.index : undefined);
  const gives = pairsOf(exported?.[1] ?? "").map(([own, given]) => `${given}:${own}`);
  if (/\bexport\s*\{|\bimport\s*["{*]|\bimport\.meta\b/.test(body)) throw new Error(`${name} has imports or exports left`);
  if (name === MAIN) return `${body}gossamerParts.define("${MAIN}",[],()=>({${gives}}));\n`;
  const takes = needs.map(([need, names]) => `const{${pairsOf(names ?? "").map(([theirs, own]) => `${theirs}:${own}`)}}=need("${need}");`);
  const others = needs.map(([need]) => need);
  return `gossamerParts.define("${name}",${JSON.stringify(others)},need=>{${takes.join("")}${body}return{${gives}}});\n`;
}

/** The names before and after "as" in the list of an import or export. */
function pairsOf(list) {
  return list.split(",").filter(Boolean).map((item) => {
    const [from, to = from] = item.split(" as ");
    return [from, to];
  });
}
