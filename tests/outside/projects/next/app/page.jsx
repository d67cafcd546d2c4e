"use client";
// Rendered on the server first, which imports the package and starts nothing.
import { start } from "gossamer-web";
import { useSearch } from "gossamer-web/react";
import { useEffect, useState } from "react";

export default function Page() {
  const { hits, error } = useSearch("/docs.gossamer", "when do I have to pay for the apartment?");
  const [made, setMade] = useState("");
  useEffect(() => {
    const build = async () => {
      const gossamer = start();
      const index = await gossamer.build(null, [{ id: "volcanoes", text: "Volcanoes erupt." }]);
      const found = await index.search("what erupts?");
      setMade(found.hits[0].source);
      gossamer.close();
    };
    build().catch((failure) => setMade(failure.message));
  }, []);
  return <p>Found: {error?.message ?? [...hits.slice(0, 1).map((hit) => hit.source), made].join("|")}</p>;
}
