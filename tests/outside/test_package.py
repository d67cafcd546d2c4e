"""What the package for npm holds and says of itself."""

import json
import re
import shutil
from pathlib import Path

import pytest
from packed import Project, install, put_index, tarball, unpack
from web_bundle import WEB

# Everything but declarations of types: what is not here is not for those who install it.
_FILES = r"""LICENSE|README\.md|package\.json|(react|vectors)/package\.json
|bin/(copy|gossamer-web)\.mjs
|dist/(gossamer|react|vectors(-worker)?|worker)\.js
|dist/worker-[a-z]+-[A-F0-9]{8}\.js
|dist/gossamer(-[a-z]+)*\.wasm
|dist/pocket\.model\.gossamer""".replace("\n", "")
_TYPES = r"dist/types/[a-z0-9_/]+\.d\.ts"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack(tmp_path_factory.mktemp("package"))


def names(package: Path) -> list[str]:
    found = (path for path in package.rglob("*") if path.is_file())
    return [path.relative_to(package).as_posix() for path in found]


def test_it_holds_what_it_needs_and_nothing_of_the_page(package: Path) -> None:
    strange = [name for name in names(package) if not re.fullmatch(f"{_FILES}|{_TYPES}", name)]
    assert strange == []
    kept = {"LICENSE", "README.md", "dist/worker.js", "dist/gossamer.wasm", "dist/react.js"}
    kept |= {"dist/vectors.js", "dist/vectors-worker.js", "dist/gossamer-vectors.wasm"}
    assert kept <= set(names(package))


def test_its_licence_is_that_of_the_repository(package: Path) -> None:
    assert (package / "LICENSE").read_bytes() == (WEB.parent / "LICENSE").read_bytes()


def test_all_that_it_names_is_in_it(package: Path) -> None:
    said = json.loads((package / "package.json").read_text(encoding="utf-8"))
    for at in [said["main"], said["types"], *said["bin"].values(), *targets(said["exports"])]:
        assert list(package.glob(at.removeprefix("./"))), at
    for entry in said["exports"].values():
        if isinstance(entry, dict):
            assert next(iter(entry)) == "types"
    assert said["publishConfig"]["provenance"] is True
    assert said["engines"]["node"]
    assert said["keywords"]
    assert said["peerDependenciesMeta"]["react"]["optional"] is True
    assert "dependencies" not in said


def targets(exports: object) -> list[str]:
    if isinstance(exports, str):
        return [exports]
    assert isinstance(exports, dict)
    return [target for part in exports.values() for target in targets(part)]


def test_no_file_of_it_imports_another_that_a_bundler_would_have_to_know(package: Path) -> None:
    for path in (package / "dist").glob("worker-*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"""\bimport\s*["'{*]|\bimport\.meta\b|\bexport\s*\{""", text), (
            path.name
        )
        assert not re.search(r"""\bimport\(\s*["'`]""", text), path.name
        assert path.stat().st_size > 4096, path.name  # smaller ones become text in some pages


def test_publint_and_attw_have_nothing_to_say() -> None:
    project = install("checkers")
    said = project.run("npx", "publint", str(tarball()), "--strict")
    assert "All good!" in said
    # Browsers and bundlers read modules. Other entries are files, which have no types.
    entries = ("--entrypoints", ".", "./react", "--format", "ascii")
    said = project.run("npx", "attw", str(tarball()), "--profile", "esm-only", *entries)
    assert all(f'"{name}"' in said for name in ("gossamer-web", "gossamer-web/react"))


def test_types_of_the_package_are_those_that_a_project_sees(package: Path, tmp_path: Path) -> None:
    shutil.copytree(package, tmp_path / "node_modules" / "gossamer-web")
    types = WEB / "node_modules" / "@types"
    (tmp_path / "node_modules" / "@types").symlink_to(types, target_is_directory=True)
    (tmp_path / "page.ts").write_text(
        """import { search, start, GossamerError, type Hit } from "gossamer-web";
        import { useSearch } from "gossamer-web/react";
        const hits: readonly Hit[] = await search("./docs.gossamer", "whales", { k: 3 });
        const { hits: more, error } = useSearch("./docs.gossamer", "whales");
        const reason: GossamerError["reason"] | undefined = error?.reason;
        // @ts-expect-error: there is no such option
        start({ folder: "/" });
        console.log(hits, more, reason);
        """,
        encoding="utf-8",
    )
    tsc = str(WEB / "node_modules" / ".bin" / "tsc")
    flags = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2023,dom,dom.iterable"]
    for module, resolution in (("esnext", "bundler"), ("nodenext", "nodenext")):
        given = [*flags, "--module", module, "--moduleResolution", resolution]
        (tmp_path / "package.json").write_text('{ "type": "module" }', encoding="utf-8")
        Project(tmp_path).run(tsc, *given, "page.ts")


def test_the_command_copies_what_a_page_needs(tmp_path: Path) -> None:
    project = install("esbuild")
    site = tmp_path / "site"
    put_index(tmp_path)
    project.run("npx", "gossamer-web", "copy", str(site))
    copied = {path.name for path in site.iterdir()}
    assert {"worker.js", "gossamer.wasm", "pocket.model.gossamer"} <= copied
    (site / "worker.js").write_text("mine", encoding="utf-8")
    with pytest.raises(AssertionError, match="holds files that this command did not write"):
        project.run("npx", "gossamer-web", "copy", str(site))
