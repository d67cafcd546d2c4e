// Modules of the worker that few questions need, by name. The build makes files of them that import nothing: bundlers
// give files other names, and leave what they take along as it is. So each file defines its modules here, and the page
// says where it is.

type Module = Readonly<Record<string, unknown>>;
type Make = (need: (name: string) => Module) => Module;

interface Definition {
  readonly needs: readonly string[]; // modules to load before
  readonly make: Make;
}

// Both from the build: the file of each module, and what names of files end with.
declare const PART_FILES: Readonly<Record<string, string>>;
declare const BUILD: string;

/** Which build this worker is of; "" where it was not built. */
export const ownBuild = typeof BUILD === "undefined" ? "" : BUILD;

const definitions = new Map<string, Definition>();
const modules = new Map<string, Module>();
const tries = new Map<string, number>(); // of files
let addresses: Readonly<Record<string, string>> = {};

/** Says where files are that are not beside the worker. */
export function placeFiles(places: Readonly<Record<string, string>>): void {
  addresses = places;
}

/** The address of a file of the package. */
export function addressOf(name: string): string {
  return addresses[name] ?? new URL(name, globalThis.location?.href).href;
}

/** For the files that the build makes. */
const parts = {
  define: (name: string, needs: readonly string[], make: Make): void => void definitions.set(name, { needs, make }),
  load: async (name: string): Promise<Module> => {
    const file = PART_FILES[name];
    if (!modules.has(name) && !definitions.has(name)) await fetchFile(`worker-${file}-${ownBuild}.js`);
    const { needs = [] } = definitions.get(name) ?? {};
    for (const other of needs) await parts.load(other);
    return made(name);
  },
};

/** Loads a file. Firefox remembers one that did not come: the next try has another address, to it alone. */
async function fetchFile(file: string): Promise<void> {
  const tried = tries.get(file) ?? 0;
  tries.set(file, tried + 1);
  await import(`${addressOf(file)}${tried > 0 ? `#${tried}` : ""}`);
}

function made(name: string): Module {
  const module = modules.get(name) ?? (definitions.get(name) as Definition).make(made);
  modules.set(name, module);
  return module;
}

Object.assign(globalThis, { gossamerParts: parts });
