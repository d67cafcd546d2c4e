// What the worker does for each call of the page.

import { GossamerError, throwIfAborted } from "../errors.ts";
import { loadPart } from "../lazy.ts";
import { isModelFolder } from "../query/models.ts";
import type { Services } from "../query/services.ts";
import { WebIndex } from "../query/web_index.ts";
import type { Storage } from "../storage/storage.ts";
import type { Job } from "./job.ts";
import type { Calls, OpenedIndex } from "./messages.ts";

/** A function for each call. */
export type Handlers = {
  readonly [Name in keyof Calls]: (job: Job, ...args: Calls[Name]["args"]) => Promise<Calls[Name]["value"]>;
};

const ONLY_MEMORY =
  "this browser or page has no storage that works: indexes are in memory and go with the page; open it by " +
  "https or from localhost, and not in a private window";

// Most pages only search: what changes indexes is loaded with the first call that does.
const changes = () => loadPart(import("./changes.ts"));
const following = () => loadPart(import("./following.ts"));

/** The calls over some services; open indexes are known by their handles. */
export function makeHandlers(services: Services): Handlers {
  const indexes = new Map<number, WebIndex>();
  let lastHandle = 0;
  const find = (handle: number) => {
    const index = indexes.get(handle);
    if (index) return index;
    throw new GossamerError("WrongState", "the index was closed; open it again");
  };
  const enter = async (index: WebIndex, job: Job): Promise<OpenedIndex> => {
    if (job.signal.aborted) {
      await index.close(); // nobody is left who would
      throwIfAborted(job.signal);
    }
    indexes.set(++lastHandle, index);
    return { handle: lastHandle, name: index.name };
  };
  return {
    open: async (job, target, options) => {
      const isKept = target instanceof Blob && options.name !== undefined;
      const from = isKept ? await (await changes()).importIndex(services, options.name ?? "", target, job) : target;
      return enter(await WebIndex.open(from, { ...options, signal: job.signal }, services), job);
    },
    build: async (job, name, options) => {
      const { index, report } = await (await changes()).buildIndex(services, name, options, job);
      return { ...(await enter(index, job)), report };
    },
    follow: async (job, name, url, options) => {
      const { index, report } = await (await following()).followIndex(services, name, url, options, job);
      return { ...(await enter(index, job)), report };
    },
    pull: async (job, handle, wish) =>
      (await following()).pullIndex(services, find(handle), wish, job),
    names: async () => namesOf(await services.storage()),
    removeIndex: async (_, name) => {
      for (const [handle, index] of indexes) {
        if (index.name !== name || name === "") continue;
        indexes.delete(handle);
        await index.close();
      }
      await (await services.storage()).remove(name);
      return null;
    },
    storage: async () => {
      const storage = await services.storage();
      const notes = storage.kind === "memory" ? [ONLY_MEMORY] : [];
      return { kind: storage.kind, ...(await storage.usage()), notes };
    },
    persist: async () => (await services.storage()).persist(),
    search: async (job, handle, question, options) =>
      find(handle).search(question, { ...options, signal: job.signal }),
    similar: async (job, handle, id, options) => find(handle).similar(id, { ...options, signal: job.signal }),
    add: async (job, handle) => (await changes()).addTexts(services, find(handle), job),
    addFiles: async (job, handle, files) =>
      (await changes()).addFiles(services, find(handle), files, job),
    remove: async (job, handle, sources) =>
      (await changes()).removeSources(services, find(handle), sources, job),
    exportFile: async (job, handle) => (await changes()).exportIndex(services, find(handle), job),
    status: async (_, handle) => find(handle).status(),
    setMemoryBudget: async (_, handle, bytes) => {
      await find(handle).setMemoryBudget(bytes);
      return null;
    },
    optimiseCache: async (job, handle, options) => find(handle).optimiseCache(options, job.signal),
    context: async (job, handle, id, margin) => find(handle).context(id, margin, job.signal),
    titles: async (job, handle, most) => find(handle).titles(most, job.signal),
    close: async (_, handle) => {
      const index = indexes.get(handle);
      indexes.delete(handle);
      await index?.close();
      return null;
    },
  };
}

/** The names of indexes: a folder without a manifest holds what came of one that is yet to be complete. */
async function namesOf(storage: Storage): Promise<string[]> {
  const names = (await storage.names()).filter((name) => !isModelFolder(name));
  const manifests = names.map(async (name) => (await storage.folder(name)).readManifest());
  const found = await Promise.all(manifests);
  return names.filter((_, i) => found[i] !== null);
}
