// What index.html says of its site, and which index is meant.

import { GossamerError } from "../src/errors.ts";

/** Which index: the one of this site, one at an address, one in storage, or a file that was picked. */
export type Target =
  | { readonly kind: "site" }
  | { readonly kind: "address"; readonly url: string }
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "file"; readonly file: File };

/** Where this site's index is, the server that has more of it, whether that refuses changes, and questions to
 * begin with; "" for none. */
export const SITE = {
  index: metaOf("gossamer-index"),
  server: metaOf("gossamer-server"),
  readOnly: metaOf("gossamer-read-only"),
  examples: metaOf("gossamer-examples"),
} as const;

/** Whether the server answers the questions; otherwise this page does. */
export const isServer = SITE.index === "" && SITE.server !== "";

/** The host of an address that is not this site's; "" if it is. */
export function hostOf(address: string): string {
  const url = new URL(address || document.baseURI);
  return url.origin === location.origin ? "" : url.host;
}

/** An address as the page means it. */
export function absolute(url: string): string {
  if (URL.canParse(url, document.baseURI)) return new URL(url, document.baseURI).href;
  throw new GossamerError(
    "InvalidArgument",
    `the address of an index was expected, got ${JSON.stringify(url)}`,
  );
}

function metaOf(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
}
