import type { TextCore } from "../core/text.ts";
import type { Embedder } from "../embed/embedder.ts";
import { openOnnxEmbedder } from "../embed/onnx.ts";
import type { Ort } from "../embed/onnx.ts";
import { GossamerError } from "../errors.ts";
import type { EncoderFiles } from "../options.ts";

/** Loads an encoder by onnxruntime-web, which the page serves itself: nothing comes from elsewhere. */
export async function loadEncoder(files: EncoderFiles, text: TextCore): Promise<Embedder> {
  const ort = await importRuntime(files.runtime);
  const wasmPaths = files.wasmPaths ?? new URL("./", files.runtime).href;
  return openOnnxEmbedder(files.folder, { ort, wasmPaths, text });
}

async function importRuntime(url: string): Promise<Ort> {
  try {
    return (await import(/* @vite-ignore */ url)) as Ort;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const said = `onnxruntime-web at ${url} does not load: ${why}`;
    throw new GossamerError("MissingModel", `${said}; serve it there`);
  }
}
