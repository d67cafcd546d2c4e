// The snapshot that an index is asked in: the one that was committed last, by this page or another tab.

import { GossamerError } from "../errors.ts";
import { readManifest } from "../format/manifest.ts";
import type { StoredName } from "../options.ts";
import type { Storage } from "../storage/storage.ts";
import type { IndexContext } from "./context.ts";
import { Lock } from "./promises.ts";
import { Snapshot } from "./snapshot.ts";
import { MOST_TRIES, explainedLoss, isLoss, openTarget } from "./targets.ts";

export type TargetName = string | Blob | StoredName;

export class CurrentSnapshot {
  readonly #address: TargetName;
  readonly #context: IndexContext;
  readonly #storage: Storage;
  readonly #isUnnamed: boolean;
  readonly #reopening = new Lock();
  #snapshot: Snapshot;
  #isClosed = false;

  /** Opens an index. NoIndex if there is none. */
  static async open(
    address: TargetName,
    context: IndexContext,
    storage: Storage,
    isUnnamed: boolean,
  ): Promise<CurrentSnapshot> {
    const snapshot = await openSnapshot(address, context, storage);
    return new CurrentSnapshot(address, context, storage, isUnnamed, snapshot);
  }

  private constructor(
    address: TargetName,
    context: IndexContext,
    storage: Storage,
    isUnnamed: boolean,
    snapshot: Snapshot,
  ) {
    this.#address = address;
    this.#context = context;
    this.#storage = storage;
    this.#isUnnamed = isUnnamed;
    this.#snapshot = snapshot;
  }

  /** Its name in storage; "" where it is not kept. */
  get name(): string {
    return this.#isUnnamed ? "" : this.#snapshot.target.name;
  }

  /** The one that is open, whether or not another tab has changed the index. */
  async get(): Promise<Snapshot> {
    for (let tries = 1; ; tries++) {
      if (this.#isClosed) throw new GossamerError("WrongState", "the index was closed; open it again");
      const snapshot = this.#snapshot;
      if (!snapshot.lifetime.isEnding || tries >= MOST_TRIES) return snapshot;
      await this.#reopen(snapshot); // it is under way, or failed before
    }
  }

  /** The one that was committed last. */
  async latest(): Promise<Snapshot> {
    const snapshot = await this.get();
    if (!(await this.isLatest(snapshot))) await this.#reopen(snapshot);
    return this.#snapshot;
  }

  async isLatest({ target }: Snapshot): Promise<boolean> {
    const { folder, isLocal, parts } = target;
    const bytes = folder && isLocal ? await folder.readManifest() : null;
    if (!bytes) return true; // if storage was cleared, reading what is missing says so
    const now = readManifest(bytes);
    return now.generation === parts.manifest.generation && now.uuid === parts.manifest.uuid;
  }

  /** Opens what came after a snapshot, or throws why what failed there cannot do on another one. */
  async replace(old: Snapshot, isOld: boolean, error: unknown, isLastTry: boolean): Promise<void> {
    if (!isOld && !(await this.#isReplaced(old, error))) {
      throw old.target.isLocal && !this.#isUnnamed ? explainedLoss(this.name, error) : error;
    }
    if (isLastTry) throw busy(this.name);
    await this.#reopen(old);
  }

  /** Lets go of memory and files. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#snapshot.close();
  }

  /** Opens the snapshot that was committed last, in place of `old`, which is closed when its users are done. */
  async #reopen(old: Snapshot): Promise<void> {
    const release = await this.#reopening.acquire();
    try {
      if (this.#snapshot !== old || this.#isClosed) return; // another search was first
      // What is kept of a remote file is in use as long as it is open, and may have to go.
      if (!old.target.isLocal) await old.retire();
      const snapshot = await openSnapshot(this.#address, this.#context, this.#storage);
      if (this.#isClosed) return await snapshot.close();
      this.#snapshot = snapshot;
      void old.retire().catch(() => undefined);
    } finally {
      release();
    }
  }

  /** Whether what failed may do on another snapshot: one that was committed meanwhile, or a remote file that
   * turned out to be another one or damaged. */
  async #isReplaced(snapshot: Snapshot, error: unknown): Promise<boolean> {
    if (this.#isClosed || !(error instanceof GossamerError)) return false;
    const { reason } = error;
    if (!isLoss(error) && reason !== "WrongState") return false;
    if (this.#snapshot !== snapshot) return true;
    if (!snapshot.target.isLocal) return reason === "Damaged" || reason === "Truncated";
    return !(await this.isLatest(snapshot).catch(() => true));
  }
}

/** Tries of one piece of work, each on the snapshot that is current then: it is done again where that was
 * replaced meanwhile. */
export class Attempts {
  readonly #current: CurrentSnapshot;
  #tries = 0;
  #checking: Promise<boolean> = Promise.resolve(true);
  #snapshot: Snapshot | null = null;

  constructor(current: CurrentSnapshot) {
    this.#current = current;
  }

  /** The snapshot to work on, which stays open until isFinal() was asked of the work. */
  async next(): Promise<Snapshot> {
    const snapshot = await this.#current.get();
    this.#tries += 1;
    // Whether another tab changed the index is found out meanwhile: it hardly ever did.
    if (this.#tries === 1) this.#checking = this.#current.isLatest(snapshot).catch(() => true);
    snapshot.lifetime.retain();
    this.#snapshot = snapshot;
    return snapshot;
  }

  /** Waits for the work; whether what it gave stands. Throws what failed, unless it may do on another
   * snapshot. */
  async isFinal(work: Promise<unknown>): Promise<boolean> {
    const snapshot = this.#snapshot as Snapshot;
    const [result] = await Promise.allSettled([work]);
    snapshot.lifetime.release();
    const isOld = this.#tries === 1 && !(await this.#checking);
    if (result.status === "fulfilled" && !isOld) return true;
    const error: unknown = result.status === "rejected" ? result.reason : null;
    await this.#current.replace(snapshot, isOld, error, this.#tries >= MOST_TRIES);
    return false;
  }
}

async function openSnapshot(address: TargetName, context: IndexContext, storage: Storage): Promise<Snapshot> {
  const { options, meter, services } = context;
  const target = await openTarget(address, options, { storage, meter, readers: services });
  return Snapshot.open(target, context);
}

function busy(name: string): GossamerError {
  const how = "ask again when those changes are done";
  return new GossamerError("Locked", `the index ${name} changed faster than it could be read; ${how}`);
}
