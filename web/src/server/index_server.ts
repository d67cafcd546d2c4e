import type { Manifest } from "../format/manifest.ts";

/** A server, and the index it must have: chunks of another one with the same ids are others. */
export interface IndexServer {
  readonly url: string;
  readonly token?: string | undefined;
  readonly index?: string | undefined; // uuid; "" or none for whichever it has
  readonly epoch?: string | undefined; // of its history
  readonly fetch?: typeof fetch | undefined;
}

// A search waits no longer for an answer.
export const SEARCH_SILENCE_MS = 10_000;

/** A server, and the chunks of which index it is asked for. */
export function indexServer(server: Pick<IndexServer, "url" | "token">, manifest: Manifest): IndexServer {
  const { index, epoch } = manifest.origin;
  // A file that a server gave is of the server's own index; what follows one is another index.
  if (typeof index !== "string") return { ...server, index: manifest.uuid };
  return { ...server, index, ...(typeof epoch === "string" ? { epoch } : {}) };
}

/** Which index is asked, as requests name it. */
export function originOf({ index, epoch }: IndexServer): Record<string, string> {
  return { ...(index ? { index } : {}), ...(epoch ? { epoch } : {}) };
}
