// The command `gossamer-web copy`, with a package of small files.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";

const BIN = resolve(dirname(fileURLToPath(import.meta.url)), "..", "bin");
const root = mkdtempSync(join(tmpdir(), "gossamer-copy-"));
const dist = join(root, "dist");
const site = join(root, "site", "gossamer");
const FILES = ["gossamer-build.wasm", "gossamer.wasm", "pocket.model.gossamer", "worker-main-0A1B2C3D.js", "worker.js"];

beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  cpSync(BIN, join(root, "bin"), { recursive: true });
  for (const name of [...FILES, "gossamer.js", "index.html"]) writeFileSync(join(dist, name), `first ${name}`);
});
after(() => rmSync(root, { recursive: true, force: true }));

function run(...args: string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "bin", "gossamer-web.mjs"), ...args]);
  return { status, out: String(stdout), err: String(stderr) };
}

const textOf = (name: string) => readFileSync(join(site, name), "utf8");

test("worker, modules and model are copied, and nothing else", () => {
  assert.equal(run("copy", site).status, 0);
  assert.deepEqual(readdirSync(site).sort(), [...FILES, "gossamer-web.json"].sort());
  assert.equal(textOf("worker.js"), "first worker.js");
});

test("a new release takes the place of the one before, and of nothing else", () => {
  run("copy", site);
  writeFileSync(join(site, "worker-mine-0A1B2C3D.js"), "mine");
  rmSync(join(dist, "worker-main-0A1B2C3D.js"));
  for (const name of ["worker.js", "worker-main-4E5F6071.js"]) writeFileSync(join(dist, name), "second");
  assert.equal(run("copy", site).status, 0);
  assert.equal(textOf("worker.js"), "second");
  assert.equal(textOf("worker-main-4E5F6071.js"), "second");
  assert.equal(textOf("worker-mine-0A1B2C3D.js"), "mine");
  assert.equal(existsSync(join(site, "worker-main-0A1B2C3D.js")), false);
});

test("files of others are named, and nothing is copied", () => {
  mkdirSync(site, { recursive: true });
  writeFileSync(join(site, "worker.js"), "mine");
  symlinkSync(join(root, "elsewhere"), join(site, "gossamer.wasm"));
  const { status, err } = run("copy", site);
  assert.equal(status, 1);
  assert.match(err, /gossamer\.wasm, worker\.js; choose another folder/);
  assert.deepEqual(readdirSync(site).sort(), ["gossamer.wasm", "worker.js"]);
  assert.equal(textOf("worker.js"), "mine");
});

test("what was changed since it was copied stays", () => {
  run("copy", site);
  writeFileSync(join(site, "worker.js"), "changed");
  writeFileSync(join(dist, "worker.js"), "second");
  const { status, err } = run("copy", site);
  assert.equal(status, 1);
  assert.match(err, /worker\.js/);
  assert.equal(textOf("worker.js"), "changed");
});

test("a marker of somebody else is not taken for ours", () => {
  mkdirSync(site, { recursive: true });
  writeFileSync(join(site, "gossamer-web.json"), "[]");
  assert.match(run("copy", site).err, /gossamer-web\.json/);
  assert.equal(textOf("gossamer-web.json"), "[]");
});

test("what cannot be done is said plainly", () => {
  const asked = [[], ["move", "x"], ["copy"], ["copy", "--force"], ["copy", "a", "b"]];
  for (const args of asked) {
    const { status, err } = run(...args);
    assert.equal(status, 2, args.join(" "));
    assert.match(err, /^gossamer-web: .*\nTry: gossamer-web copy public\/gossamer\n$/);
  }
  writeFileSync(join(root, "file"), "");
  assert.equal(run("copy", join(root, "file")).status, 1);
  rmSync(join(dist, "worker.js"));
  assert.match(run("copy", site).err, /install gossamer-web again/);
});

test("help is given", () => {
  for (const args of [["--help"], ["copy", "--help"]]) {
    const { status, out } = run(...args);
    assert.equal(status, 0);
    assert.match(out, /gossamer-web copy DIR/);
  }
});
