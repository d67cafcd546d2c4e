import assert from "node:assert/strict";
import { test } from "node:test";

import { GossamerError } from "../src/errors.ts";
import { digestOf } from "../src/bytes/hashes.ts";
import { unzstd } from "../src/bytes/zstd.ts";
import { rawZstdFrame } from "./zstd_frames.ts";
import { dataFile, randomNumbers } from "./format_parts.ts";

const frames = JSON.parse(new TextDecoder().decode(dataFile("frames.json"))) as {
  frame: string;
  size: number;
  digest: string;
}[];

test("frames of all levels unpack to what was packed", () => {
  for (const { frame, size, digest } of frames) {
    assert.equal(digestOf(unzstd(bytesOf(frame), size)), digest);
  }
});

test("a frame of another size than the one expected is refused", () => {
  for (const { frame, size } of frames) {
    assert.throws(() => unzstd(bytesOf(frame), size + 1), GossamerError);
    if (size > 0) assert.throws(() => unzstd(bytesOf(frame), size - 1), GossamerError);
  }
});

test("what a frame says of its size is compared before anything is unpacked", () => {
  const frame = rawZstdFrame(new Uint8Array(10));
  new DataView(frame.buffer).setBigUint64(5, 2n ** 62n, true);

  assert.throws(() => unzstd(frame, 10), /4611686018427388000 bytes where 10 belong/);
});

test("frames that need a dictionary are refused by that name", () => {
  const frame = rawZstdFrame(new Uint8Array(10));
  frame[4]! |= 1;

  assert.throws(() => unzstd(frame, 10), /dictionary/);
});

test("raw frames of any length come back", () => {
  for (const length of [0, 1, 255, 256, 65536, 1 << 17, (1 << 17) + 1, 400_000]) {
    const content = Uint8Array.from({ length }, (_, i) => (i * 7919) >> 3);

    assert.deepEqual(unzstd(rawZstdFrame(content), length), content);
  }
});

test("damaged frames are refused or unpack to something of their size, and never end otherwise", () => {
  const next = randomNumbers(3);
  for (const { frame, size } of frames.filter(({ size }) => size < 100_000)) {
    const whole = bytesOf(frame);
    for (let round = 0; round < 120; ++round) {
      const changed = whole.slice(0, next(9) === 0 ? next(whole.length) : whole.length);
      const reach = Math.min(changed.length, 300);
      for (let i = next(3); i >= 0 && reach > 0; --i) changed[next(reach)] = next(256);
      expectBytesOrRefusal(changed, size);
    }
  }
});

test("a code of a single symbol of all states ends", () => {
  // Literals of one stream whose weights are coded by a table of one symbol, which takes no bits.
  const block = [2 | (40 << 4), 0x82, 0x04, 4, 0x10, 0x3f, 0xff, 0x01, 0xff, 0xff, 0xff, 0xff];
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 40, (block.length << 3) | 5, 0, 0];

  expectBytesOrRefusal(Uint8Array.from([...head, ...block]), 40);
});

function expectBytesOrRefusal(frame: Uint8Array, size: number): void {
  try {
    assert.equal(unzstd(frame, size).length, size);
  } catch (error) {
    assert(error instanceof GossamerError, String(error));
  }
}

function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, "base64"));
}
