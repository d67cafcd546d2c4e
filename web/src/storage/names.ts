import { digestOf } from "../bytes/hashes.ts";
import { GossamerError } from "../errors.ts";

const MOST_CHARACTERS = 200;
const MOST_FOLDER_LETTERS = 120; // file systems below take 255 bytes
const FILE_NAME = /^[a-z0-9][a-z0-9_-]*(\.[a-z0-9_-]+)*$/i;
const ENCODER = new TextEncoder();

/** Names of the two slots that keep the manifest: no file is called so. */
export const SLOT = "manifest-slot-";
export const SLOTS = [`${SLOT}0`, `${SLOT}1`] as const;
/** What a file is called as long as it is not complete. */
export const PART = ".part";

/** Throws InvalidArgument unless it is a name for an index: 1 to 200 characters of any script. */
export function checkIndexName(name: string): void {
  const length = [...name].length;
  if (length === 0 || length > MOST_CHARACTERS) {
    const expected = `a name of 1 to ${MOST_CHARACTERS} characters was expected`;
    throw new GossamerError("InvalidArgument", `${expected}, ${length} came`);
  }
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(name)) {
    throw new GossamerError("InvalidArgument", "a name of whole characters was expected, half a pair came");
  }
}

/** Throws InvalidArgument unless it is a name for a file: letters, digits, dots, - and _. */
export function checkFileName(file: string): void {
  if (file.length <= 100 && FILE_NAME.test(file) && !file.startsWith("manifest")) return;
  const expected = "a file name of letters, digits, dots, - and _ was expected (not manifest...)";
  throw new GossamerError("InvalidArgument", `${expected}, "${file.slice(0, 120)}" came`);
}

/** What a folder is called: safe in every file system, also where A and a are the same. Names that
 * would be too long are cut and end with a hash: their folder keeps the name itself. */
export function folderNameOf(name: string): string {
  checkIndexName(name);
  const bytes = ENCODER.encode(name);
  let encoded = "";
  for (const byte of bytes) {
    const letter = String.fromCharCode(byte);
    encoded += /[a-z0-9_-]/.test(letter) ? letter : `=${byte.toString(16).padStart(2, "0")}`;
  }
  if (encoded.length <= MOST_FOLDER_LETTERS) return encoded;
  return `${encoded.slice(0, 60).replace(/=.?$/, "")}=h${digestOf(bytes)}`;
}

/** The name that a folder was given; null if it was cut, or is no folder of ours. */
export function nameOfFolder(folder: string): string | null {
  if (!/^(?:[a-z0-9_-]|=[0-9a-f]{2})+$/.test(folder)) return null;
  const bytes: number[] = [];
  for (let at = 0; at < folder.length; ++at) {
    const isEncoded = folder[at] === "=";
    bytes.push(isEncoded ? Number.parseInt(folder.slice(at + 1, at + 3), 16) : folder.charCodeAt(at));
    if (isEncoded) at += 2;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(bytes));
  } catch {
    return null;
  }
}
