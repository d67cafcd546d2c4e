// Signed answers: what a server says to a request, by whoever knows the token and at no other time. The twin
// of python/gossamer/sync/signing.py; docs/format.md has the fields.

import { hexOf } from "../bytes/hashes.ts";
import { joinBytes } from "../bytes/join.ts";
import { digestOf, isSigned } from "./hmac.ts";

export const NONCE = "gossamer-nonce";
export const SIGNATURE = "gossamer-signature";

/** A request, as its answer is signed for it. */
export interface Asked {
  readonly nonce: string; // what no request had before: 32 hexadecimal digits
  readonly method: string;
  readonly target: string; // a path below the server's address, in which nothing is escaped, and a query
  readonly body: string; // what was sent; "" for nothing
}

const TAG = "gossamer answer 1"; // nothing else that is signed with a token begins so
const CODE = /^[0-9a-f]{64}$/;

/** Whether an answer is that of who knows the token, to this request. `body` is null for a file: it is
 * signed by its head alone, and what it holds has a code of its own. */
export async function isAnswerSigned(
  token: string,
  asked: Asked,
  answer: Response,
  body: Uint8Array | null,
): Promise<boolean> {
  const header = (name: string) => answer.headers.get(name) ?? "";
  const signature = header(SIGNATURE);
  if (!CODE.test(signature)) return false;
  const [path = "", query = ""] = split(asked.target);
  const about = [TAG, asked.nonce, asked.method, path, query];
  const said = body ? hexOf(await digestOf(body)) : header("content-length");
  const answered = [String(answer.status), header("etag"), header("content-range"), said];
  const sent = asked.body === "" ? "" : hexOf(await digestOf(new TextEncoder().encode(asked.body)));
  // What is refused need not have been read.
  for (const read of answer.status >= 400 ? [sent, ""] : [sent]) {
    if (await isSigned(joined([...about, read, ...answered]), bytesOfHex(signature), token)) return true;
  }
  return false;
}

function split(target: string): string[] {
  const end = target.indexOf("?");
  return end < 0 ? [target] : [target.slice(0, end), target.slice(end + 1)];
}

/** Fields one after the other, each with its length before it. */
function joined(fields: readonly string[]): Uint8Array {
  const parts = fields.flatMap((field) => {
    const bytes = new TextEncoder().encode(field);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.length, true);
    return [length, bytes];
  });
  return joinBytes(parts);
}

function bytesOfHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 16));
}
