// A page as the README writes it, and what shows in the page that it worked.
import { start } from "gossamer-web";
import { VectorIndex } from "gossamer-web/vectors";

const gossamer = start();
const index = await gossamer.open("./docs.gossamer");
const { hits } = await index.search("when do I have to pay for the apartment?");

// Parts of the worker and modules that no question needs come too.
const { text } = await index.context(hits[0].id);
const filtered = await index.search("whales", { filter: 'path == "sea"' });
const made = await gossamer.build(null, [{ id: "volcanoes", text: "Volcanoes erupt." }]);
const found = await made.search("what erupts?");

// Vectors of the page's own: in a worker, and on its thread.
const near = [];
for (const worker of [true, false]) {
  const vectors = await VectorIndex.build([[1, 0], [0, 1]], 2, { worker });
  near.push((await vectors.search([0.1, 1], { k: 1 })).ids[0]);
  await vectors.close();
}
const texts = [hits[0].source, text, filtered.hits[0].source, found.hits[0].source];
document.body.textContent = [...texts, ...near].join("|");
