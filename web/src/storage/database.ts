/** A connection to an IndexedDB database that is opened when it is needed, and again after the
 * browser closed it because storage was cleared. */
export interface Database {
  /** One transaction: `work` makes its requests at once or when others of them are done. Resolves
   * once it is committed; nothing of it is there if it fails. */
  run<T>(mode: IDBTransactionMode, work: (stores: Stores) => Promise<T>): Promise<T>;
}

export interface Stores {
  readonly folders: IDBObjectStore; // name → name, or the lease of who writes (leases.ts)
  readonly files: IDBObjectStore; // [folder, file] → FileRecord
  readonly blocks: IDBObjectStore; // [id of the file, number] → bytes
  readonly manifests: IDBObjectStore; // folder → bytes
}

const STORES = ["folders", "files", "blocks", "manifests"] as const;
const VERSION = 1;

/** The database of that name; made when it is first used. */
export function openDatabase(name: string): Database {
  let opening: Promise<IDBDatabase> | null = null;

  function connect(): Promise<IDBDatabase> {
    opening ??= open(name, () => {
      opening = null;
    });
    // The next one tries again.
    opening.catch(() => {
      opening = null;
    });
    return opening;
  }

  async function begin(mode: IDBTransactionMode): Promise<IDBTransaction> {
    const options = { durability: "strict" } as const;
    try {
      return (await connect()).transaction(STORES, mode, options);
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== "InvalidStateError") throw error;
      opening = null;
      return (await connect()).transaction(STORES, mode, options);
    }
  }

  return {
    async run(mode, work) {
      const transaction = await begin(mode);
      const done = finished(transaction);
      done.catch(() => {}); // awaited below, maybe after it failed
      const store = (name: (typeof STORES)[number]) => transaction.objectStore(name);
      try {
        const result = await work({
          folders: store("folders"),
          files: store("files"),
          blocks: store("blocks"),
          manifests: store("manifests"),
        });
        await done;
        return result;
      } catch (error) {
        if (isActive(transaction)) transaction.abort();
        await done.catch(() => {});
        // What ended the transaction says more than the request that it ended.
        throw transaction.error ?? error;
      }
    },
  };
}

/** What a request gives. */
export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error as DOMException);
  });
}

function open(name: string, onGone: () => void): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      for (const store of STORES) request.result.createObjectStore(store);
    };
    request.onerror = () => reject(request.error as DOMException);
    request.onsuccess = () => {
      const database = request.result;
      database.onclose = onGone;
      // Another tab deletes the database: it may.
      database.onversionchange = () => {
        database.close();
        onGone();
      };
      resolve(database);
    };
  });
}

function finished(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () =>
      reject(transaction.error ?? new DOMException("the transaction was aborted", "AbortError"));
  });
}

function isActive(transaction: IDBTransaction): boolean {
  try {
    transaction.objectStore(STORES[0]);
    return true;
  } catch {
    return false;
  }
}
