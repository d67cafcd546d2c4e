"""The package for npm as its users get it: packed, and installed into projects of their own.

project = install("vite")             # build/outside/vite, with what it depends on and the tarball
project.run("npm", "run", "build")
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from search_site import MODEL, export_index
from web_bundle import WEB, require_bundler

from gossamer import Index

FIXTURES = Path(__file__).parent / "projects"
# Kept between runs: what a project depends on takes longer to fetch than all tests take.
BUILD = WEB.parent / "build" / "outside"
TEXTS = [
    {"id": "flat", "text": "The lease is due on the first of March."},
    {"id": "sea", "text": "Whales swim."},
]
_QUIET = ("--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error")
_ENVIRONMENT = {"NEXT_TELEMETRY_DISABLED": "1", "PARCEL_WORKERS": "0"}


@dataclass(frozen=True)
class Project:
    """A folder that somebody installed the package into."""

    folder: Path

    def run(self, *command: str) -> str:
        """Run a command there and give what it prints; AssertionError if it fails."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} failed in {self.folder.name}:\n{said}")
        return said

    def site(self) -> Path:
        """Build, and give what goes to a host, with an index and its model."""
        site = self.folder / "site"
        public = self.folder / "public"
        for folder in (site, public):
            shutil.rmtree(folder, ignore_errors=True)
        self.run("npm", "run", "build")
        if not (site / "index.html").is_file():
            shutil.copyfile(self.folder / "index.html", site / "index.html")
        put_index(site)
        return site


@cache
def tarball() -> Path:
    """Pack the package, once for all tests of a run."""
    require_bundler()
    BUILD.mkdir(parents=True, exist_ok=True)
    said = Project(WEB).run("npm", "pack", "--json", "--silent", "--pack-destination", str(BUILD))
    return BUILD / json.loads(said[said.index("[") :])[0]["filename"]


def unpack(folder: Path) -> Path:
    """Unpack the tarball as npm does into a folder; give where the package is."""
    package = folder / "node_modules" / "gossamer-web"
    with tarfile.open(tarball()) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    package.parent.mkdir(parents=True)
    (folder / "unpacked" / "package").rename(package)
    return package


def install(name: str) -> Project:
    """Copy a fixture, and install what it depends on and the tarball."""
    project = Project(BUILD / name)
    fixture = FIXTURES / name
    shutil.copytree(fixture, project.folder, dirs_exist_ok=True)
    shutil.copyfile(FIXTURES / "search.js", project.folder / "search.js")
    wanted = sha256((fixture / "package.json").read_bytes()).hexdigest()
    stamp = project.folder / "installed.stamp"
    if not stamp.is_file() or stamp.read_text() != wanted:
        project.run("npm", "install", *_QUIET)
        stamp.write_text(wanted)
    package = project.folder / "node_modules" / "gossamer-web"
    shutil.rmtree(package, ignore_errors=True)  # one of the same version would stay
    project.run("npm", "install", "--no-save", *_QUIET, str(tarball()))
    return project


def put_index(folder: Path) -> None:
    """Put an index of two texts into a folder, and its model."""
    index_folder = BUILD / "index"
    shutil.rmtree(index_folder, ignore_errors=True)
    index = Index.create(index_folder, model=MODEL)
    index.add_texts(TEXTS)
    export_index(index, folder / "docs.gossamer")
    shutil.copyfile(WEB / "dist" / "pocket.model.gossamer", folder / "pocket.model.gossamer")
    (folder / "favicon.ico").touch()  # browsers ask for one
