// Parts of a path, as Python's PurePath names them.

/** The last part. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The folder right above; "" for none. */
export function parentNameOf(path: string): string {
  return path.split("/").at(-2) ?? "";
}

/** The extension in lower case, with its dot; "" for none. */
export function suffixOf(path: string): string {
  const name = nameOf(path);
  const dot = name.lastIndexOf(".");
  return dot > 0 && dot < name.length - 1 ? name.slice(dot).toLowerCase() : "";
}

/** The name without its extension. */
export function stemOf(path: string): string {
  const name = nameOf(path);
  return name.slice(0, name.length - suffixOf(path).length);
}
