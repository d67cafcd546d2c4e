// Packages are used whole and unchanged, or not at all.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import test from "node:test";

import { GossamerError, type Reason } from "../src/errors.ts";
import { isSigned } from "../src/server/hmac.ts";
import { readPackage } from "../src/sync/package.ts";
import { parseMode } from "../src/server/records.ts";
import { unpackAbsent, unpackConflicts, unpackRemoved, unpackTouched } from "../src/sync/sections.ts";
import { CHUNKS } from "./cores.ts";
import { headIn, recorded, remade, TOKEN, type AnyHead } from "./sync_packages.ts";

const PACKAGE = recorded("codes-1");
const ascii = (text: string) => new TextEncoder().encode(text);

async function reasonOf(bytes: Uint8Array, token = TOKEN): Promise<Reason | "taken"> {
  try {
    await readPackage(CHUNKS, bytes, token);
    return "taken";
  } catch (error) {
    if (error instanceof GossamerError) return error.reason;
    throw error;
  }
}

function isReason(reason: Reason): (error: unknown) => boolean {
  return (error) => error instanceof GossamerError && error.reason === reason;
}

test("a package of a server is read", async () => {
  const pkg = await readPackage(CHUNKS, PACKAGE, TOKEN);

  assert.equal(pkg.head.kind, "delta");
  assert.equal(pkg.head.mode, "codes");
  assert.equal(pkg.size, PACKAGE.length);
  assert.deepEqual(unpackRemoved(CHUNKS, pkg.read("removed", 1000)), [{ isFile: false, path: "note 2" }]);
  assert.equal(pkg.read("texts", 1000).length, pkg.sizeOf("texts"));
  assert.equal(pkg.read("hot", 1000).length, 0);
  assert.throws(() => pkg.read("texts", 10), isReason("TooLarge"));
});

test("a package that is cut anywhere is refused", async () => {
  const reasons = new Set<string>();
  for (let end = 0; end < PACKAGE.length; end += 10) reasons.add(await reasonOf(PACKAGE.slice(0, end)));

  assert.deepEqual([...reasons].sort(), ["NotGossamer", "Truncated"]);
});

test("a package with a byte that is another one is refused, wherever it is", async () => {
  for (let at = 0; at < PACKAGE.length; at += 7) {
    const bytes = PACKAGE.slice();
    bytes[at] = (bytes[at] ?? 0) ^ 0x41;

    assert.notEqual(await reasonOf(bytes), "taken", `byte ${at}`);
  }
});

test("a package of another token, or of none, is refused", async () => {
  const open = recorded("vectors-0");

  assert.equal(await reasonOf(PACKAGE, "another"), "Damaged");
  assert.equal(await reasonOf(PACKAGE, ""), "Damaged");
  assert.equal(await reasonOf(open, ""), "taken");
  assert.equal(await reasonOf(open, TOKEN), "Damaged");
});

test("codes are the same where the browser computes none", async () => {
  for (const size of [0, 1, 55, 56, 63, 64, 65, 1000]) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => i * 7);
    for (const key of ["", "a", "k".repeat(64), "é".repeat(64)]) {
      const code = new Uint8Array(createHmac("sha256", key).update(bytes).digest());
      assert.ok(await isSigned(bytes, code, key), `${size} by the browser`);
      assert.ok(await isSigned(bytes, code, key, null), `${size} here`);
      code[31] = (code[31] ?? 0) ^ 1;
      assert.equal(await isSigned(bytes, code, key, null), false);
      assert.equal(await isSigned(bytes, code.subarray(0, 31), key, null), false);
    }
  }
});

test("a package of a later protocol is told from a damaged one", async () => {
  const later = PACKAGE.slice();
  later[7] = "2".charCodeAt(0);

  const speaking = (protocol: unknown) => remade(PACKAGE, { head: (head) => ({ ...head, protocol }) });

  assert.equal(await reasonOf(later), "UnknownVersion");
  assert.equal(await reasonOf(speaking(2)), "UnknownVersion");
  assert.equal(await reasonOf(speaking("1")), "Damaged");
});

test("a head that says what no server says is refused, though it is well signed", async () => {
  const heads: ((head: AnyHead) => Record<string, unknown>)[] = [
    (head) => ({ ...head, kind: "snapshot" }),
    (head) => ({ ...head, kind: "other" }),
    (head) => ({ ...head, texts: "perhaps" }),
    (head) => ({ ...head, version: -1 }),
    (head) => ({ ...head, version: "4" }),
    (head) => ({ ...head, more: 1 }),
    (head) => ({ ...head, model: [] }),
    (head) => ({ ...head, base: { epoch: "", version: 1 } }),
    (head) => ({ ...head, sections: {} }),
    (head) => ({ ...head, sections: [...head.sections, { ...head.sections[0], size: 0, unpacked: 0 }] }),
    (head) => ({ ...head, sections: head.sections.map((one) => ({ ...one, name: "../x" })) }),
    // What no zstd unpacks to.
    (head) => ({ ...head, sections: head.sections.map((one) => ({ ...one, unpacked: 2 ** 39 })) }),
  ];
  assert.equal(await reasonOf(remade(PACKAGE, {})), "taken");
  for (const head of heads) assert.equal(await reasonOf(remade(PACKAGE, { head })), "Damaged");
});

test("a section that unpacks to another length than it says is damaged", async () => {
  const longer = (head: AnyHead) => ({
    ...head,
    sections: head.sections.map((one) => ({ ...one, unpacked: one.unpacked + Number(one.name === "texts") })),
  });
  const pkg = await readPackage(CHUNKS, remade(PACKAGE, { head: longer }), TOKEN);

  assert.throws(() => pkg.read("texts", 1000), isReason("Damaged"));
  assert.ok(headIn(PACKAGE).sections.some(({ name }) => name === "texts"));
});

test("times that a double cannot hold are read as they were written", () => {
  const json = '[[true,"a \\"12\\" \\u00e9",1700000000123456789,3],[false,"b",-5,0]]';
  const touched = unpackTouched(CHUNKS, ascii(json));

  assert.deepEqual(touched, [
    { isFile: true, path: 'a "12" é', mtimeNs: 1700000000123456789n, readerVersion: 3 },
    { isFile: false, path: "b", mtimeNs: -5n, readerVersion: 0 },
  ]);
  assert.deepEqual(unpackTouched(CHUNKS, new Uint8Array(0)), []);
  assert.deepEqual(unpackAbsent(CHUNKS, ascii("[3,12]")), new Set([3, 12]));
  assert.equal(unpackConflicts(CHUNKS, ascii('[[1,"a","2024-01-01",7,"was replaced"]]'))[0]?.note, "was replaced");
});

test("sections that hold something else are damaged, and cost no more than they are long", () => {
  const wrong = ["{}", "[1]", "[[1,2]]", '[[true,"a",3]]', '[["true","a"]]', "[[true,1]]", "[[true,\"é\"]]"];
  for (const text of wrong) assert.throws(() => unpackRemoved(CHUNKS, ascii(text)), isReason("Damaged"), text);
  const numbers = ["1.5", "1e3", "-1", "9223372036854775808", "99999999999999999999", '"1"', "null"];
  for (const text of numbers) {
    assert.throws(() => unpackTouched(CHUNKS, ascii(`[[true,"a",0,${text}]]`)), isReason("Damaged"), text);
  }
  assert.throws(() => unpackTouched(CHUNKS, ascii('[[true,"a",9223372036854775808,0]]')), isReason("Damaged"));
  assert.throws(() => unpackRemoved(CHUNKS, ascii(`[${"[],".repeat(100_000)}[]]`)), isReason("Damaged"));
  assert.throws(() => unpackRemoved(CHUNKS, ascii("[".repeat(100_000))), isReason("Damaged"));
});

test("a mode is written in one form", () => {
  const modes = ["codes", "slim", "slim:int8", "slim:f16:12", "slim::4"].map(parseMode);

  assert.deepEqual(modes, ["codes", "slim:f16:8", "slim:int8:8", "slim:f16:12", "slim:f16:4"]);
  for (const mode of ["", "hot:5MB", "slim:f16:1", "slim:f16:33", "slim:f8", "codes:1", "Slim"]) {
    assert.throws(() => parseMode(mode), isReason("InvalidArgument"), mode);
  }
});
