// Puts the addresses of the built files in place of src/files.ts: written out one by one, for bundlers.
import { readdirSync } from "node:fs";

const WORKER = '{ type: "module", name: "gossamer" }';

/** A plugin that knows the worker's files and the others of a folder. */
export function filesModule({ first, parts, hash }, folder) {
  const isOwn = (file) => /\.wasm$|\.model\.gossamer$/.test(file) && !/vectors|build-relaxed/.test(file);
  const others = readdirSync(folder).filter(isOwn);
  const urlOf = (file) => `new URL("./${file}", import.meta.url)`;
  const places = [...others, ...parts].map((file) => `${JSON.stringify(file)}: ${urlOf(file)}.href`);
  const contents = [
    `export const BUILD = ${JSON.stringify(hash)};`,
    `export const startWorker = () => new Worker(${urlOf(first)}, ${WORKER});`,
    `export const fileAddresses = () => ({ ${places.join(", ")} });`,
  ].join("\n");
  const setup = ({ onLoad }) => onLoad({ filter: /\/src\/files\.ts$/ }, () => ({ contents, loader: "js" }));
  return { name: "files", setup };
}
