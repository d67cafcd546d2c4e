// The manifest: which files make up an index now. The twin of python/gossamer/store/manifest.py.
import { digestOf } from "../bytes/hashes.ts";
import { joinBytes } from "../bytes/join.ts";
import { GossamerError } from "../errors.ts";
import { inAscii } from "../text/text.ts";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The model whose vectors the index was built from, and how texts were cut for it. */
export interface ModelStamp {
  readonly name: string;
  readonly fingerprint: string;
  readonly dim: number;
  readonly maxTokens: number;
  readonly chunkTokens: number;
  readonly probe: readonly number[]; // the vector of a fixed text; empty for none
}

/** What the owner of the index chose. */
export interface Settings {
  readonly codeBytes: number;
  readonly storeText: boolean;
  readonly keep: string; // vectors: "none", "hot:50MB" or "all"
  readonly lexical: string; // "scan" or "fts5"
  readonly walk: JsonObject;
}

/** Where people read what was indexed. */
export interface Site {
  readonly baseUrl: string; // of the folder that was indexed; "" if nobody knows
  readonly urlStyle: string; // what the site makes of Markdown: "html", "folder" or "file"
}

/** A file of the index, as it must be. */
export interface FileEntry {
  readonly name: string;
  readonly size: number;
  readonly digest: string; // BLAKE2b, 16 bytes, in hexadecimal
}

/** Indexes of version 1 have a catalogue and texts in place of segments. */
export type FileKind = "segment" | "vectors" | "catalogue" | "texts";

/** One state of an index. */
export interface Manifest {
  readonly uuid: string;
  readonly generation: number;
  readonly created: string; // ISO 8601, UTC
  readonly changed: string;
  readonly model: ModelStamp;
  readonly settings: Settings;
  readonly roots: readonly string[];
  readonly nextChunkId: number;
  readonly files: readonly FileEntry[]; // empty for a single file
  readonly counts: Readonly<Record<string, number>>;
  readonly origin: JsonObject; // what the index follows; empty if it follows none
  readonly site: Site; // that hits lead to
}

/** What an index has whose pages nobody named. */
export const NO_SITE: Site = { baseUrl: "", urlStyle: "html" };

/** Reads a folder's manifest; NotGossamer, UnknownVersion or Damaged for anything else. */
export function readManifest(bytes: Uint8Array): Manifest {
  const { body, isWhole } = splitChecksum(bytes);
  const values = parseObject(body);
  if (values === null || values["format"] !== FORMAT) {
    if (isWhole || !holdsFormat(bytes)) {
      throw new GossamerError("NotGossamer", `${WHAT} is not the manifest of a Gossamer index`);
    }
    throw new GossamerError("Damaged", `${WHAT} is damaged; ${REPAIR}`);
  }
  if (isWhole) checkVersion(values);
  else throw new GossamerError("Damaged", `the checksum of ${WHAT} does not fit; ${REPAIR}`);
  const manifest = manifestOf(values, filesOf(values["files"]));
  checkFiles(manifest.files);
  return manifest;
}

/** The manifest as it stands in its file: JSON, and a line with its checksum. */
export function writeManifest(manifest: Manifest): Uint8Array {
  const files = manifest.files.map(({ name, size, digest }) => ({ name, size, digest }));
  const body = jsonBytes({ ...valuesOf(manifest), files }, 1);
  const line = new TextEncoder().encode(`${digestOf(body)}\n`);
  return joinBytes([body, line]);
}

/** Reads the manifest of a single file (section 32). */
export function readSingleManifest(bytes: Uint8Array): Manifest {
  const values = bytes.length <= MOST_BYTES ? parseObject(bytes) : null;
  if (values === null || values["format"] !== FORMAT) {
    throw new GossamerError("Damaged", "the file does not say what its index is; get it again");
  }
  checkVersion(values);
  if (values["single"] === values["version"]) return manifestOf(values, []);
  throw new GossamerError(
    "UnknownVersion",
    `the single file is of version ${String(values["single"])}, and this release reads ${VERSION}; ` +
      "use a newer release",
  );
}

/** The manifest as a single file holds it. */
export function writeSingleManifest(manifest: Manifest): Uint8Array {
  return jsonBytes({ ...valuesOf({ ...manifest, files: [] }), single: VERSION }, 0);
}

/** The files of a kind. */
export function filesOfKind(manifest: Manifest, kind: FileKind): FileEntry[] {
  return manifest.files.filter((entry) => entry.name.startsWith(`${kind}-`));
}

/** What tells a file from others of its kind; no segment has one that another had before. */
export function numberOfFile(name: string): number {
  return Number(NAME.exec(name)?.[2] ?? 0);
}

/** A model's stamp as JSON has it, in manifests and packages; Damaged for anything else. */
export function readStamp(values: unknown): ModelStamp {
  const fields = fieldsOf(values, "model", STAMP);
  const probe = listOf(fields["probe"], "probe");
  if (!probe.every((number) => typeof number === "number" && Number.isFinite(number))) {
    throw unfit("a probe that is not of numbers");
  }
  return {
    name: textOf(fields["name"], "name"),
    fingerprint: textOf(fields["fingerprint"], "fingerprint"),
    dim: countOf(fields["dim"], "dim"),
    maxTokens: countOf(fields["max_tokens"], "max_tokens"),
    chunkTokens: countOf(fields["chunk_tokens"], "chunk_tokens"),
    probe: probe as number[],
  };
}

function stampJson(stamp: ModelStamp): JsonObject {
  return {
    name: stamp.name,
    fingerprint: stamp.fingerprint,
    dim: stamp.dim,
    max_tokens: stamp.maxTokens,
    chunk_tokens: stamp.chunkTokens,
    probe: stamp.probe,
  };
}

const FORMAT = "gossamer index";
const VERSION = 2;
const OLD_VERSION = 1; // that is read, and becomes a newer one with the next change
const MOST_BYTES = 2 ** 24;
const WHAT = "MANIFEST.gossamer";
const REPAIR = "get the index again, or delete it and add the files again";
const NAME = /^(segment|vectors|catalogue|texts)-([1-9][0-9]{0,14})\.(gss|gsm|gsc|gst)$/;
const MOST_SEGMENTS = 1024; // a writer leaves twelve, unless they are large
const MOST_DEPTH = 32;
const STAMP = ["name", "fingerprint", "dim", "max_tokens", "chunk_tokens", "probe"];
const URL_STYLES = ["html", "folder", "file"];
const SETTINGS = ["code_bytes", "store_text", "keep", "lexical", "walk"];

function splitChecksum(bytes: Uint8Array): { body: Uint8Array; isWhole: boolean } {
  const at = bytes.length > 1 ? bytes.lastIndexOf(10, bytes.length - 2) : -1;
  const body = bytes.subarray(0, at + 1);
  if (bytes.length > MOST_BYTES) return { body: new Uint8Array(), isWhole: false };
  const line = String.fromCharCode(...bytes.subarray(at + 1, at + 1 + 40));
  return { body, isWhole: bytes.length === at + 34 && line === `${digestOf(body)}\n` };
}

function holdsFormat(bytes: Uint8Array): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(0, MOST_BYTES)).includes(FORMAT);
}

function parseObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const values: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(values) ? values : null;
  } catch {
    return null;
  }
}

function checkVersion(values: Record<string, unknown>): void {
  if (values["version"] === VERSION || values["version"] === OLD_VERSION) return;
  throw new GossamerError(
    "UnknownVersion",
    `this index is of format version ${String(values["version"])}, and this release reads ${VERSION}; ` +
      "use the release that wrote it, or a newer one",
  );
}

function manifestOf(values: Record<string, unknown>, files: readonly FileEntry[]): Manifest {
  const settings = fieldsOf(values["settings"], "settings", SETTINGS);
  const roots = listOf(values["roots"], "roots");
  if (!roots.every((root) => typeof root === "string")) throw unfit("roots that are no text");
  const counts = objectOf(values["counts"] ?? {}, "counts");
  for (const [name, count] of Object.entries(counts)) {
    if (!Number.isInteger(count)) throw unfit(`counts.${name}=${JSON.stringify(count)}`);
  }
  return {
    uuid: textOf(values["uuid"], "uuid"),
    generation: countOf(values["generation"], "generation"),
    created: textOf(values["created"], "created"),
    changed: textOf(values["changed"], "changed"),
    model: readStamp(values["model"]),
    settings: {
      codeBytes: countOf(settings["code_bytes"] ?? 32, "code_bytes"),
      storeText: flagOf(settings["store_text"] ?? false, "store_text"),
      keep: textOf(settings["keep"] ?? "none", "keep"),
      lexical: textOf(settings["lexical"] ?? "scan", "lexical"),
      walk: shallowOf(settings["walk"] ?? {}, "walk"),
    },
    roots: roots as string[],
    nextChunkId: countOf(values["next_chunk_id"], "next_chunk_id"),
    files,
    counts: counts as Record<string, number>,
    origin: shallowOf(values["origin"] ?? {}, "origin"),
    site: siteOf(values["site"] ?? {}),
  };
}

function valuesOf(manifest: Manifest): Record<string, Json> {
  const { settings } = manifest;
  const isOld = filesOfKind(manifest, "catalogue").length > 0;
  return {
    format: FORMAT,
    version: isOld ? OLD_VERSION : VERSION,
    uuid: manifest.uuid,
    generation: manifest.generation,
    created: manifest.created,
    changed: manifest.changed,
    model: stampJson(manifest.model),
    settings: {
      code_bytes: settings.codeBytes,
      store_text: settings.storeText,
      keep: settings.keep,
      lexical: settings.lexical,
      walk: settings.walk,
    },
    roots: manifest.roots,
    next_chunk_id: manifest.nextChunkId,
    counts: manifest.counts,
    origin: manifest.origin,
    ...(manifest.site.baseUrl || manifest.site.urlStyle !== NO_SITE.urlStyle ? { site: siteJson(manifest.site) } : {}),
  };
}

function siteOf(values: unknown): Site {
  const fields = fieldsOf(values, "site", ["base_url", "url_style"]);
  const urlStyle = textOf(fields["url_style"] ?? NO_SITE.urlStyle, "url_style");
  if (!URL_STYLES.includes(urlStyle)) throw unfit(`url_style=${urlStyle}`);
  return { baseUrl: textOf(fields["base_url"] ?? "", "base_url"), urlStyle };
}

function siteJson({ baseUrl, urlStyle }: Site): JsonObject {
  return { base_url: baseUrl, url_style: urlStyle };
}

function filesOf(values: unknown): FileEntry[] {
  return listOf(values, "files").map((entry) => {
    const fields = fieldsOf(entry, "files", ["name", "size", "digest"]);
    return {
      name: textOf(fields["name"], "name"),
      size: countOf(fields["size"], "size"),
      digest: textOf(fields["digest"], "digest"),
    };
  });
}

function checkFiles(files: readonly FileEntry[]): void {
  const kinds = new Map<string, number>();
  for (const { name } of files) {
    const kind = NAME.exec(name)?.[1];
    if (kind === undefined) throw unfit(`a file called ${JSON.stringify(name)}`);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  if (new Set(files.map(({ name }) => name)).size !== files.length) throw unfit("a file named twice");
  for (const [kind, count] of kinds) {
    const most = kind === "segment" ? MOST_SEGMENTS : kind === "texts" ? Infinity : 1;
    if (count > most) throw unfit(`${count} files of ${kind}`);
  }
  if (kinds.has("segment") && kinds.has("catalogue")) throw unfit("files of two versions");
  if (kinds.has("texts") && !kinds.has("catalogue")) throw unfit("no catalogue");
}

/** JSON with sorted keys in ASCII, as Python writes it, and a line feed. */
function jsonBytes(values: Json, indent: number): Uint8Array {
  const text = JSON.stringify(sortedKeys(values), null, indent);
  return new TextEncoder().encode(`${inAscii(text)}\n`);
}

function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (value === null || typeof value !== "object") return value;
  const pairs = Object.entries(value as JsonObject).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(pairs.map(([key, part]) => [key, sortedKeys(part)]));
}

function unfit(what: string): GossamerError {
  return new GossamerError("Damaged", `${WHAT} does not hold what it should (${what}); ${REPAIR}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (!isObject(value)) throw unfit(`${what}=${JSON.stringify(value)}`);
  return value;
}

/** An object of JSON that is not so deep that walking it overflows the stack. */
function shallowOf(value: unknown, what: string): JsonObject {
  let level: unknown[] = [objectOf(value, what)];
  for (let depth = 0; level.length > 0; ++depth) {
    if (depth > MOST_DEPTH) throw unfit(`${what} has more than ${MOST_DEPTH} levels`);
    const parts = level.filter((part) => typeof part === "object" && part !== null);
    level = parts.flatMap((part) => Object.values(part as object));
  }
  return value as JsonObject;
}

/** An object with these keys and no others. */
function fieldsOf(value: unknown, what: string, names: readonly string[]): Record<string, unknown> {
  const fields = objectOf(value, what);
  const unknown = Object.keys(fields).find((name) => !names.includes(name));
  if (unknown !== undefined) throw unfit(`${what}.${unknown}`);
  return fields;
}

function listOf(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw unfit(`${what}=${JSON.stringify(value)}`);
  return value;
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== "string") throw unfit(`${what}=${JSON.stringify(value)}`);
  return value;
}

function flagOf(value: unknown, what: string): boolean {
  if (typeof value !== "boolean") throw unfit(`${what}=${JSON.stringify(value)}`);
  return value;
}

function countOf(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw unfit(`${what}=${JSON.stringify(value)}`);
  return value as number;
}
