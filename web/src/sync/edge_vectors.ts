// The engine's file of an edge, made from what it has and what a package brings. An edge of codes holds all
// rows by rising id; a slim one the server's own graph, bit for bit. The twin of
// python/gossamer/sync/edge_vectors.py.

import { floatsOf } from "../bytes/half.ts";
import { memorySource } from "../bytes/memory.ts";
import type { Engine, EngineIndex } from "../core/engine.ts";
import { GossamerError } from "../errors.ts";
import type { Catalogue } from "../format/catalogue.ts";
import { openContainer, SECTIONS, writeContainer } from "../format/container.ts";
import type { Container } from "../format/container.ts";
import { openEngineParts } from "../format/parts.ts";
import type { Package } from "./package.ts";
import { digestOfEngine, digestOfRows } from "./state.ts";

/** Vectors that are ready to be committed. */
export interface MadeVectors {
  readonly digest: Uint8Array; // what the state is computed from
  readonly file: Uint8Array; // of the engine; empty if there are none
}

/** What vectors are made with. */
export interface VectorTools {
  readonly engine: Engine; // that builds
  /** The pack that ships with the model of the index. MissingModel if it is not to be had. */
  pack(): Promise<Uint8Array>;
}

const MOST_DIM = 1 << 16;
const MOST_CODEBOOK_BYTES = 2 ** 28;
const MOST_ENGINE_BYTES = 2 ** 31; // of memory, which is in one piece
const FINGERPRINT_BYTES = 8;
const NOTHING = new Uint8Array(0);

/** Puts rows of the package (the chunks of `news`) to those of the old engine's that stay. */
export async function makeCodes(
  pkg: Package,
  catalogue: Catalogue,
  news: Catalogue,
  old: Container | null,
  tools: VectorTools,
): Promise<MadeVectors> {
  const ids = catalogue.chunkIds;
  if (ids.length === 0) return { digest: digestOfRows(ids, NOTHING), file: NOTHING };
  const kind = pkg.head.settings["rows_kind"];
  if (kind === "codes") return makeOfCodes(pkg, ids, news, old, tools);
  if (kind === "vectors") return makeOfVectors(pkg, ids, news, old, tools);
  throw damaged(`the package holds ${JSON.stringify(kind)}, and codes or vectors were expected`);
}

/** Takes the slim engine as the package has it, or as its delta makes it of the old one. */
export async function makeSlim(
  pkg: Package,
  catalogue: Catalogue,
  old: Container | null,
  tools: VectorTools,
): Promise<MadeVectors> {
  const file = await slimFile(pkg, old, tools);
  if (file === null) {
    if (catalogue.chunkCount > 0) throw damaged("the package lacks the slim graph of its chunks");
    return { digest: NOTHING, file: NOTHING };
  }
  const container = await openContainer(memorySource(file));
  const index = await openEngine(container, tools);
  try {
    if (pkg.has("engine")) index.verify();
    const known = new Set(catalogue.chunkIds);
    // A chunk whose text the server could not read has no vector there, and none here.
    if (!index.ids().every((id) => known.has(id))) {
      throw damaged("the slim graph of the package is of other chunks than its catalogue");
    }
  } finally {
    index.free();
  }
  return { digest: digestOfEngine(container), file };
}

async function slimFile(pkg: Package, old: Container | null, tools: VectorTools): Promise<Uint8Array | null> {
  if (pkg.has("engine")) return pkg.read("engine", MOST_ENGINE_BYTES);
  if (!pkg.has("engine_delta") || !old) return null;
  const index = await openEngine(old, tools);
  try {
    index.applyDelta(pkg.read("engine_delta", MOST_ENGINE_BYTES));
    return index.save({
      codebook: old.sectionAt(SECTIONS.codebook) !== null,
      calibration: old.sectionAt(SECTIONS.calibration) !== null,
    });
  } finally {
    index.free();
  }
}

async function makeOfCodes(
  pkg: Package,
  ids: Float64Array,
  news: Catalogue,
  old: Container | null,
  tools: VectorTools,
): Promise<MadeVectors> {
  const { pack, isOwn } = await codebookOf(pkg, old, tools);
  await checkCodebook(pkg, pack);
  const index = tools.engine.create(pack);
  try {
    const codes = await rowsOf(pkg, ids, news, index.codeBytes, async (staying) => {
      if (!old) return null;
      const before = await openEngine(old, { ...tools, pack: async () => pack });
      try {
        return before.codesOf(staying);
      } finally {
        before.free();
      }
    });
    index.addCodes(Array.from(ids), codes);
    const file = index.save({ codebook: isOwn, calibration: isOwn });
    return { digest: digestOfRows(ids, codes), file };
  } finally {
    index.free();
  }
}

/** Of an index without codes, the rows are vectors. */
async function makeOfVectors(
  pkg: Package,
  ids: Float64Array,
  news: Catalogue,
  old: Container | null,
  tools: VectorTools,
): Promise<MadeVectors> {
  const dim = pkg.head.model["dim"];
  if (!Number.isInteger(dim) || (dim as number) < 1 || (dim as number) > MOST_DIM) {
    throw damaged(`the package says that its vectors have ${JSON.stringify(dim)} numbers`);
  }
  const width = 2 * (dim as number);
  const rows = await rowsOf(pkg, ids, news, width, (staying) => oldRows(old, staying, width, tools));
  const index = tools.engine.build(floatsOf(rows), dim as number, {
    metric: "ip",
    scalar: "f16",
    keep: "all",
    graph: "none",
    ids: Array.from(ids),
  });
  const file = index.save();
  index.free();
  return { digest: digestOfRows(ids, rows), file };
}

/** The rows of all ids: those of `news` from the package, the others as `oldOf` gives them. */
async function rowsOf(
  pkg: Package,
  ids: Float64Array,
  news: Catalogue,
  width: number,
  oldOf: (staying: readonly number[]) => Promise<Uint8Array | null>,
): Promise<Uint8Array> {
  const size = news.chunkCount * width;
  const fresh = pkg.read("rows", size);
  if (fresh.length !== size) {
    throw damaged(`the package has ${fresh.length} bytes of rows, where ${size} were expected`);
  }
  const isNew = new Set(news.chunkIds);
  const staying = Array.from(ids).filter((id) => !isNew.has(id));
  if (ids.length - staying.length !== isNew.size) {
    throw damaged("the package has rows of chunks that are not in its catalogue");
  }
  const kept = staying.length > 0 ? await oldOf(staying) : NOTHING;
  if (kept?.length !== staying.length * width) {
    throw damaged("the package lacks rows of chunks that are in its catalogue");
  }
  const rows = new Uint8Array(ids.length * width);
  let [nextNew, nextOld] = [0, 0];
  ids.forEach((id, row) => {
    const [from, at] = isNew.has(id) ? [fresh, nextNew++] : [kept, nextOld++];
    rows.set(from.subarray(at * width, (at + 1) * width), row * width);
  });
  return rows;
}

async function oldRows(
  old: Container | null,
  ids: readonly number[],
  width: number,
  tools: VectorTools,
): Promise<Uint8Array | null> {
  if (!old?.sectionAt(SECTIONS.vectors)) return null;
  const index = await openEngine(old, tools);
  try {
    if (index.rowBytes !== width) return null;
    const stored = await old.section(SECTIONS.vectors);
    const rows = new Uint8Array(ids.length * width);
    index.nodesOf(ids).forEach((node, i) => {
      rows.set(stored.subarray(node * width, (node + 1) * width), i * width);
    });
    return rows;
  } finally {
    index.free();
  }
}

async function openEngine(container: Container, { engine, pack }: VectorTools): Promise<EngineIndex> {
  const needsPack = container.sectionAt(SECTIONS.codes) && !container.sectionAt(SECTIONS.codebook);
  const parts = await openEngineParts(container, { withVectors: true });
  return engine.open(parts, needsPack ? { pack: await pack() } : {});
}

/** The codebook of the codes as a model pack, and whether it is the index's own. */
async function codebookOf(
  pkg: Package,
  old: Container | null,
  tools: VectorTools,
): Promise<{ pack: Uint8Array; isOwn: boolean }> {
  if (pkg.has("codebook")) return { pack: pkg.read("codebook", MOST_CODEBOOK_BYTES), isOwn: true };
  if (!old?.sectionAt(SECTIONS.codebook)) return { pack: await tools.pack(), isOwn: false };
  const sections = await old.sections([SECTIONS.codebook, SECTIONS.calibration]);
  return { pack: writeContainer(Array.from(sections, ([kind, bytes]) => ({ kind, bytes }))), isOwn: true };
}

async function checkCodebook(pkg: Package, pack: Uint8Array): Promise<void> {
  const codebook = await (await openContainer(memorySource(pack))).section(SECTIONS.codebook);
  const expected = pkg.head.settings["codebook"];
  const print = codebook.slice(-FINGERPRINT_BYTES).reverse();
  const found = Array.from(print, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (expected === found) return;
  throw new GossamerError(
    "CodebookMismatch",
    `the server's codes are of codebook ${String(expected)}, and the one here is ${found}; bring gossamer ` +
      "up to date on both sides",
  );
}

function damaged(what: string): GossamerError {
  return new GossamerError("Damaged", what);
}
