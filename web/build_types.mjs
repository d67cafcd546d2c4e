// Writes what TypeScript knows of the package. Beside build.mjs, as it takes some seconds.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Writes the declarations of some sources, and of all that they name, into a folder. */
export function buildTypes(folder, sources) {
  const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const options = {
    ...{ target: "ES2022", module: "ESNext", moduleResolution: "Bundler", rootDir: "src", outDir: folder },
    ...{ lib: "ES2023,DOM,DOM.Iterable,DOM.AsyncIterable", types: "node" },
  };
  const flags = ["strict", "exactOptionalPropertyTypes", "skipLibCheck", "verbatimModuleSyntax"];
  flags.push("declaration", "emitDeclarationOnly", "allowImportingTsExtensions");
  const given = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const switches = flags.flatMap((flag) => [`--${flag}`, "true"]);
  execFileSync(process.execPath, [compiler, ...sources, ...given, ...switches], { cwd: here, stdio: "inherit" });
  // Modules of the package name each other with their ending, which is another one there.
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!file.endsWith(".d.ts")) continue;
    const path = join(folder, file);
    writeFileSync(path, readFileSync(path, "utf8").replace(/(["'])(\.{1,2}\/[^"']+)\.ts\1/g, "$1$2.js$1"));
  }
}
