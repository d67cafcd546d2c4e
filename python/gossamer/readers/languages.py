"""Which programming language a file is written in, by its name or its first line."""

from __future__ import annotations

import re
from pathlib import PurePath

__all__ = ["LANGUAGES", "full_name_language", "language_of", "shebang_language"]

# Only languages that have a grammar, so that their code can be divided at its functions.
_EXTENSIONS_OF = {
    "asciidoc": "adoc asciidoc",
    "astro": "astro",
    "bash": "sh bash zsh ksh bats ebuild",
    "batch": "bat cmd",
    "c": "c h",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp inl tpp cu cuh ino",
    "csharp": "cs csx",
    "css": "css",
    "dart": "dart",
    "dockerfile": "dockerfile containerfile",
    "dtd": "dtd",
    "elixir": "ex exs",
    "embedded_template": "erb ejs",
    "erlang": "erl hrl",
    "fortran": "f f77 f90 f95 f03 f08 for",
    "go": "go",
    "gotmpl": "gotmpl tmpl",
    "graphql": "graphql gql graphqls",
    "groovy": "groovy gradle gvy",
    "haskell": "hs lhs",
    "hcl": "hcl tf tfvars nomad",
    "heex": "heex",
    "ini": "ini cfg conf desktop service",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "jinja2": "jinja jinja2 j2",
    "json": "json geojson webmanifest",
    "json5": "json5",
    "jsonc": "jsonc",
    "jsonnet": "jsonnet libsonnet",
    "julia": "jl",
    "just": "just",
    "kdl": "kdl",
    "kotlin": "kt kts",
    "latex": "tex sty cls bib ltx",
    "lua": "lua",
    "make": "mk mak",
    "nix": "nix",
    "objc": "m mm",
    "ocaml": "ml mli",
    "org": "org",
    "perl": "pl pm t",
    "php": "php phtml",
    "powershell": "ps1 psm1 psd1",
    "properties": "properties",
    "proto": "proto",
    "python": "py pyi pyw pyx pxd",
    "r": "r",
    "racket": "rkt",
    "ruby": "rb rake gemspec ru",
    "rust": "rs",
    "scala": "scala sc sbt",
    "scheme": "scm ss sld",
    "scss": "scss",
    "solidity": "sol",
    "sql": "sql ddl psql",
    "starlark": "bzl star bazel",
    "svelte": "svelte",
    "swift": "swift",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "typst": "typ",
    "vim": "vim",
    "vue": "vue",
    "wat": "wat wast",
    "xml": "xml xsd xsl xslt rng wsdl plist csproj vcxproj props targets opml rss atom",
    "yaml": "yaml yml",
    "zig": "zig zon",
}
LANGUAGES = (*_EXTENSIONS_OF, "gitignore")
_LANGUAGE_OF_EXTENSION = {
    "." + extension: language
    for language, extensions in _EXTENSIONS_OF.items()
    for extension in extensions.split()
}
_LANGUAGE_OF_NAME = {
    "build": "starlark",
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    "dockerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "make",
    "jenkinsfile": "groovy",
    "justfile": "just",
    "makefile": "make",
    "pkgbuild": "bash",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
    "workspace": "starlark",
    ".bash_profile": "bash",
    ".bashrc": "bash",
    ".dockerignore": "gitignore",
    ".gitignore": "gitignore",
    ".gossamerignore": "gitignore",
    ".profile": "bash",
    ".vimrc": "vim",
    ".zshrc": "bash",
}
_LANGUAGE_OF_INTERPRETER = {
    "ash": "bash",
    "bash": "bash",
    "bun": "typescript",
    "dash": "bash",
    "deno": "typescript",
    "elixir": "elixir",
    "escript": "erlang",
    "groovy": "groovy",
    "julia": "julia",
    "just": "just",
    "ksh": "bash",
    "lua": "lua",
    "make": "make",
    "node": "javascript",
    "nodejs": "javascript",
    "perl": "perl",
    "php": "php",
    "pwsh": "powershell",
    "pypy": "python",
    "python": "python",
    "racket": "racket",
    "Rscript": "r",
    "ruby": "ruby",
    "runhaskell": "haskell",
    "scala": "scala",
    "sh": "bash",
    "swift": "swift",
    "zsh": "bash",
}
# The program, after an optional `env` with its options and settings.
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*)?(?:\S*/)?([A-Za-z]+)")


def language_of(path: PurePath) -> str | None:
    """Name the language that the file's name stands for; None where it stands for none."""
    return full_name_language(path) or _LANGUAGE_OF_EXTENSION.get(path.suffix.lower())


def full_name_language(path: PurePath) -> str | None:
    """Name the language that is always in files of this name, whatever its extension says."""
    return _LANGUAGE_OF_NAME.get(path.name.lower())


def shebang_language(head: bytes) -> str | None:
    """Name the language of a script by its `#!` line; None where it has none that is known."""
    if not head.startswith(b"#!"):
        return None
    found = _SHEBANG.match(head[:256].split(b"\n", 1)[0])
    return _LANGUAGE_OF_INTERPRETER.get(found[1].decode("ascii")) if found else None
