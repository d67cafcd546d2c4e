// Reads what Python wrote into a folder and writes it anew into another one, for tests/test_web_format.py.
import { readFile, writeFile } from "node:fs/promises";

import { joinBytes } from "../src/bytes/join.ts";
import { memorySource } from "../src/bytes/memory.ts";
import { openContainer, writeContainer } from "../src/format/container.ts";
import { readManifest, writeManifest } from "../src/format/manifest.ts";
import { openOldTexts } from "../src/format/texts.ts";
import { rawZstdFrame } from "./zstd_frames.ts";
import { CHUNKS } from "./cores.ts";

const [from, to] = process.argv.slice(2) as [string, string];
const read = async (name: string) => new Uint8Array(await readFile(`${from}/${name}`));
const write = (name: string, bytes: Uint8Array) => writeFile(`${to}/${name}`, bytes);

for (const name of ["empty", "varied", "many"]) {
  const bytes = await read(`${name}.gsc`);
  await write(`${name}.gsc`, CHUNKS.edit({ bytes }, (list) => list.pack()));
}
await write("MANIFEST.gossamer", writeManifest(readManifest(await read("MANIFEST.gossamer"))));

const texts = await openOldTexts(memorySource(await read("texts-1.gst")), CHUNKS);
const [whole] = (await texts.readMany([[0, texts.length]])) as [Uint8Array];
await write("texts-1.txt", whole);
const draft = CHUNKS.draft();
draft.addText(whole);
await write("segment-1.gss", joinBytes(draft.finish()));

const container = await openContainer(memorySource(await read("single.gossamer")));
const sections = [...(await container.sections(container.kinds))];
await write("single.gossamer", writeContainer(sections.map(([kind, bytes]) => ({ kind, bytes }))));

for (const length of [0, 1, 131_072, 131_073, 300_000]) {
  await write(`${length}.zst`, rawZstdFrame(new Uint8Array(length).fill(length % 7)));
}
