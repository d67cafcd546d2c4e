import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import type { TextCore, Tokenizer } from "../src/core/text.ts";
import { fetchModelFolder, readSettings } from "../src/embed/folder.ts";
import { onnxEmbedder, openOnnxEmbedder, type Ort, type OrtTensor } from "../src/embed/onnx.ts";
import { GossamerError } from "../src/errors.ts";

const ENCODER = new TextEncoder();
const SETTINGS = await readSettings(
  { name: "small", max_length: 8, dim: 2, fingerprint: "ab", text_prompt: "t ", question_prompt: "q " },
  new Uint8Array(),
  new Uint8Array(),
);

test("a text is framed, run alone, averaged over its tokens and brought to length 1", async () => {
  const seen: number[][] = [];
  const embedder = await small(ortOf((ids) => (seen.push(ids), [1, ids.length, 2])));

  const rows = await embedder.embed(["a", "b c"]);

  // [CLS] is 1, [SEP] is 2, a word is the code of its letter; a row is (id, 1).
  assert.deepEqual(seen, [[1, 116, 97, 2], [1, 116, 98, 99, 2]]);
  const mean = (1 + 116 + 97 + 2) / 4;
  assert.ok(Math.abs((rows[0] ?? 0) - mean / Math.hypot(mean, 1)) < 1e-6);
  assert.equal(rows.length, 4);
});

test("a question has its own prompt, and a long one is averaged over its pieces", async () => {
  const seen: number[][] = [];
  const embedder = await small(ortOf((ids) => (seen.push(ids), [1, ids.length, 2])));

  const row = await embedder.embedQuestion("a b c d e f g");

  assert.equal(embedder.maxTokens, 5);
  assert.deepEqual(seen, [[1, 113, 97, 98, 99, 100, 101, 2], [1, 113, 102, 103, 2]]);
  assert.ok(Math.abs(Math.hypot(...row) - 1) < 1e-6);
});

test("tokens come without the frame and without prompts", async () => {
  const embedder = await small(ortOf((ids) => [1, ids.length, 2]));

  const made = await embedder.embedTokens?.(["a", "b c"]);
  const asked = await embedder.embedQuestionTokens?.("a b c d e f g");

  assert.deepEqual(made?.rows, await embedder.embed(["a", "b c"]));
  assert.deepEqual(made?.tokens, Float32Array.of(97, 1, 98, 1, 99, 1));
  assert.deepEqual(made?.counts, Uint32Array.of(1, 2));
  assert.deepEqual(made?.starts, Uint32Array.of(0, 0, 2));
  assert.deepEqual(asked?.row, await embedder.embedQuestion("a b c d e f g"));
  assert.deepEqual(asked?.tokens, Float32Array.from([97, 98, 99, 100, 101, 102, 103].flatMap((id) => [id, 1])));
  assert.deepEqual(asked?.starts, Uint32Array.of(0, 2, 4, 6, 8, 10, 12));
});

test("a model gives no tokens if it names none, or they are no vectors of the index's dimension", async () => {
  const unnamed = await small(ortOf(() => [1, 2], undefined, "sentence_embedding"));
  const pooled = await small(ortOf(() => [1, 2]));

  assert.equal(unnamed.embedTokens, undefined);
  assert.equal(unnamed.embedQuestionTokens, undefined);
  const none = { tokens: new Float32Array(), counts: new Uint32Array(), starts: new Uint32Array() };
  assert.deepEqual(await pooled.embedTokens?.(["a"]), { rows: await pooled.embed(["a"]), ...none });
  assert.deepEqual((await pooled.embedQuestionTokens?.("a"))?.starts, new Uint32Array());
});

test("a text of too many tokens is refused", async () => {
  const embedder = await small(ortOf((ids) => [1, ids.length, 2]));

  await assert.rejects(embedder.embed(["a b c d e f"]), isReason("InvalidArgument"));
});

test("nothing but onnxruntime's own files of the page is used, on one thread", async () => {
  const ort = ortOf((ids) => [1, ids.length, 2]);

  await small(ort);

  assert.deepEqual(ort.env.wasm, { wasmPaths: "/ort/", numThreads: 1 });
});

test("a model that gives vectors of another shape, or takes other inputs, is refused", async () => {
  const embedder = await small(ortOf(() => [3, 7]));

  await assert.rejects(embedder.embed(["a"]), isReason("InvalidArgument"));
  await assert.rejects(small(ortOf((ids) => [1, ids.length, 2], ["pixels"])), isReason("InvalidArgument"));
});

test("a model that fails is said to be damaged", async () => {
  const embedder = await small(
    ortOf(() => {
      throw new Error("bad node");
    }),
  );

  await assert.rejects(embedder.embed(["a"]), isReason("Damaged"));
});

test("a folder on a server is fetched file by file", async () => {
  const files: Record<string, string> = {
    "https://host/m/gossamer-model.json": JSON.stringify({ name: "small", max_length: 8, pooling: "cls" }),
    "https://host/m/vocab.txt": "[UNK]\n",
    "https://host/m/model.onnx": "weights",
  };
  const send: typeof fetch = async (url) => {
    const found = files[String(url)];
    return found === undefined ? new Response("", { status: 404 }) : new Response(found);
  };

  const embedder = await openOnnxEmbedder("https://host/m", {
    ...{ ort: ortOf((ids) => [1, ids.length, 2]), wasmPaths: "/ort/", text: fakeText() },
    fetch: send,
  });

  assert.deepEqual([embedder.name, embedder.dim, embedder.maxTokens], ["small", 2, 6]);
  await assert.rejects(fetchModelFolder("https://host/none", send), isReason("MissingModel"));
});

test("a folder has the fingerprint that Python gives it", async () => {
  const expected = JSON.parse(await readFile(new URL("data/embed.json", import.meta.url), "utf8")) as {
    folder: { weights: string; vocabulary: string; prompts: [string, string] };
    folder_fingerprint: string;
  };
  const { weights, vocabulary, prompts } = expected.folder;
  const stated = { max_length: 128, pooling: "cls", question_prompt: prompts[0], text_prompt: prompts[1] };

  const settings = await readSettings(stated, ENCODER.encode(weights), ENCODER.encode(vocabulary));

  assert.equal(settings.fingerprint, expected.folder_fingerprint);
});

test("settings that make no sense are refused", async () => {
  for (const stated of [{ pooling: "max" }, { max_length: -1 }, { dim: "many" }])
    await assert.rejects(() => readSettings(stated, new Uint8Array(), new Uint8Array()), isReason("InvalidArgument"));
});

function small(ort: Ort) {
  const model = new Uint8Array();
  return onnxEmbedder({ ort, wasmPaths: "/ort/", model, vocabulary: model, settings: SETTINGS, text: fakeText() });
}

/** An onnxruntime whose model gives (id, 1) for each token, in an array of the shape that it is told. */
function ortOf(
  shapeOf: (ids: number[]) => number[],
  inputNames = ["input_ids", "attention_mask"],
  output = "last_hidden_state",
): Ort {
  const run = async (feeds: Record<string, OrtTensor>) => {
    const ids = [...(feeds["input_ids"]?.data as BigInt64Array)].map(Number);
    const dims = shapeOf(ids);
    const data = Float32Array.from(ids.flatMap((id) => [id, 1])).slice(0, dims.reduce((a, b) => a * b));
    return { [output]: { data, dims } };
  };
  return {
    env: { wasm: {} },
    InferenceSession: { create: async () => ({ inputNames, outputNames: [output], run }) },
    Tensor: class {
      constructor(
        readonly type: "int64",
        readonly data: BigInt64Array,
        readonly dims: readonly number[],
      ) {}
    },
  };
}

/** A tokenizer whose tokens are words of one letter. */
function fakeText(): TextCore {
  const starts = (bytes: Uint8Array) => Uint32Array.from([...bytes.keys()].filter((at) => bytes[at] !== 32));
  const tokenizer: Tokenizer = {
    tokenStarts: starts,
    tokenIds: (bytes) => starts(bytes).map((at) => bytes[at] ?? 0),
    idOf: (piece) => (piece === "[CLS]" ? 1 : 2),
    free: () => undefined,
  };
  return { tokenizer: () => tokenizer } as unknown as TextCore;
}

function isReason(reason: string): (error: unknown) => boolean {
  return (error) => error instanceof GossamerError && error.reason === reason;
}
