// Front matter: the simple keys of the YAML or TOML that a Markdown file may begin with.

import { linesOf } from "../bytes/strings.ts";
import type { Value } from "../records.ts";
import { stripEnd, stripStart } from "../text/python_text.ts";

const YAML = /^---[ \t]*\r?\n([^]*?)(?<![^\n])(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;
const TOML = /^\+\+\+[ \t]*\r?\n([^]*?)(?<![^\n])\+\+\+[ \t]*(?:\r?\n|$)/;
const KEY = /^([A-Za-z_][\p{L}\p{N}_-]{0,63}):(?:[ \t]+(.*))?$/u;
const ITEM = /^[ \t]*- +(.*)$/;
const NUMBER = /^[-+]?\d{1,15}(?:\.\d{1,15})?$/;
const TOML_LINE = /^[ \t]*("?)([A-Za-z0-9_-]{1,64})\1[ \t]*=[ \t]*(.+)$/;
const MAX_KEYS = 64;
const MAX_CHARS = 1000;

/** The scalar keys of the front matter, lists joined by commas, and the text after it.
 *
 * Where there is none, or it is not closed, gives no keys and the text as it came. Anything nested
 * is passed over. */
export function splitFrontMatter(text: string): { metadata: Record<string, Value>; body: string } {
  const yaml = YAML.exec(text);
  if (yaml) return { metadata: fromYaml(yaml[1] ?? ""), body: text.slice(yaml[0].length) };
  const toml = TOML.exec(text);
  if (toml) return { metadata: fromToml(toml[1] ?? ""), body: text.slice(toml[0].length) };
  return { metadata: {}, body: text };
}

function fromYaml(source: string): Record<string, Value> {
  // A few lines of YAML, not a parser: what people write in front matter is `key: value`.
  const metadata = new Map<string, Value>();
  const items = new Map<string, string[]>();
  let key = "";
  for (const line of linesOf(source)) {
    const found = KEY.exec(line);
    const item = found ? null : ITEM.exec(line);
    if (found) {
      key = found[1] ?? "";
      const value = stripped(found[2] ?? "");
      const isScalar = value !== "" && !"{|>&*!#".includes(value.charAt(0));
      if (isScalar && metadata.size < MAX_KEYS) metadata.set(key, yamlValue(value));
    } else if (key && !metadata.has(key) && item) {
      items.set(key, [...(items.get(key) ?? []), unquoted(item[1] ?? "")]);
    }
  }
  for (const [name, values] of [...items].slice(0, MAX_KEYS)) {
    metadata.set(name, cut(values.join(", ")));
  }
  return Object.fromEntries(metadata);
}

function yamlValue(value: string): Value {
  if (value.startsWith("[") && value.endsWith("]")) return listOf(value);
  const lower = value.toLowerCase();
  if (lower === "true" || lower === "false") return lower === "true";
  return NUMBER.test(value) ? Number(value) : cut(unquoted(value));
}

function listOf(value: string): string {
  const parts = value.slice(1, -1).split(",").map(unquoted);
  return cut(parts.filter((part) => part !== "").join(", "));
}

function fromToml(source: string): Record<string, Value> {
  const metadata = new Map<string, Value>();
  for (const line of linesOf(source)) {
    if (/^[ \t]*\[/.test(line)) break; // tables are nested, and all that follows is in them
    const found = TOML_LINE.exec(line);
    if (!found || metadata.size >= MAX_KEYS) continue;
    metadata.set(found[2] ?? "", yamlValue(stripped(found[3] ?? "")));
  }
  return Object.fromEntries(metadata);
}

function unquoted(value: string): string {
  const inner = stripped(value);
  const first = inner.charAt(0);
  const isQuoted = inner.length > 1 && first === inner.charAt(inner.length - 1) && "\"'".includes(first);
  return isQuoted ? inner.slice(1, -1) : stripEnd(inner.split(" #", 1)[0] ?? "");
}

function stripped(text: string): string {
  return stripStart(stripEnd(text));
}

function cut(text: string): string {
  return [...text].slice(0, MAX_CHARS).join("");
}
