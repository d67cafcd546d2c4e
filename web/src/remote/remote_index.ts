// An index that a server has and searches: what a page asks of one of its own, over HTTP (docs/server.md).

import { GossamerError } from "../errors.ts";
import type { PickedFile } from "../options.ts";
import type { ChunkContext, OnProgress, Results, SearchOptions } from "../records.ts";
import type { ChangeReport, FailedSource } from "../update/change.ts";
import { connect } from "./connection.ts";
import type { Connection, Tokens } from "./connection.ts";
import { resultsOf } from "./records.ts";
import type { Conflict, ServerResults, ServerStatus } from "./records.ts";

export type { Tokens } from "./connection.ts";
export type { Conflict, ServerStatus } from "./records.ts";

/** What became of files that were sent. */
export type AddReport = Pick<ChangeReport, "added" | "replaced" | "unchanged" | "failed">;

/** A file that is refused stands in the report; whatever else is wrong is wrong with all of them. */
const FAULTS_OF_FILE: readonly string[] = ["InvalidArgument", "TooLarge"];

export class RemoteIndex {
  readonly #connection: Connection;

  /** `url` is the server's, and ends with a slash; nothing is sent yet. */
  constructor(url: string, tokens: Tokens) {
    this.#connection = connect(url, tokens);
  }

  /** The chunks that answer a question best. */
  async search(question: string, options: SearchOptions = {}): Promise<Results> {
    const { k = 10, filter, perFile, signal, ...rest } = options;
    const body = JSON.stringify({ question, k, ...rest, where: filter, per_file: perFile });
    const headers = { "Content-Type": "application/json" };
    const sent = { method: "POST", body, headers, signal: signal ?? null };
    return resultsOf((await this.#connection.ask("v1/search", sent)) as ServerResults);
  }

  /** A chunk with up to `margin` bytes of the text before and after it. */
  async context(id: number, margin = 600): Promise<ChunkContext> {
    return (await this.#connection.ask(`v1/chunks/${id}/context?margin=${margin}`)) as ChunkContext;
  }

  /** What the index holds and takes; the server looks at each of its files for it. */
  async status(): Promise<ServerStatus> {
    return (await this.#connection.ask("v1/status")) as ServerStatus;
  }

  /** Titles of some documents, from all over the index. */
  async titles(): Promise<string[]> {
    return ((await this.#connection.ask("v1/titles")) as { titles: string[] }).titles;
  }

  /** Changes that took the place of others; what was replaced is read by `conflict`. */
  async conflicts(): Promise<Conflict[]> {
    return ((await this.#connection.ask("v1/conflicts")) as { conflicts: Conflict[] }).conflicts;
  }

  async conflict(number: number): Promise<Conflict> {
    return (await this.#connection.ask(`v1/conflicts/${number}`)) as Conflict;
  }

  /** Sends files, which the server keeps and indexes, one after the other. If it is cancelled, those that were
   * sent before are in the index, and the report is of them. */
  async addFiles(
    files: readonly PickedFile[],
    options: { onProgress?: OnProgress; signal?: AbortSignal } = {},
  ): Promise<AddReport> {
    const { onProgress = () => {}, signal } = options;
    const report = { added: 0, replaced: 0, unchanged: 0, failed: [] as FailedSource[] };
    let embedded = 0;
    for (const [at, file] of files.entries()) {
      onProgress({ phase: "reading", done: at, total: files.length });
      const watch = (chunks: number) => onProgress({ phase: "embedding", done: embedded + chunks, total: 0 });
      try {
        const done = await this.#putFile(file, watch, signal);
        if (done.note !== "") report.failed.push(failure(file, "Unreadable", done.note));
        else report[done.report.added ? "added" : done.report.updated ? "replaced" : "unchanged"] += 1;
        embedded += done.report.chunks_embedded;
      } catch (error) {
        const { reason, message } = error as GossamerError;
        if (reason === "Cancelled") break;
        if (!FAULTS_OF_FILE.includes(reason)) throw error;
        report.failed.push(failure(file, reason, message));
      }
    }
    return report;
  }

  async #putFile(
    { path, file }: PickedFile,
    watch: (chunks: number) => void,
    signal?: AbortSignal,
  ): Promise<PutFile> {
    const name = path.split("/").map(encodeURIComponent).join("/");
    const sent = { method: "PUT", body: file, signal: signal ?? null };
    for await (const line of this.#connection.askLines(`v1/files/${name}?stream=true`, sent)) {
      if ("report" in line) return line as unknown as PutFile;
      watch(Number(line["chunks_embedded"] ?? 0));
    }
    throw new GossamerError("Unreachable", "the server's answer broke off before it said what became of a file");
  }
}

/** The last line of a server that took a file; `note` says why it cannot be found, if so. */
interface PutFile {
  readonly note: string;
  readonly report: { readonly added: number; readonly updated: number; readonly chunks_embedded: number };
}

function failure({ path }: PickedFile, reason: string, message: string): FailedSource {
  return { source: path, reason, message };
}
