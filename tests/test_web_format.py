"""What the browser's package writes, Python reads: the same content, or the same bytes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gossamer import _core
from gossamer.files import map_file
from gossamer.store import Catalogue
from gossamer.store.codecs import USUAL
from gossamer.store.manifest import Manifest
from gossamer.store.segments import SegmentTexts
from gossamer.text.zstd import decompress_exactly

WEB = Path(__file__).parents[1] / "web"
DATA = WEB / "tests" / "data" / "format"


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory):
    """Give a folder of files that the package read and wrote anew."""
    if not (shutil.which("node") and (WEB / "node_modules" / "tsx").is_dir()):
        pytest.skip("the browser's package is tested with node and its modules (npm ci in web/)")
    given, made = tmp_path_factory.mktemp("given"), tmp_path_factory.mktemp("made")
    shutil.copytree(DATA, given, dirs_exist_ok=True)
    command = ["node", "--import", "tsx", "tests/format_round_trip.ts", str(given), str(made)]
    subprocess.run(command, cwd=WEB, check=True, timeout=120)
    return made


@pytest.mark.parametrize("name", ["empty", "varied", "many"])
def test_a_catalogue_that_the_page_wrote_is_the_same_to_python(rewritten, name):
    original = Catalogue.open((DATA / f"{name}.gsc").read_bytes())

    catalogue = Catalogue.open((rewritten / f"{name}.gsc").read_bytes())

    assert catalogue.to_bytes() == original.to_bytes()
    assert catalogue.digest() == original.digest()


def test_a_manifest_that_the_page_wrote_is_the_same_to_python(rewritten):
    original = Manifest.from_bytes((DATA / "MANIFEST.gossamer").read_bytes())

    assert Manifest.from_bytes((rewritten / "MANIFEST.gossamer").read_bytes()) == original


def test_texts_that_the_page_wrote_are_the_same_to_python(rewritten):
    old = SegmentTexts([_core.OldTexts(1, map_file(DATA / "texts-1.gst"), USUAL)])
    new = SegmentTexts([_core.Segment(1, map_file(rewritten / "segment-1.gss"), False, USUAL)])

    text = old.read(1, 0, old.lengths[1])
    assert (rewritten / "texts-1.txt").read_bytes() == text
    assert new.lengths == old.lengths
    assert new.read(1, 0, new.lengths[1]) == text


def test_a_container_that_the_page_wrote_is_the_same_bytes(rewritten):
    name = "single.gossamer"

    assert (rewritten / name).read_bytes() == (DATA / name).read_bytes()


@pytest.mark.parametrize("length", [0, 1, 131_072, 131_073, 300_000])
def test_frames_that_the_page_wrote_are_frames_of_zstd(rewritten, length):
    frame = (rewritten / f"{length}.zst").read_bytes()

    assert decompress_exactly(frame, length) == bytes([length % 7]) * length
