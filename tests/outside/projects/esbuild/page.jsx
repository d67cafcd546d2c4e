// esbuild takes no worker along: it is copied beside the page. With React: hits follow what is typed.
import { search } from "gossamer-web";
import { useSearch } from "gossamer-web/react";
import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";

const worker = "./gossamer/worker.js";

function Search() {
  const [question, setQuestion] = useState("");
  const { hits, error, isSearching } = useSearch("./docs.gossamer", question, { worker, k: 2 });
  return (
    <>
      <input onChange={(event) => setQuestion(event.target.value)} />
      <output aria-busy={isSearching}>{error?.message ?? hits.map((hit) => hit.source).join("|")}</output>
    </>
  );
}

createRoot(document.body.appendChild(document.createElement("main"))).render(<StrictMode><Search /></StrictMode>);
const hits = await search("./docs.gossamer", "when do I have to pay for the apartment?", { worker });
document.title = hits[0].source;
