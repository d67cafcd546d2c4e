"""What a page keeps: the private file system and IndexedDB, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import web_bundle
from browser import devtools
from playwright.sync_api import BrowserContext
from static_site import StaticSite
from step_tab import StepError, Tab, open_steps

KINDS = ("opfs", "indexeddb")
MEGABYTE = 1 << 20
CONTENT = bytes(i * 7 % 251 for i in range(300_000))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("storage")
    web_bundle.bundle(["tests/browser/storage.ts"], folder)
    web_bundle.write_page(folder)
    (folder / "index.gossamer").write_bytes(CONTENT)
    return folder


@pytest.fixture
def site(folder: Path) -> Iterator[StaticSite]:
    with StaticSite(folder) as site:
        yield site


def new_tab(context: BrowserContext, site: StaticSite, where: str = "worker") -> Tab:
    return open_steps(context, site.url, "storage.js", where)


def open_tab(context: BrowserContext, site: StaticSite, kind: str, where: str = "worker") -> Tab:
    tab = new_tab(context, site, where)
    tab.take("open", kind)
    return tab


def clear_storage(tab: Tab, site: StaticSite) -> None:
    session = devtools(tab.page)
    origin = site.url.rstrip("/")
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})


def limit_storage(tab: Tab, site: StaticSite, size: int) -> None:
    session = devtools(tab.page)
    origin = site.url.rstrip("/")
    session.send("Storage.overrideQuotaForOrigin", {"origin": origin, "quotaSize": size})


def test_a_page_gets_the_private_file_system_first(context, site):
    tab = open_tab(context, site, "")

    assert tab.take("open") == "opfs"
    assert tab.take("names") == []


@pytest.mark.parametrize("where", ["worker", "page"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_is_there_when_the_page_is_opened_again(context, site, kind, where):
    names = ["notes", "../日本語 📚", "long " * 40]
    tab = open_tab(context, site, kind, where)
    for name in names:
        tab.take("write", name, "vectors-1.gsm", 300_001)
        tab.take("commit", name, "one")
        tab.take("commit", name, f"the manifest of {name}")
    tab.page.close()

    tab = open_tab(context, site, kind, where)

    assert sorted(tab.take("names")) == sorted(names)
    assert tab.take("files", names[1]) == [{"name": "vectors-1.gsm", "size": 300_001}]
    assert [tab.take("manifest", name) for name in names] == [
        f"the manifest of {name}" for name in names
    ]
    held = tab.take("hold", names[2], "vectors-1.gsm")
    assert held == {"size": 300_001, "isSync": kind == "opfs" and where == "worker"}
    assert tab.take("read", "vectors-1.gsm", 131_000, 169_001)
    assert tab.take("usage")["used"] > 0
    tab.take("letGo", "vectors-1.gsm")
    tab.take("remove", names[2])
    assert sorted(tab.take("names")) == sorted(names[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_not_there_is_no_index(context, site, kind):
    tab = open_tab(context, site, kind)

    with pytest.raises(StepError) as failed:
        tab.take("hold", "notes", "vectors-1.gsm")

    assert failed.value.reason == "NoIndex"


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_tab_that_writes_is_locked_or_waits(context, site, kind):
    first = open_tab(context, site, kind)
    second = open_tab(context, site, kind)
    first.take("lock", "notes")

    with pytest.raises(StepError) as failed:
        second.take("lock", "notes")
    second.take("lock", "other")
    second.take("unlock")
    second.page.evaluate("() => { window.waiting = window.take(['lock', 'notes', 'waits']); }")
    first.take("unlock")

    assert failed.value.reason == "Locked"
    assert second.page.evaluate("() => window.waiting") == {"value": None}


def test_tabs_of_a_page_without_locks_open_the_same_storage_and_write_in_turn(context, site):
    tabs = [new_tab(context, site) for _ in range(3)]
    for tab in tabs:
        tab.take("withoutLocks")
        tab.page.evaluate("() => { window.opening = window.take(['open', 'indexeddb']); }")
    opened = [tab.page.evaluate("() => window.opening") for tab in tabs]
    first, second, _ = tabs
    first.take("write", "notes", "vectors-1.gsm", 5000)
    first.take("lock", "notes")

    with pytest.raises(StepError) as failed:
        second.take("lock", "notes")
    first.take("commit", "notes", "one")
    second.page.evaluate("() => { window.waiting = window.take(['lock', 'notes', 'waits']); }")
    first.take("unlock")

    assert opened == [{"value": "indexeddb"}] * 3
    assert failed.value.reason == "Locked"
    assert second.page.evaluate("() => window.waiting") == {"value": None}
    assert second.take("names") == ["notes"]
    assert second.take("manifest", "notes") == "one"


def test_a_tab_that_lost_its_lease_while_it_slept_writes_nothing_more(context, site):
    first, second = new_tab(context, site), new_tab(context, site)
    for tab in (first, second):
        tab.take("withoutLocks")
        tab.take("open", "indexeddb")
    first.take("write", "notes", "vectors-1.gsm", 5000)
    first.take("commit", "notes", "one")
    first.take("lock", "notes")
    second.take("takeOver", "notes")

    with pytest.raises(StepError) as failed:
        first.take("commit", "notes", "two")

    assert failed.value.reason == "Locked"
    assert second.take("manifest", "notes") == "one"


@pytest.mark.parametrize("kind", KINDS)
def test_two_tabs_read_a_file_at_once_and_one_commits_meanwhile(context, site, kind):
    first = open_tab(context, site, kind)
    first.take("write", "notes", "a.gsm", 5000)
    first.take("commit", "notes", "one")
    second = open_tab(context, site, kind)

    first.take("hold", "notes", "a.gsm")
    second.take("hold", "notes", "a.gsm")
    second.take("write", "notes", "b.gsm", 100)
    second.take("commit", "notes", "two")

    assert first.take("read", "a.gsm", 1000, 4000)
    assert second.take("read", "a.gsm", 1000, 4000)
    assert first.take("manifest", "notes") == "two"


def test_a_file_that_another_tab_reads_is_removed_later(context, site):
    first = open_tab(context, site, "opfs")
    first.take("write", "notes", "vectors-1.gsm", 5000)
    first.take("hold", "notes", "vectors-1.gsm")
    second = open_tab(context, site, "opfs")

    second.take("removeUnnamed", "notes")
    while_read = second.take("files", "notes")
    with pytest.raises(StepError) as failed:
        second.take("remove", "notes")
    first.take("letGo", "vectors-1.gsm")

    assert [file["name"] for file in while_read] == ["vectors-1.gsm"]
    assert failed.value.reason == "Locked"
    second.take("removeUnnamed", "notes")
    assert second.take("files", "notes") == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_killed_while_it_writes_leaves_the_state_before(context, site, kind):
    tab = open_tab(context, site, kind)
    tab.take("write", "notes", "vectors-1.gsm", 5000)
    tab.take("commit", "notes", "one")
    tab.take("lock", "notes")
    tab.take("begin", "notes", "vectors-2.gsm")
    tab.take("more", "vectors-2.gsm", MEGABYTE)
    tab.page.close()

    tab = open_tab(context, site, kind)
    tab.take("lock", "notes", "waits")
    tab.take("unlock")

    assert tab.take("manifest", "notes") == "one"
    left = [file["name"] for file in tab.take("files", "notes")]
    assert left == ["vectors-1.gsm", "vectors-2.gsm.part"]
    tab.take("removeUnnamed", "notes", "vectors-1.gsm")
    assert [file["name"] for file in tab.take("files", "notes")] == ["vectors-1.gsm"]
    tab.take("hold", "notes", "vectors-1.gsm")
    assert tab.take("read", "vectors-1.gsm", 0, 5000)


@pytest.mark.parametrize("kind", KINDS)
def test_storage_cleared_while_it_is_used_is_no_index_and_works_again(context, site, kind):
    tab = open_tab(context, site, kind)
    tab.take("write", "notes", "a.gsm", 5000)
    tab.take("commit", "notes", "one")
    clear_storage(tab, site)

    with pytest.raises(StepError) as failed:
        tab.take("hold", "notes", "a.gsm")

    assert failed.value.reason == "NoIndex"
    assert tab.take("manifest", "notes") is None
    tab.take("write", "notes", "a.gsm", 6000)
    tab.take("commit", "notes", "anew")
    assert tab.take("manifest", "notes") == "anew"


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_open_while_storage_is_cleared_reads_right_or_not_at_all(
    context, site, kind
):
    tab = open_tab(context, site, kind)
    tab.take("write", "notes", "a.gsm", 5000)
    tab.take("hold", "notes", "a.gsm")
    clear_storage(tab, site)

    try:
        outcome = tab.take("read", "a.gsm", 1000, 2000)
    except StepError as failed:
        outcome = failed.reason

    assert outcome in (True, "NoIndex")


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_storage_is_unwritable_and_loses_nothing(context, site, kind):
    tab = new_tab(context, site)
    limit_storage(tab, site, 2 * MEGABYTE)  # before storage is used: it remembers what is free
    tab.take("open", kind)
    tab.take("write", "notes", "a.gsm", 5000)
    tab.take("commit", "notes", "one")

    with pytest.raises(StepError) as failed:
        tab.take("write", "notes", "a.gsm", 8 * MEGABYTE)

    assert failed.value.reason == "Unwritable"
    assert str(8 * MEGABYTE) in failed.value.message
    assert tab.take("files", "notes") == [{"name": "a.gsm", "size": 5000}]
    assert tab.take("manifest", "notes") == "one"
    tab.take("hold", "notes", "a.gsm")
    assert tab.take("read", "a.gsm", 0, 5000)
    assert tab.take("open", kind) == kind


def test_a_full_storage_is_still_the_storage_that_is_opened(context, site):
    tab = open_tab(context, site, "opfs")
    tab.take("commit", "notes", "one")
    limit_storage(tab, site, 1)

    assert tab.take("open") == "opfs"
    assert tab.take("names") == ["notes"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_fetched_of_a_remote_file_is_kept(context, site, kind):
    tab = open_tab(context, site, kind)
    url = site.url + "index.gossamer"
    first = tab.take("fetchKept", url, "remote", 200_000, 20)
    tab.page.close()
    site.reset_counters()

    tab = open_tab(context, site, kind)
    site.reset_counters()
    again = tab.take("fetchKept", url, "remote", 200_000, 20)
    sent = site.bytes_sent
    site.behave(status=503, only="index.gossamer")
    offline = tab.take("fetchKept", url, "remote", 200_000, 20)

    assert bytes(first["bytes"]) == CONTENT[200_000:200_020]
    assert again["bytes"] == first["bytes"] == offline["bytes"]
    assert again["bytesFetched"] == sent == 2
    assert "does not answer" in " ".join(offline["notes"])


def test_a_worker_only_says_whether_storage_is_persistent(context, site):
    tab = open_tab(context, site, "opfs")

    assert tab.take("persist") is False
