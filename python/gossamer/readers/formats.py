"""Which kind a file is of, which module reads that kind, and what is left out unopened."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from gossamer.readers.languages import full_name_language, language_of, shebang_language
from gossamer.readers.limits import Limits
from gossamer.text.encoding import is_binary

__all__ = ["HEAD_BYTES", "kind_of", "module_of", "reason_to_skip"]

HEAD_BYTES = 8192  # of a file, which `kind_of` may look at


@dataclass(frozen=True, slots=True)
class _Format:
    """A kind of file: how it is named, what it begins with, and the module that reads it."""

    kind: str
    extensions: tuple[str, ...]
    module: str  # of gossamer.readers; gives read(path, data, limits) -> list[Document]
    # Says from the first bytes whether a file with no telling name is of this kind.
    is_begun_by: Callable[[bytes], bool] | None = None


def kind_of(path: Path, head: bytes) -> str | None:
    """Name the kind of a file by its name, or else by its first `HEAD_BYTES`; None if binary.

    Source code gives the name of its language, text of no other kind gives "text".
    """
    # Files of a maildir end in their flags and a host name, which says nothing.
    if path.parent.name in ("cur", "new") and _is_begun_by_mail_headers(head):
        return "mail"
    if (language := full_name_language(path)) is not None:
        return language
    if (named := _FORMAT_OF_EXTENSION.get(path.suffix.lower())) is not None:
        return named.kind
    if (language := language_of(path)) is not None:
        return language
    for known in _FORMATS:
        if known.is_begun_by is not None and known.is_begun_by(head):
            return known.kind
    return shebang_language(head) or (None if is_binary(head) else "text")


def module_of(kind: str) -> str:
    """Name the module of gossamer.readers that reads files of this kind."""
    known = _FORMAT_OF_KIND.get(kind)
    return "code" if known is None else known.module


def reason_to_skip(path: Path, limits: Limits) -> str | None:
    """Say why a file is left out, judged by its name alone; None if it is to be read."""
    name = path.name.lower()
    if not limits.include_secrets and _may_hold_secrets(name):
        return "may hold secrets (read it with include_secrets)"
    if not limits.include_generated and (".min." in name or name in _LOCK_FILES):
        return "generated (read it with include_generated)"
    what = _BINARY_EXTENSIONS.get(path.suffix.lower())
    return None if what is None else f"{what}, which holds no text to read"


def _may_hold_secrets(name: str) -> bool:
    if name in _PUBLIC_NAMES:
        return False
    return any(fnmatchcase(name, pattern) for pattern in _SECRET_NAMES)


def _is_begun_by_pdf(head: bytes) -> bool:
    return b"%PDF-" in head[:1024]


def _is_begun_by_html(head: bytes) -> bool:
    return _HTML_BEGIN.match(head) is not None


def _is_begun_by_mail_headers(head: bytes) -> bool:
    return _MAIL_BEGIN.match(head) is not None


_HTML_BEGIN = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<!--[^>]*-->\s*)?<(?:!doctype html|html)[\s>]", re.I
)
# An mbox "From " line, or header lines of which one is known to stand in every message.
_MAIL_BEGIN = re.compile(
    rb"(?:From \S+ .*\n)?(?:[A-Za-z][\w-]*:.*\n(?:[ \t].*\n)*){0,64}?"
    rb"(?:Return-Path|Received|Message-ID|MIME-Version|Delivered-To):",
    re.I,
)

# A kind that is not listed is the name of a language, read as source code.
_FORMATS = (
    _Format("text", (".txt", ".text", ".log", ".srt", ".vtt"), "text"),
    _Format("markdown", (".md", ".markdown", ".mdx", ".mkd", ".qmd", ".rmd"), "markdown"),
    _Format("rst", (".rst", ".rest"), "rst"),
    _Format("html", (".html", ".htm", ".xhtml", ".xht"), "html", _is_begun_by_html),
    _Format("csv", (".csv", ".tsv", ".tab", ".psv"), "rows"),
    _Format("jsonl", (".jsonl", ".ndjson", ".jsonlines"), "rows"),
    _Format("json", (".json", ".geojson"), "rows"),
    _Format("pdf", (".pdf",), "pdf", _is_begun_by_pdf),
    _Format("docx", (".docx", ".docm", ".dotx"), "office"),
    _Format("pptx", (".pptx", ".pptm", ".ppsx"), "office"),
    _Format("xlsx", (".xlsx", ".xlsm"), "office"),
    _Format("odt", (".odt", ".ott"), "office"),
    _Format("odp", (".odp",), "office"),
    _Format("epub", (".epub",), "epub"),
    _Format("notebook", (".ipynb",), "notebook"),
    _Format("mail", (".eml", ".emlx", ".mbox", ".mbx"), "mail", _is_begun_by_mail_headers),
)
_FORMAT_OF_KIND = {known.kind: known for known in _FORMATS}
_FORMAT_OF_EXTENSION = {extension: known for known in _FORMATS for extension in known.extensions}

_SECRET_NAMES = (
    ".env", ".env.*", "*.env", ".netrc", "_netrc", ".pgpass", ".htpasswd", ".git-credentials",
    ".npmrc", ".pypirc", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key",
    "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.asc", "*.gpg", "*.pgp",
    "credentials", "credentials.json", "secrets.json", "secrets.yaml", "secrets.yml",
)  # fmt: skip
_PUBLIC_NAMES = frozenset((".env.example", ".env.sample", ".env.template", "example.env"))

_LOCK_FILES = frozenset((
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
    "cargo.lock", "poetry.lock", "pdm.lock", "uv.lock", "pipfile.lock", "composer.lock",
    "gemfile.lock", "go.sum", "flake.lock", "mix.lock", "packages.lock.json",
))  # fmt: skip

_EXTENSIONS_OF_BINARY = {
    "an image": "png jpg jpeg jpe gif bmp tif tiff webp avif heic heif ico icns cur psd xcf ai "
    "eps raw cr2 nef dng exr hdr tga dds svg svgz jxl jp2",
    "sound": "mp3 wav flac ogg oga opus m4a aac wma aiff aif mid midi amr ape",
    "video": "mp4 m4v mkv webm avi mov wmv flv mpg mpeg 3gp m2ts ogv vob",
    "an archive": "zip tar gz tgz bz2 tbz2 xz txz zst lz lz4 lzma 7z rar jar war ear apk ipa cab "
    "iso img dmg deb rpm msi whl egg gem crate nupkg snap appimage xpi crx z br",
    "a program": "exe dll so dylib o obj a lib ko pyc pyo pyd class dex bin elf sys wasm node "
    "pdb ilk rlib rmeta beam",
    "a font": "ttf otf woff woff2 eot ttc pfb pfm",
    "model weights": "safetensors onnx pt pth ckpt gguf ggml h5 hdf5 keras pb tflite npz npy pkl "
    "pickle joblib mlmodel caffemodel",
    "a database": "db sqlite sqlite3 db3 mdb accdb dbf ldb lmdb mdf frm ibd parquet feather arrow "
    "orc avro rdb duckdb",
    "an office file of an older kind": "doc xls ppt pps msg pst ost vsd one mobi azw azw3",
    "a source map": "map",
    "a 3D model": "stl glb gltf fbx blend 3ds dae usdz ply",
    "a temporary file": "swp swo tmp part crdownload lock",
}
_BINARY_EXTENSIONS = {
    "." + extension: what
    for what, extensions in _EXTENSIONS_OF_BINARY.items()
    for extension in extensions.split()
}
