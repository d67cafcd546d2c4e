// Builds dist/: the package, the worker, the page, and the Wasm beside them. `--npm`: with what only npm has.
import { build } from "esbuild";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { filesModule } from "./build_files.mjs";
import { shrink } from "./build_small.mjs";
import { buildTypes } from "./build_types.mjs";
import { buildWorker } from "./build_worker.mjs";
import { ENTRIES } from "./entries.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const [place] = process.argv.slice(2).filter((given) => given !== "--npm");
const isForNpm = process.argv.includes("--npm");
// Where it goes; tests have places of their own.
const dist = place ? resolve(place) : join(here, "dist");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });

const common = {
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  legalComments: "none",
  // Given by the page that wants encoders; nothing is fetched from elsewhere.
  external: ["onnxruntime-web", "react"],
  absWorkingDir: here,
};
// The page loads the package when it searches by itself: where a server answers, it never does. The other entries of
// the package use the one that a page has loaded already.
const packaged = {
  name: "packaged",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\.\.\/(src\/)?index\.ts$/ }, () => ({ path: "./gossamer.js", external: true })),
};
// What pages index with, where nobody gives another model.
const models = join(here, "..", "python", "gossamer", "models", "data");
cpSync(join(models, "pocket.gossamer"), join(dist, "pocket.model.gossamer"));
const built = join(here, "wasm", "built");
for (const file of readdirSync(built)) {
  if (!isForNpm && /vectors|build-relaxed/.test(file)) continue; // of vectors that a page brings
  if (file.endsWith(".wasm")) cpSync(join(built, file), join(dist, file));
}
const worker = await buildWorker(dist, common);
const files = filesModule(worker, dist);
for (const { name, source, isOnlyForNpm, banner = "" } of ENTRIES) {
  if (isOnlyForNpm && !isForNpm) continue;
  const outfile = join(dist, `${name}.js`);
  await build({ ...common, plugins: [files, packaged], banner: { js: banner }, entryPoints: [source], outfile });
  if (banner === "") writeFileSync(outfile, await shrink(readFileSync(outfile, "utf8"))); // which loses banners
}
await build({ ...common, plugins: [packaged], entryPoints: ["page/main.ts"], outfile: join(dist, "page.js") });
for (const file of readdirSync(join(here, "page"))) {
  if (/\.(css|html|svg)$/.test(file)) cpSync(join(here, "page", file), join(dist, file));
}
if (isForNpm) buildTypes(join(dist, "types"), ENTRIES.map(({ source }) => source));
