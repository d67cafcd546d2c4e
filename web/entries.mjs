// What can be imported from the package: `name` is the file in dist/, which "exports" of package.json names. What is
// only for npm is not built for pages that this repository serves.
export const ENTRIES = [
  { name: "gossamer", source: "src/index.ts" },
  // A server renders what imports it, without React's parts for browsers: those that use it say so.
  { name: "react", source: "src/react/index.ts", isOnlyForNpm: true, banner: '"use client";' },
  // For vectors of a page's own, and the worker that they may be in.
  { name: "vectors", source: "src/vectors/index.ts", isOnlyForNpm: true },
  { name: "vectors-worker", source: "src/vectors/host.ts", isOnlyForNpm: true },
];
