#!/usr/bin/env node
// The command of the package: puts the files that a page needs into a folder of a site.
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyFiles } from "./copy.mjs";

const HELP = `gossamer-web copy DIR

Copies the worker of gossamer-web, its .wasm files and the model that pages index with into DIR, for sites whose bundler
does not take them along. DIR is made if it is not there. Then:

  start({ worker: "/gossamer/worker.js" })     where DIR is served as /gossamer/
  VectorIndex.build(vectors, dim, { worker: "/gossamer/vectors-worker.js", wasm: "/gossamer/" })

Run it again after each update of the package. Files that were not copied by this command, or were changed since, are
never written over: they are named, and nothing is copied.
`;

function main([command, ...rest]) {
  const isHelp = (word) => word === "--help" || word === "-h" || word === "help";
  if (isHelp(command) || rest.some(isHelp)) return void process.stdout.write(HELP);
  if (command !== "copy") fail(command === undefined ? "what is to be done?" : `there is no command "${command}"`, 2);
  const [folder, more] = rest;
  if (folder === undefined || folder.startsWith("-")) fail(`copy needs a folder, got ${folder ?? "nothing"}`, 2);
  if (more !== undefined) fail(`copy takes one folder, got "${more}" besides`, 2);
  const dist = join(dirname(realpathSync(fileURLToPath(import.meta.url))), "..", "dist");
  try {
    const count = copyFiles(dist, folder);
    process.stdout.write(`${count} files are in ${folder}; call start({ worker: ".../worker.js" }) with its address there\n`);
  } catch (error) {
    fail(error.message, 1);
  }
}

function fail(message, status) {
  process.stderr.write(`gossamer-web: ${message}${status === 2 ? "\nTry: gossamer-web copy public/gossamer" : ""}\n`);
  process.exit(status);
}

main(process.argv.slice(2));
