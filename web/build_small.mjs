// Makes a module smaller than the bundler does.
import { minify } from "terser";

/** The same module in fewer bytes. */
export async function shrink(text) {
  const { code } = await minify(text, { module: true, ecma: 2022, compress: { passes: 2 } });
  return code;
}
