// What can be imported from the package: `name` is the file in dist/, which the "exports" of package.json name.
export const ENTRIES = [
  { name: "gossamer", source: "src/index.ts" },
];
