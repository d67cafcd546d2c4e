// What the worker does for each call of the page.

import { GossamerError, throwIfAborted } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import { isModelFolder } from "../query/models.ts";
import type { Services } from "../query/services.ts";
import { WebIndex } from "../query/web_index.ts";
import type { Storage } from "../storage/storage.ts";
import type { Job } from "./job.ts";
import type { HandlersOf } from "./serve.ts";
import type { BuiltIndex, Calls, FollowedIndex, OpenedIndex, StorageStatus } from "./messages.ts";

/** What each call does. */
export type Handlers = HandlersOf<Calls>;

const ONLY_MEMORY =
  "this browser or page has no storage that works: indexes are in memory and go with the page; open it by " +
  "https or from localhost, and not in a private window";

// Most pages only search: what changes indexes is loaded with the first call that does.
const changes = () => loadPart(import("./changes.ts"));
const following = () => loadPart(import("./following.ts"));

/** The calls of one page; open indexes are known by their handles. */
export class WorkerCalls implements Handlers {
  readonly #services: Services;
  readonly #indexes = new Map<number, WebIndex>();
  #lastHandle = 0;

  constructor(services: Services) {
    this.#services = services;
  }

  async open(job: Job, ...[target, options]: Calls["open"]["args"]): Promise<OpenedIndex> {
    const { name } = options;
    const isKept = target instanceof Blob && name !== undefined;
    const from = isKept ? await (await changes()).importIndex(this.#services, name, target, job) : target;
    return this.#enter(await WebIndex.open(from, { ...options, signal: job.signal }, this.#services), job);
  }

  async build(job: Job, ...[name, options]: Calls["build"]["args"]): Promise<BuiltIndex> {
    const { index, report } = await (await changes()).buildIndex(this.#services, name, options, job);
    return { ...(await this.#enter(index, job)), report };
  }

  async follow(job: Job, ...[name, url, options]: Calls["follow"]["args"]): Promise<FollowedIndex> {
    const { followIndex } = await following();
    const { index, report } = await followIndex(this.#services, name, url, options, job);
    return { ...(await this.#enter(index, job)), report };
  }

  async pull(job: Job, ...[handle, wish]: Calls["pull"]["args"]) {
    return (await following()).pullIndex(this.#services, this.#find(handle), wish, job);
  }

  async names(): Promise<string[]> {
    return namesOf(await this.#services.storage());
  }

  async removeIndex(_: Job, name: string): Promise<null> {
    for (const [handle, index] of this.#indexes) {
      if (index.name !== name || name === "") continue;
      this.#indexes.delete(handle);
      await index.close();
    }
    await (await this.#services.storage()).remove(name);
    return null;
  }

  async storage(): Promise<StorageStatus> {
    const storage = await this.#services.storage();
    const notes = storage.kind === "memory" ? [ONLY_MEMORY] : [];
    return { kind: storage.kind, ...(await storage.usage()), notes };
  }

  async persist(): Promise<boolean> {
    return (await this.#services.storage()).persist();
  }

  async search({ signal }: Job, ...[handle, question, options]: Calls["search"]["args"]) {
    return this.#find(handle).search(question, { ...options, signal });
  }

  async similar({ signal }: Job, ...[handle, id, options]: Calls["similar"]["args"]) {
    return this.#find(handle).similar(id, { ...options, signal });
  }

  async add(job: Job, handle: number) {
    return (await changes()).addTexts(this.#services, this.#find(handle), job);
  }

  async addFiles(job: Job, ...[handle, files]: Calls["addFiles"]["args"]) {
    return (await changes()).addFiles(this.#services, this.#find(handle), files, job);
  }

  async remove(job: Job, ...[handle, sources]: Calls["remove"]["args"]) {
    return (await changes()).removeSources(this.#services, this.#find(handle), sources, job);
  }

  async exportFile(job: Job, handle: number) {
    return (await changes()).exportIndex(this.#services, this.#find(handle), job);
  }

  async status(_: Job, handle: number) {
    return this.#find(handle).status();
  }

  async setMemoryBudget(_: Job, handle: number, bytes: number): Promise<null> {
    await this.#find(handle).setMemoryBudget(bytes);
    return null;
  }

  async optimiseCache({ signal }: Job, ...[handle, options]: Calls["optimiseCache"]["args"]) {
    return this.#find(handle).optimiseCache(options, signal);
  }

  async context({ signal }: Job, handle: number, id: number, margin: number) {
    return this.#find(handle).context(id, margin, signal);
  }

  async titles({ signal }: Job, handle: number, most: number) {
    return this.#find(handle).titles(most, signal);
  }

  async close(_: Job, handle: number): Promise<null> {
    const index = this.#indexes.get(handle);
    this.#indexes.delete(handle);
    await index?.close();
    return null;
  }

  #find(handle: number): WebIndex {
    const index = this.#indexes.get(handle);
    if (index) return index;
    throw new GossamerError("WrongState", "the index was closed; open it again");
  }

  async #enter(index: WebIndex, job: Job): Promise<OpenedIndex> {
    if (job.signal.aborted) {
      await index.close(); // nobody is left who would
      throwIfAborted(job.signal);
    }
    this.#indexes.set(++this.#lastHandle, index);
    return { handle: this.#lastHandle, name: index.name };
  }
}

/** The names of indexes: a folder without a manifest holds what came of one that is yet to be complete. */
async function namesOf(storage: Storage): Promise<string[]> {
  const names = (await storage.names()).filter((name) => !isModelFolder(name));
  const manifests = names.map(async (name) => (await storage.folder(name)).readManifest());
  const found = await Promise.all(manifests);
  return names.filter((_, i) => found[i] !== null);
}
