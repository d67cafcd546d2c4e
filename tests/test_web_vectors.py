"""Vectors of a page's own, in a real browser: on its thread, in a worker, and files of Python."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import web_bundle
from conftest import clustered, nearest_ids, recall
from playwright.sync_api import BrowserContext, Page
from static_site import StaticSite

import gossamer

DIM = 24
VECTORS = clustered(2000, seed=1)
QUERIES = clustered(20, seed=2)

_LOAD = """async ([vectors, queries, dim]) => {
  const floatsOf = (text) => {
    return new Float32Array(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer);
  };
  const { VectorIndex, GossamerError } = await import("./vectors.js");
  const rows = floatsOf(queries);
  const count = rows.length / dim;
  const each = Array.from({ length: count }, (_, i) => rows.slice(i * dim, (i + 1) * dim));
  window.test = { VectorIndex, vectors: floatsOf(vectors), queries: each, dim };
}"""
_BUILD = """async (worker) => {
  const { VectorIndex, vectors, queries, dim } = window.test;
  const index = await VectorIndex.build(vectors, dim, { metric: "ip", worker });
  const found = await index.search(queries, { k: 5, recall: 0.98 });
  await index.store("some vectors");
  const again = await index.search(queries, { k: 5, recall: 0.98 });
  await index.close();
  return { ids: found.map(({ ids }) => ids), again: again.map(({ ids }) => ids) };
}"""
_REOPEN = """async ([target, { strategy, ...options }]) => {
  const { VectorIndex, queries } = window.test;
  const index = await VectorIndex.open(target, options);
  const found = await index.search(queries, { k: 5, recall: 0.98, strategy });
  const status = await index.status();
  await index.close();
  return { ids: found.map(({ ids }) => ids), status };
}"""
_SAVE = """async () => {
  const { VectorIndex, vectors, queries, dim } = window.test;
  const index = await VectorIndex.build(vectors, dim, { metric: "ip", graph: "slim" });
  await index.remove([1, 2, 3]);
  await index.add([vectors.slice(0, dim)], [5000]);
  const bytes = new Uint8Array(await (await index.save()).arrayBuffer());
  await index.close();
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}"""
_TWO = """async () => {
  const { VectorIndex, vectors, dim } = window.test;
  const one = await VectorIndex.build(vectors, dim);
  await one.store("shared");
  const other = await VectorIndex.open("shared");
  await other.add([vectors.slice(0, dim)], [7777]);
  await other.store("shared");
  const refused = await one.store("shared").then(() => "", (error) => error.reason);
  await VectorIndex.removeStored("shared");
  const saved = (await one.save()).size > 0;
  await Promise.all([one.close(), other.close()]);
  return [refused, saved];
}"""
_NAMES = """async (name) => {
  if (name) await window.test.VectorIndex.removeStored(name);
  return window.test.VectorIndex.names();
}"""
_FAILURE = """async ([target, options]) => {
  return window.test.VectorIndex.open(target, options).then(() => "", (error) => error.reason);
}"""


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    entries = ["vectors=src/vectors/index.ts", "vectors-worker=src/vectors/host.ts"]
    web_bundle.bundle(entries, folder)
    web_bundle.copy_wasm(folder)
    web_bundle.write_page(folder)
    index = gossamer.VectorIndex.build(VECTORS, keep="all", graph="full", code_bytes=8)
    index.save(folder / "python.gossamer")
    return folder


@pytest.fixture
def site(public: Path) -> Iterator[StaticSite]:
    with StaticSite(public) as site:
        yield site


@pytest.fixture
def page(context: BrowserContext, site: StaticSite) -> Page:
    return load(context.new_page(), site)


def load(page: Page, site: StaticSite) -> Page:
    page.goto(site.url)
    page.evaluate(_LOAD, [_text_of(VECTORS), _text_of(QUERIES), DIM])
    return page


def recall_of(ids: list[list[int]]) -> float:
    return recall(np.array(ids), nearest_ids(QUERIES, VECTORS, 5))


@pytest.mark.parametrize("worker", [False, True])
def test_what_is_built_is_searched_stored_and_there_after_a_reload(
    page: Page, site: StaticSite, worker: bool
) -> None:
    built = page.evaluate(_BUILD, worker)
    load(page, site)
    budget = {"memoryBudget": 20_000, "worker": worker, "strategy": "lazy"}
    outside = page.evaluate(_REOPEN, ["some vectors", budget])
    whole = page.evaluate(_REOPEN, ["some vectors", {"worker": not worker}])

    assert recall_of(built["ids"]) > 0.95
    assert built["again"] == built["ids"]
    assert recall_of(outside["ids"]) > 0.95
    assert outside["status"]["tiers"]["bytes"] <= 20_000
    assert outside["status"]["tiers"]["rowsRead"] > 0
    assert whole["ids"] == built["ids"]
    assert page.evaluate(_NAMES, None) == ["some vectors"]
    assert page.evaluate(_NAMES, "some vectors") == []
    assert page.evaluate(_FAILURE, ["some vectors", {"worker": worker}]) == "NoIndex"


def test_what_another_stored_is_not_lost_and_an_index_in_memory_can_be_saved(page: Page) -> None:
    assert page.evaluate(_TWO) == ["WrongState", True]


@pytest.mark.parametrize("worker", [False, True])
def test_a_file_of_python_is_read_whole_or_in_part(
    page: Page, site: StaticSite, worker: bool
) -> None:
    whole = page.evaluate(_REOPEN, ["./python.gossamer", {"worker": worker}])
    site.reset_counters()
    budget = {"memoryBudget": 20_000, "worker": worker}
    part = page.evaluate(_REOPEN, ["./python.gossamer", budget])

    assert recall_of(whole["ids"]) > 0.95
    assert recall_of(part["ids"]) > 0.95
    assert part["status"]["codeBytes"] == 8
    assert any("206" in request for request in site.requests)
    assert page.evaluate(_FAILURE, ["./nothing.gossamer", {"worker": worker}]) == "NoIndex"


def test_a_file_of_the_page_opens_in_python(page: Page, tmp_path: Path) -> None:
    (tmp_path / "page.gossamer").write_bytes(base64.b64decode(page.evaluate(_SAVE)))

    index = gossamer.VectorIndex.open(tmp_path / "page.gossamer", verify=True)
    found = index.search(VECTORS[0], 2, recall=0.99)

    assert len(index) == 1998
    assert set(found.ids.tolist()) == {0, 5000}
    assert index.stats().graph == "slim"


def _text_of(floats: Any) -> str:
    return base64.b64encode(floats.astype("<f4").tobytes()).decode()
