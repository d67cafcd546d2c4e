// Copies files of the package into a folder that may hold others.
import { createHash, randomUUID } from "node:crypto";
import { constants, copyFileSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const COPIED = /^(worker(-[a-z]+-[A-Z0-9]+)?|vectors-worker)\.js$|^gossamer(-[a-z]+)*\.wasm$|^[a-z0-9-]+\.model\.gossamer$/;
const MARKER = "gossamer-web.json"; // which files were copied, and what they held
const FORMAT = "gossamer-web copy";

/** Copies worker, Wasm and model from `dist` into a folder, and removes what an earlier release put there and this one
 * has not. Gives their number. Throws, and leaves all as it is, where files are in the way that are not ours. */
export function copyFiles(dist, folder) {
  const names = readdirSync(dist).filter((name) => COPIED.test(name));
  if (!names.includes("worker.js")) throw new Error(`${dist} has no worker.js: install gossamer-web again`);
  const known = readMarker(folder);
  const hashes = Object.fromEntries(names.map((name) => [name, hashOf(join(dist, name))]));
  const inTheWay = names.filter((name) => !isOurs(join(folder, name), [hashes[name], known?.[name]]));
  if (known === null && kindOf(join(folder, MARKER)) !== "nothing") inTheWay.push(MARKER);
  if (inTheWay.length > 0) {
    const what = `${folder} holds files that this command did not write, or that were changed since`;
    throw new Error(`${what}: ${inTheWay.join(", ")}; choose another folder, or remove them`);
  }
  mkdirSync(folder, { recursive: true });
  // Each is written aside first: a page never gets half of one.
  for (const name of names) place(folder, name, (aside) => copyFileSync(join(dist, name), aside, constants.COPYFILE_EXCL));
  for (const [name, hash] of Object.entries(known ?? {})) {
    if (!names.includes(name) && COPIED.test(name) && isOurs(join(folder, name), [hash])) rmSync(join(folder, name), { force: true });
  }
  const marker = `${JSON.stringify({ format: FORMAT, sha256: hashes }, null, 1)}\n`;
  place(folder, MARKER, (aside) => writeFileSync(aside, marker, { flag: "wx" }));
  return names.length;
}

function place(folder, name, write) {
  // Of a name that nobody can have put there: nothing is written through a link, or over a file.
  const aside = join(folder, `.${name}.${randomUUID()}.part`);
  try {
    write(aside);
    renameSync(aside, join(folder, name));
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** The hashes of what was copied before, by name; null where nothing says so. */
function readMarker(folder) {
  const path = join(folder, MARKER);
  if (kindOf(path) !== "file") return null;
  try {
    const { format, sha256 } = JSON.parse(readFileSync(path, "utf8"));
    return format === FORMAT && typeof sha256 === "object" ? sha256 : null;
  } catch {
    return null; // somebody else's
  }
}

/** Whether there is nothing at a path, or a file with one of these contents. */
function isOurs(path, hashes) {
  const kind = kindOf(path);
  return kind === "nothing" || (kind === "file" && hashes.includes(hashOf(path)));
}

function kindOf(path) {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return "nothing";
  return found.isFile() ? "file" : "other"; // a link is never followed
}

function hashOf(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
