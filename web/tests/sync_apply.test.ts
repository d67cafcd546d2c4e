// Packages that servers made, applied with the real engine: what they lead to is what the server has.
import assert from "node:assert/strict";
import test from "node:test";

import { memorySource } from "../src/bytes/memory.ts";
import { GossamerError } from "../src/errors.ts";
import { openContainer } from "../src/format/container.ts";
import { AWAY } from "../src/format/catalogue.ts";
import { WebIndex } from "../src/query/web_index.ts";
import { baseOf, manifestIn } from "../src/server/following.ts";
import { readPackage } from "../src/sync/package.ts";
import { apply, committed, contentOf, isReason, newEdge, PACK, type TestEdge } from "./sync_edge.ts";
import { expected, headIn, recorded, remade, TOKEN, type ExpectedStep } from "./sync_packages.ts";
import { CHUNKS, folderParts } from "./cores.ts";

const QUESTION = "which animals live in the sea";
const STEPS = expected.steps;

async function checkStep(edge: TestEdge, step: ExpectedStep): Promise<void> {
  assert.deepEqual(await contentOf(edge), { sources: step.sources, chunks: step.chunks });
}

async function checkHits(edge: TestEdge, step: ExpectedStep, tolerance = 1e-6): Promise<void> {
  const index = await WebIndex.open("notes", {}, edge.services);
  const { hits } = await index.search(QUESTION, { k: 3, mode: "semantic", recall: 0.99 });
  await index.close();
  assert.deepEqual(hits.map(({ id, text }) => [id, text]), step.hits.map(({ id, text }) => [id, text]));
  hits.forEach((hit, i) => {
    assert.ok(Math.abs((hit.distance ?? NaN) - (step.hits[i]?.distance ?? NaN)) <= tolerance);
  });
}

async function stateIn({ folder }: TestEdge): Promise<string> {
  return baseOf(await manifestIn(folder))?.state ?? "";
}

test("deltas one by one lead to what the server had, and to what a snapshot leads to", async () => {
  const [edge, other] = [await newEdge(), await newEdge()];
  for (const [number, step] of STEPS.entries()) {
    const applied = await apply(edge, recorded(`codes-${number}`));

    await checkStep(edge, step);
    await checkHits(edge, step);
    assert.ok(applied.documentsChanged + applied.documentsRemoved > 0);
    assert.equal(await stateIn(edge), headIn(recorded(`codes-${number}`))["state"]);
  }
  await apply(other, recorded("codes-all"));

  await checkStep(other, STEPS.at(-1) as ExpectedStep);
  await checkHits(other, STEPS.at(-1) as ExpectedStep);
  assert.equal(await stateIn(other), await stateIn(edge));
});

test("an edge without texts is in the same state as one with them", async () => {
  const edge = await newEdge();
  for (const [number, step] of STEPS.entries()) {
    await apply(edge, recorded(`away-${number}`));
    await checkStep(edge, step);
    assert.equal(await stateIn(edge), headIn(recorded(`codes-${number}`))["state"]);
  }
  const parts = await folderParts(edge.folder);

  assert.ok(parts.catalogue.textPlaces.segments.every((segment) => segment === AWAY));
});

test("a slim edge takes graphs and their deltas, and reads its vectors from storage", async () => {
  const edge = await newEdge();
  const kinds = STEPS.map((_, number) => headIn(recorded(`slim-${number}`))["kind"]);
  assert.ok(kinds.includes("delta"));
  for (const [number, step] of STEPS.entries()) {
    await apply(edge, recorded(`slim-${number}`));
    await checkStep(edge, step);
    await checkHits(edge, step, 0.01); // 8-bit vectors
  }
  const index = await WebIndex.open("notes", {}, edge.services);

  assert.equal((await index.status()).vectors, "stored");
});

test("an index without codes is followed by its vectors", async () => {
  const edge = await newEdge();
  await apply(edge, recorded("vectors-0"), {}, "");
  await apply(edge, recorded("vectors-1"), {}, "");

  await checkStep(edge, expected.vectors);
  await checkHits(edge, expected.vectors);
});

test("a codebook of the index's own comes with the snapshot and stays", async () => {
  const container = await openContainer(memorySource(PACK));
  assert.ok(container.sectionAt(2));
  const edge = await newEdge();
  const pack = async (): Promise<Uint8Array> => assert.fail("the model is not asked for");
  await apply(edge, remade(recorded("codes-0"), { sections: { codebook: PACK } }), { pack });
  await apply(edge, recorded("codes-1"), { pack });

  await checkStep(edge, STEPS[1] as ExpectedStep);
  await checkHits(edge, STEPS[1] as ExpectedStep);
});

test("a document whose text the server could not read is there without it", async () => {
  const edge = await newEdge();
  const bytes = recorded("codes-0");
  const [first] = STEPS[0]?.chunks ?? [];
  const whole = await readPackage(CHUNKS, bytes, TOKEN);
  const texts = whole.read("texts", 1 << 20);
  await apply(edge, bytes);
  const parts = await folderParts(edge.folder);
  const row = parts.catalogue.documentRows([first ?? 0])[0] ?? 0;
  const starts = Array.from(parts.catalogue.textLengths).slice(0, row);
  const at = starts.reduce((sum, length) => sum + length, 0);
  const end = at + (parts.catalogue.textLengths[row] ?? 0);
  const rest = new Uint8Array(Buffer.concat([texts.subarray(0, at), texts.subarray(end)]));
  const absent = new TextEncoder().encode(JSON.stringify([first]));
  const other = await newEdge();

  await apply(other, remade(bytes, { sections: { texts: rest, absent } }));

  await checkStep(other, STEPS[0] as ExpectedStep);
  const segments = (await folderParts(other.folder)).catalogue.textPlaces.segments;
  assert.equal(segments.filter((segment) => segment === 2 ** 31).length, 1);
});

const WRONG: [string, Parameters<typeof remade>[1]][] = [
  ["another state", { head: (head) => ({ ...head, state: "0".repeat(32) }) }],
  ["fewer rows", { sections: { rows: new Uint8Array(24) } }],
  ["other rows", { sections: { rows: new Uint8Array(48) } }],
  ["no rows", { sections: { rows: null } }],
  ["fewer texts", { sections: { texts: new Uint8Array(3) } }],
  ["no catalogue", { sections: { catalogue: null } }],
  ["a catalogue of no kind", { sections: { catalogue: new Uint8Array(100) } }],
  ["nothing removed", { sections: { removed: null } }],
  ["a touched source that is not here", {
    sections: { touched: new TextEncoder().encode('[[true,"/nowhere",1,1]]') },
  }],
  ["rows of a kind that is not known", {
    head: (head) => ({ ...head, settings: { ...(head["settings"] as object), rows_kind: "other" } }),
  }],
  ["codes of no length", {
    head: (head) => ({ ...head, settings: { ...(head["settings"] as object), code_bytes: -1 } }),
  }],
  ["no model", { head: (head) => ({ ...head, model: {} }) }],
  ["a low next id", { head: (head) => ({ ...head, next_chunk_id: 1 }) }],
];
for (const [what, change] of WRONG) {
  test(`a delta with ${what} changes nothing`, async () => {
    const edge = await newEdge();
    await apply(edge, recorded("codes-0"));
    const before = await committed(edge);
    const files = (await edge.folder.files()).length;

    await assert.rejects(apply(edge, remade(recorded("codes-1"), change)), isReason("Damaged"));

    assert.deepEqual(await committed(edge), before);
    assert.equal((await edge.folder.files()).length, files, "nothing is left behind");
    await apply(edge, recorded("codes-1"));
    await checkStep(edge, STEPS[1] as ExpectedStep);
  });
}

test("codes of another codebook are refused", async () => {
  const other = (head: Record<string, unknown>) => {
    return { ...head, settings: { ...(head["settings"] as object), codebook: "0123456789abcdef" } };
  };
  const bytes = remade(recorded("codes-0"), { head: other });

  await assert.rejects(apply(await newEdge(), bytes), isReason("CodebookMismatch"));
});

test("a package of another index is refused", async () => {
  const edge = await newEdge();
  await apply(edge, recorded("codes-0"));
  const before = await committed(edge);

  await assert.rejects(apply(edge, recorded("vectors-0"), {}, ""), isReason("WrongState", "another index"));
  assert.deepEqual(await committed(edge), before);
});

test("a package that was seen before, or begins elsewhere, is refused", async () => {
  const edge = await newEdge();
  await apply(edge, recorded("codes-0"));
  await assert.rejects(apply(edge, recorded("codes-2")), isReason("Damaged", "begins from"));
  await apply(edge, recorded("codes-1"));

  await assert.rejects(apply(edge, recorded("codes-1")), isReason("Damaged", "begins from"));
  await assert.rejects(apply(edge, recorded("codes-0")), isReason("Damaged", "already"));
  await apply(edge, recorded("codes-0"), { mayGoBack: true });
  await checkStep(edge, STEPS[0] as ExpectedStep);
});

test("an edge is in the old state or in the new one, wherever the page dies", async () => {
  const outcomes = new Set<string>();
  for (let bytes = 0; bytes < 6000; bytes += 250) {
    const edge = await newEdge();
    await apply(edge, recorded("codes-0"));
    edge.disk.bytesUntilCut = bytes;
    const done = await apply(edge, recorded("codes-1")).then(
      () => true,
      () => false,
    );
    edge.disk.bytesUntilCut = Infinity;

    await checkStep(edge, STEPS[done ? 1 : 0] as ExpectedStep);
    if (!done) await apply(edge, recorded("codes-1"));
    await checkHits(edge, STEPS[1] as ExpectedStep);
    outcomes.add(String(done));
  }
  assert.equal(outcomes.size, 2);
});

test("storage that is full leaves the index as it was", async () => {
  const edge = await newEdge();
  await apply(edge, recorded("codes-0"));
  const before = await committed(edge);
  const used = [...edge.disk.folders.values()].flatMap((files) => [...files.values()]);
  edge.disk.capacity = used.reduce((sum, file) => sum + file.length, 0) + 200;

  await assert.rejects(apply(edge, recorded("codes-1")), isReason("Unwritable"));

  assert.deepEqual(await committed(edge), before);
});

test("an aborted change is none", async () => {
  const edge = await newEdge();
  await apply(edge, recorded("codes-0"));
  const before = await committed(edge);

  const applying = apply(edge, recorded("codes-1"), { signal: AbortSignal.abort() });

  await assert.rejects(applying, isReason("Cancelled"));
  assert.deepEqual(await committed(edge), before);
});

for (const name of ["codes-1", "slim-0", "slim-1", "vectors-0"]) {
  test(`sections of ${name} with wrong bytes are refused, though they are well signed`, async () => {
    const token = name.startsWith("vectors") ? "" : TOKEN;
    const bytes = recorded(name);
    const pkg = await readPackage(CHUNKS, bytes, token);
    const base = name.replace("1", "0");
    const right = await newEdge();
    if (pkg.head.base) await apply(right, recorded(base));
    await apply(right, bytes, {}, token);
    const outcomes = new Set<string>();
    for (const { name: section } of pkg.head.sections) {
      const content = pkg.read(section, 2 ** 20);
      for (let turn = 0; turn < 8; ++turn) {
        const edge = await newEdge();
        if (pkg.head.base) await apply(edge, recorded(base));
        const wrong = content.slice(0, turn === 0 ? content.length >> 1 : content.length);
        const at = Math.floor((content.length * turn) / 8);
        wrong[at] = (wrong[at] ?? 0) ^ (1 << turn);
        const remadeOne = remade(bytes, { sections: { [section]: wrong }, token });
        const error = await apply(edge, remadeOne, {}, token).then(
          () => null,
          (reason: unknown) => reason,
        );
        if (error instanceof GossamerError) outcomes.add(error.reason);
        // Bytes that mean nothing may be others; texts have a check, which is compared when they are read.
        else assert.deepEqual([error, await contentOf(edge)], [null, await contentOf(right)], section);
      }
    }
    assert.deepEqual([...outcomes], ["Damaged"]);
  });
}
