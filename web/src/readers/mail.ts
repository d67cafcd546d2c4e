// Mail: a message in a file of its own, or a mailbox of many (mbox). The twin of readers/mail.py.

import { byteString, utf8 } from "../bytes/strings.ts";
import { GossamerError } from "../errors.ts";
import type { Document, Value } from "../records.ts";
import { splitWords } from "../text/python_text.ts";
import { documentOf } from "./documents.ts";
import { joined, MARK } from "./mail_lines.ts";
import { headerLines, headerOf, headersOf, textOf } from "./mime.ts";
import { parentNameOf, stemOf, suffixOf } from "./paths.ts";

// Mailers differ in how they escape "From " inside a text, so a time and a header must follow it.
const FROM_LINE = /(?<![^\n])From [^\n]{0,300}\d\d:\d\d[^\n]{0,100}\n(?=[!-9;-~]{1,80}:|>From )/g;
const ESCAPED_FROM = /(?<![^\n])>(>*From )/g;
const APPLE_COUNT = /^\s{0,20}(\d{1,12})\s{0,20}\n/;
const SHOWN = ["From", "To", "Cc", "Date", "Subject"];
const KNOWN_HEADERS = ["from", "to", "subject", "date", "message-id", "received", "mime-version"];
const MAILDIR_FOLDERS = ["cur", "new", "tmp"];
const MAX_CHARS = 300;
const MAX_MESSAGES = 1_000_000;
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]/g;

/** A document for each message, its key the Message-ID in a mailbox of many. */
export function readMail(path: string, bytes: Uint8Array, maxTextBytes: number): Document[] {
  let data = byteString(bytes);
  if (data.replace(/^[\r\n]+/, "").startsWith("From ")) return readMailbox(path, data, maxTextBytes);
  const counted = suffixOf(path) === ".emlx" ? APPLE_COUNT.exec(data) : null;
  if (counted) data = data.slice(counted[0].length, counted[0].length + Number(counted[1]));
  const firstLine = (counted?.[0] ?? "").split("\n").length;
  const headers = headersOf(data);
  if (!KNOWN_HEADERS.some((name) => headers.has(name))) {
    throw new GossamerError("Unreadable", "no headers of a mail message in it");
  }
  const document = messageOf(data, folderOf(path), maxTextBytes, 0, firstLine);
  if (!document.text.length) throw new GossamerError("Unreadable", "a message without text");
  return [document];
}

function readMailbox(path: string, data: string, maxTextBytes: number): Document[] {
  const documents: Document[] = [];
  const keys = new Set<string>();
  let room = maxTextBytes;
  messagesOf(data).forEach((message, place) => {
    const document = messageOf(message, stemOf(path), room, place + 1);
    if (!document.text.length) return;
    room -= document.text.length;
    const key = keys.has(document.key) ? `${document.key} (${place + 1})` : document.key;
    keys.add(key);
    documents.push({ ...document, key });
  });
  if (!documents.length) throw new GossamerError("Unreadable", "a mailbox without messages");
  return documents;
}

/** The messages of a mailbox, each without its "From " line. */
function messagesOf(data: string): string[] {
  const lines = [...data.matchAll(FROM_LINE)];
  if (lines.length > MAX_MESSAGES) {
    throw new GossamerError("Unreadable", `more than the limit of ${MAX_MESSAGES} messages`);
  }
  // Even a mailbox with an odd first line holds at least one message.
  const begins = lines.map((line) => line.index + line[0].length);
  if (!begins.length) begins.push(data.indexOf("\n") + 1 || data.length);
  return begins.map((begin, place) =>
    data.slice(begin, lines[place + 1]?.index ?? data.length).replace(ESCAPED_FROM, "$1"),
  );
}

/** A document of a message; `number` counts it in its mailbox, 0 if it stands alone. One that does is
 * cited by the lines of its file, the first of which is `firstLine`. */
function messageOf(data: string, folder: string, maxBytes: number, number: number, firstLine = 1): Document {
  const headers = headersOf(data);
  const found = new Map(SHOWN.map((name) => [name.toLowerCase(), headerOf(headers, name.toLowerCase())]));
  found.set("date", isoDate(found.get("date") ?? ""));
  const body = textOf(data, maxBytes, firstLine);
  found.set("attachments", oneLine(body.attachments.join(", ")));
  const shown = SHOWN.filter((name) => found.get(name.toLowerCase()));
  const begins = headerLines(data);
  const head = {
    text: shown.map((name) => `${MARK}${name}: ${found.get(name.toLowerCase())}`).join("\n"),
    lines: shown.map((name) => firstLine + (begins.get(name.toLowerCase()) ?? 0)),
  };
  const attached = { text: `${MARK}Attachments: ${found.get("attachments")}`, lines: [body.attachedAt] };
  const whole = joined([head, ...body.parts, ...(body.attachments.length ? [attached] : [])]);
  const text = utf8(whole.text);
  if (text.length > maxBytes) throw new GossamerError("Unreadable", "more text than a page reads");
  const metadata: Record<string, Value> = {};
  for (const [name, value] of found) if (value) metadata[name] = value;
  if (folder) metadata["folder"] = folder;
  const id = headerOf(headers, "message-id").replace(/^[<> ]+|[<> ]+$/g, "");
  return documentOf(text.length ? utf8(`${new TextDecoder().decode(text)}\n`) : text, "mail", {
    markup: body.isHtml ? "markdown" : "plain",
    title: found.get("subject") ?? "",
    unit: number ? "message" : "line",
    places: number && text.length ? [[0, number]] : number ? [] : whole.places,
    key: number ? id || String(number) : "",
    metadata,
  });
}

/** The date of a mail's header as ISO 8601 in UTC; "" for no date. */
function isoDate(text: string): string {
  const time = text && text.length <= 100 ? Date.parse(text.replace(/\([^)]*\)\s*$/, "")) : NaN;
  return Number.isFinite(time) ? new Date(time).toISOString().slice(0, 19) : "";
}

function oneLine(text: string): string {
  return [...splitWords(text.replace(CONTROLS, "")).join(" ")].slice(0, MAX_CHARS).join("");
}

/** The mail folder: for a maildir the one above cur, without the dot of sub-folders. */
function folderOf(path: string): string {
  const parts = path.split("/");
  const isMaildir = MAILDIR_FOLDERS.includes(parentNameOf(path));
  return (parts.at(isMaildir ? -3 : -2) ?? "").replace(/^\.+/, "");
}
