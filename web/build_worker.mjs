// Bundles the worker: what every question needs in one file, and what few need in others that it loads.
import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";

const ENTRY = "src/worker/host.ts";

/** Writes worker.js and its parts, which are named by their content, into a folder. Gives the name of the part
 * that worker.js imports, which is the worker itself: pages that start that one wait for one file less. */
export async function buildWorker(folder, options) {
  const here = options.absWorkingDir;
  const split = { entryPoints: { worker: ENTRY }, outdir: folder, splitting: true, metafile: true };
  const named = { ...options, ...split, chunkNames: "worker-[name]-[hash]" };
  const { metafile } = await build({ ...named, write: false });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const lazy = imports.filter(({ kind, external }) => kind === "dynamic-import" && !external);
  const parts = new Set(lazy.map(({ path }) => join(here, path)));
  const built = await build({ ...named, plugins: [importEntry(parts, join(here, ENTRY))] });
  const [, first] = Object.entries(built.metafile.outputs).find(([path]) => basename(path) === "worker.js");
  return basename(first.imports[0].path);
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
