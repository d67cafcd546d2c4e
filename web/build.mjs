// Builds dist/: the package for npm, the worker, the page, and the Wasm beside them.
import { build } from "esbuild";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildWorker } from "./build_worker.mjs";

const here = dirname(fileURLToPath(import.meta.url));
// Where it goes; tests have places of their own.
const dist = process.argv[2] ? resolve(process.argv[2]) : join(here, "dist");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

const common = {
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  // Given by the page that wants encoders; nothing is fetched from elsewhere.
  external: ["onnxruntime-web"],
  absWorkingDir: here,
};
// The page loads the package when it searches by itself: where a server answers, it never does.
const packaged = {
  name: "packaged",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/src\/index\.ts$/ }, () => ({ path: "./gossamer.js", external: true })),
};
const worker = await buildWorker(dist, common);
const define = { WORKER_FILE: JSON.stringify(`./${worker}`) };
const entries = { gossamer: "src/index.ts", page: "page/main.ts" };
for (const [name, entry] of Object.entries(entries)) {
  const plugins = name === "page" ? [packaged] : [];
  const outfile = join(dist, `${name}.js`);
  await build({ ...common, define, plugins, entryPoints: [entry], outfile });
}
for (const file of readdirSync(join(here, "page"))) {
  if (/\.(css|html|svg)$/.test(file)) cpSync(join(here, "page", file), join(dist, file));
}
const built = join(here, "wasm", "built");
for (const file of readdirSync(built)) {
  if (file.endsWith(".wasm")) cpSync(join(built, file), join(dist, file));
}
// What pages index with, where nobody gives another model.
const models = join(here, "..", "python", "gossamer", "models", "data");
cpSync(join(models, "pocket.gossamer"), join(dist, "pocket.model.gossamer"));
