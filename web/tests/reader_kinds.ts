// Says which kinds names and first lines stand for, for tests/test_web_readers.py.
import { readFileSync } from "node:fs";

import { kindOf, reasonToSkip } from "../src/readers/formats.ts";

const { names, heads } = JSON.parse(readFileSync(0, "utf8")) as { names: string[]; heads: string[] };
const bytes = (text: string) => new TextEncoder().encode(text);
const found = {
  kinds: names.map((name) => kindOf(name, bytes("text"))),
  skipped: names.map(reasonToSkip),
  begun: heads.map((head) => kindOf("x", bytes(head))),
};
process.stdout.write(JSON.stringify(found));
