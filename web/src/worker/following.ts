// Calls that let an index follow a server.

import { GossamerError } from "../errors.ts";
import type { FollowOptions } from "../options.ts";
import { Meter } from "../query/meter.ts";
import { IndexModel } from "../query/models.ts";
import type { Services } from "../query/services.ts";
import { WebIndex } from "../query/web_index.ts";
import { follow, pull } from "../sync/follow.ts";
import type { FollowTools, PullReport, PullWish } from "../sync/follow.ts";
import { hasPart } from "../sync/part.ts";
import type { Job } from "./job.ts";

/** Lets the index of a name follow a server, pulls, and opens it. What came of a package stays for the next
 * time if the server goes away; of a name that is new nothing else stays. */
export async function followIndex(
  services: Services,
  name: string,
  url: string,
  options: FollowOptions,
  job: Job,
): Promise<{ index: WebIndex; report: PullReport }> {
  const { token, keepsToken, mode, texts, model, ...open } = options;
  const wish = {
    ...(token === undefined ? {} : { token }),
    ...(keepsToken === undefined ? {} : { keepsToken }),
    ...(mode === undefined ? {} : { mode }),
    ...(texts === undefined ? {} : { texts }),
  };
  const storage = await services.storage();
  const folder = await storage.folder(name);
  try {
    const report = await follow(folder, url, wish, toolsOf(services, model, job));
    // A token that is not written down serves the index as long as it is open.
    const server = keepsToken === false && token ? { server: { url, token } } : {};
    const opening = { ...open, ...server, ...(model === undefined ? {} : { model }), signal: job.signal };
    const index = await WebIndex.open(name, opening, services);
    if (!options.encoder) await keepModelOf(index);
    return { index, report };
  } catch (error) {
    const isBegun = (await folder.readManifest()) !== null || (await hasPart(folder));
    if (!isBegun) await storage.remove(name).catch(() => {}); // another tab may have begun
    throw error;
  }
}

/** Brings an index that follows a server up to date. */
export async function pullIndex(
  services: Services,
  index: WebIndex,
  wish: PullWish,
  job: Job,
): Promise<PullReport> {
  const { target } = await index.snapshot();
  if (!target.folder || !target.isLocal || !target.server) {
    throw new GossamerError("WrongState", "this index follows no server; `follow` makes one that does");
  }
  const report = await pull(target.folder, wish, toolsOf(services, undefined, job));
  await index.snapshot(); // the next search need not wait for the new one to open
  return report;
}

/** Gets the model while the server is there: without it, questions could not be embedded later. Where it is
 * no file, the server embeds them. */
async function keepModelOf(index: WebIndex): Promise<void> {
  const { model } = await index.snapshot();
  await model.file().catch((error: unknown) => {
    if (!(error instanceof GossamerError)) throw error;
  });
}

function toolsOf(services: Services, model: FollowOptions["model"], job: Job): FollowTools {
  return {
    builder: services.newBuilder,
    chunks: services.chunks,
    pack: (stamp, server) => {
      const where = { ...(model === undefined ? {} : { model }), server };
      return new IndexModel(stamp, "", where, services, new Meter()).file();
    },
    onProgress: job.progress,
    signal: job.signal,
  };
}
