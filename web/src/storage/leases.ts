// Who writes an index where the browser has no Web Locks: pages that are not secure contexts (http in a
// local network). A lease stands in the folder's record and is renewed while its tab works; one that was
// not renewed is of a tab that is gone. A tab that slept and lost its lease writes nothing more, as every
// write looks at the lease within its own transaction.
import { GossamerError } from "../errors.ts";
import { randomName } from "../random.ts";
import { type Database, result, type Stores } from "./database.ts";
import { cleared } from "./failures.ts";

/** What a folder's record may hold. */
interface Lease {
  readonly holder: string;
  readonly until: number; // Date.now()
}

const LEASE_MS = 15_000;
const RENEW_MS = 3_000;
const ASK_AGAIN_MS = 200;

// The leases of this tab, by folder.
const held = new Map<string, string>();

/** Runs `work` while this tab has the lease of a folder. Waits for it, or throws Locked if `waits` is
 * false. NoIndex if there is no folder. */
export async function whileLeased<T>(
  database: Database,
  folder: string,
  waits: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const holder = randomName();
  while (!(await take(database, folder, holder))) {
    if (!waits) throw locked(folder);
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
  held.set(folder, holder);
  const renewing = setInterval(() => void take(database, folder, holder).catch(() => {}), RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    held.delete(folder);
    await release(database, folder, holder).catch(() => {}); // it ends by itself
  }
}

/** To be called in every transaction that writes: Locked if this tab had the lease and lost it. */
export async function checkLease({ folders }: Stores, folder: string): Promise<void> {
  const holder = held.get(folder);
  if (holder === undefined) return;
  const lease = leaseOf(await result<unknown>(folders.get(folder)));
  if (lease?.holder !== holder) throw locked(folder);
}

/** Takes the lease, or renews it; false if another has it. */
function take(database: Database, folder: string, holder: string): Promise<boolean> {
  return database.run("readwrite", async ({ folders }) => {
    const record = await result<unknown>(folders.get(folder));
    if (record === undefined) throw cleared(folder);
    const lease = leaseOf(record);
    if (lease && lease.holder !== holder && lease.until > Date.now()) return false;
    await result(folders.put({ holder, until: Date.now() + LEASE_MS } satisfies Lease, folder));
    return true;
  });
}

function release(database: Database, folder: string, holder: string): Promise<void> {
  return database.run("readwrite", async ({ folders }) => {
    const lease = leaseOf(await result<unknown>(folders.get(folder)));
    if (lease?.holder === holder) await result(folders.put(folder, folder));
  });
}

/** The lease that a record holds; null where it is the folder's name alone. */
function leaseOf(record: unknown): Lease | null {
  return typeof record === "object" && record !== null ? (record as Lease) : null;
}

function locked(folder: string): GossamerError {
  return new GossamerError(
    "Locked",
    `another tab is changing the index "${folder}": wait for it, or close it`,
  );
}
