// The head of a package, made of what its JSON says.

import { GossamerError } from "../errors.ts";
import type { JsonObject } from "../format/manifest.ts";
import { PROTOCOL } from "../server/records.ts";
import type { Base, Head, SectionEntry } from "../server/records.ts";

/** Sections that hold compressed data already. */
export const STORED: readonly string[] = ["catalogue", "padding"];

const NAME = /^[a-z][a-z_]{0,31}$/;
const MOST_SECTIONS = 64;
const MOST_UNPACKED = 2 ** 40;
// A block of zstd, of which the least has 4 bytes, unpacks to 128 KiB at most.
const MOST_GAIN = 2 ** 15;
const SLACK_BYTES = 2 ** 17;

type Kind = "string" | "count" | "boolean" | "object" | "any";

const HEAD: Readonly<Record<string, Kind>> = {
  protocol: "count",
  kind: "string",
  index: "string",
  mode: "string",
  texts: "string",
  base: "any",
  epoch: "string",
  version: "count",
  state: "string",
  next_chunk_id: "count",
  is_signed: "boolean",
  model: "object",
  settings: "object",
  sections: "any",
};
const BASE: Readonly<Record<string, Kind>> = { epoch: "string", version: "count", state: "string" };
const SECTION: Readonly<Record<string, Kind>> = {
  name: "string",
  size: "count",
  unpacked: "count",
  crc32: "count",
};

/** Makes a head of what was parsed; TypeError, which names what does not fit, if it is none. */
export function headOf(values: unknown): Head {
  const head = record(values, HEAD, "Head");
  const base = head["base"] === null ? null : (record(head["base"], BASE, "Base") as unknown as Base);
  const { kind, texts } = head;
  if ((kind !== "delta" && kind !== "snapshot") || (kind === "delta") !== (base !== null)) {
    throw new TypeError(`kind ${JSON.stringify(kind)}`);
  }
  if (texts !== "kept" && texts !== "away") throw new TypeError(`texts ${JSON.stringify(texts)}`);
  return {
    kind,
    texts,
    base,
    index: head["index"] as string,
    mode: head["mode"] as string,
    epoch: head["epoch"] as string,
    version: head["version"] as number,
    state: head["state"] as string,
    nextChunkId: head["next_chunk_id"] as number,
    isSigned: head["is_signed"] as boolean,
    model: head["model"] as JsonObject,
    settings: head["settings"] as JsonObject,
    sections: sectionsOf(head["sections"]),
  };
}

/** Says that a server is of another time. */
export function unknownVersion(version: unknown): GossamerError {
  return new GossamerError(
    "UnknownVersion",
    `the server speaks version ${String(version)} of the protocol, and this release ${PROTOCOL}; ` +
      "bring the older of the two up to date",
  );
}

function sectionsOf(values: unknown): SectionEntry[] {
  if (!Array.isArray(values) || values.length > MOST_SECTIONS) throw new TypeError("sections");
  const entries = values.map((value) => record(value, SECTION, "Section") as unknown as SectionEntry);
  for (const { name, size, unpacked } of entries) {
    const most = Math.min(MOST_UNPACKED, MOST_GAIN * size + SLACK_BYTES);
    const isSound = NAME.test(name) && unpacked <= most && (!STORED.includes(name) || size === unpacked);
    if (!isSound) throw new TypeError(`section ${JSON.stringify(name)}`);
  }
  if (new Set(entries.map((entry) => entry.name)).size < entries.length) {
    throw new TypeError("a section twice");
  }
  return entries;
}

/** An object of exactly these fields, each of its kind; whole numbers are never negative. */
function record(
  value: unknown,
  kinds: Readonly<Record<string, Kind>>,
  what: string,
): Record<string, unknown> {
  if (!isObject(value) || Object.keys(value).length !== Object.keys(kinds).length) throw new TypeError(what);
  for (const [name, kind] of Object.entries(kinds)) {
    if (!Object.hasOwn(value, name) || !isOf(kind, value[name])) throw new TypeError(name);
  }
  return value;
}

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === "any") return true;
  if (kind === "count") return Number.isSafeInteger(value) && (value as number) >= 0;
  return kind === "object" ? isObject(value) : typeof value === kind;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
