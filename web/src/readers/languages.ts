// Which programming language a file is written in, by its name or its first line. The twin of
// readers/languages.py.

import { byteString } from "../bytes/strings.ts";
import { nameOf, suffixOf } from "./paths.ts";

const EXTENSIONS_OF: Readonly<Record<string, string>> = {
  asciidoc: "adoc asciidoc",
  astro: "astro",
  bash: "sh bash zsh ksh bats ebuild",
  batch: "bat cmd",
  c: "c h",
  clojure: "clj cljs cljc edn",
  cmake: "cmake",
  cpp: "cpp cc cxx c++ hpp hh hxx h++ ipp inl tpp cu cuh ino",
  csharp: "cs csx",
  css: "css",
  dart: "dart",
  dockerfile: "dockerfile containerfile",
  dtd: "dtd",
  elixir: "ex exs",
  embedded_template: "erb ejs",
  erlang: "erl hrl",
  fortran: "f f77 f90 f95 f03 f08 for",
  go: "go",
  gotmpl: "gotmpl tmpl",
  graphql: "graphql gql graphqls",
  groovy: "groovy gradle gvy",
  haskell: "hs lhs",
  hcl: "hcl tf tfvars nomad",
  heex: "heex",
  ini: "ini cfg conf desktop service",
  java: "java",
  javascript: "js mjs cjs jsx",
  jinja2: "jinja jinja2 j2",
  json: "json geojson webmanifest",
  json5: "json5",
  jsonc: "jsonc",
  jsonnet: "jsonnet libsonnet",
  julia: "jl",
  just: "just",
  kdl: "kdl",
  kotlin: "kt kts",
  latex: "tex sty cls bib ltx",
  lua: "lua",
  make: "mk mak",
  nix: "nix",
  objc: "m mm",
  ocaml: "ml mli",
  org: "org",
  perl: "pl pm t",
  php: "php phtml",
  powershell: "ps1 psm1 psd1",
  properties: "properties",
  proto: "proto",
  python: "py pyi pyw pyx pxd",
  r: "r",
  racket: "rkt",
  ruby: "rb rake gemspec ru",
  rust: "rs",
  scala: "scala sc sbt",
  scheme: "scm ss sld",
  scss: "scss",
  solidity: "sol",
  sql: "sql ddl psql",
  starlark: "bzl star bazel",
  svelte: "svelte",
  swift: "swift",
  toml: "toml",
  tsx: "tsx",
  typescript: "ts mts cts",
  typst: "typ",
  vim: "vim",
  vue: "vue",
  wat: "wat wast",
  xml: "xml xsd xsl xslt rng wsdl plist csproj vcxproj props targets opml rss atom",
  yaml: "yaml yml",
  zig: "zig zon",
};
const LANGUAGE_OF_NAME: Readonly<Record<string, string>> = {
  build: "starlark",
  "cmakelists.txt": "cmake",
  containerfile: "dockerfile",
  dockerfile: "dockerfile",
  gemfile: "ruby",
  gnumakefile: "make",
  jenkinsfile: "groovy",
  justfile: "just",
  makefile: "make",
  pkgbuild: "bash",
  rakefile: "ruby",
  vagrantfile: "ruby",
  workspace: "starlark",
  ".bash_profile": "bash",
  ".bashrc": "bash",
  ".dockerignore": "gitignore",
  ".gitignore": "gitignore",
  ".gossamerignore": "gitignore",
  ".profile": "bash",
  ".vimrc": "vim",
  ".zshrc": "bash",
};
const LANGUAGE_OF_INTERPRETER: Readonly<Record<string, string>> = {
  ash: "bash",
  bash: "bash",
  bun: "typescript",
  dash: "bash",
  deno: "typescript",
  elixir: "elixir",
  escript: "erlang",
  groovy: "groovy",
  julia: "julia",
  just: "just",
  ksh: "bash",
  lua: "lua",
  make: "make",
  node: "javascript",
  nodejs: "javascript",
  perl: "perl",
  php: "php",
  pwsh: "powershell",
  pypy: "python",
  python: "python",
  racket: "racket",
  Rscript: "r",
  ruby: "ruby",
  runhaskell: "haskell",
  scala: "scala",
  sh: "bash",
  swift: "swift",
  zsh: "bash",
};
const LANGUAGE_OF_EXTENSION = new Map(
  Object.entries(EXTENSIONS_OF).flatMap(([language, extensions]) =>
    extensions.split(" ").map((extension): [string, string] => [`.${extension}`, language]),
  ),
);
// The program, after an optional `env` with its options and settings.
const SHEBANG = /^#!\s*(?:\S*\/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*)?(?:\S*\/)?([A-Za-z]+)/;

/** The language that the file's name stands for; "" where it stands for none. */
export function languageOf(path: string): string {
  return fullNameLanguage(path) || (LANGUAGE_OF_EXTENSION.get(suffixOf(path)) ?? "");
}

/** The language that is always in files of this name, whatever its extension says. */
export function fullNameLanguage(path: string): string {
  const name = nameOf(path).toLowerCase();
  return Object.hasOwn(LANGUAGE_OF_NAME, name) ? (LANGUAGE_OF_NAME[name] ?? "") : "";
}

/** The language of a script by its `#!` line; "" where it has none that is known. */
export function shebangLanguage(head: Uint8Array): string {
  if (head[0] !== 0x23 || head[1] !== 0x21) return "";
  const line = byteString(head.subarray(0, 256)).split("\n", 1)[0] ?? "";
  const program = SHEBANG.exec(line)?.[1] ?? "";
  const isKnown = Object.hasOwn(LANGUAGE_OF_INTERPRETER, program);
  return isKnown ? (LANGUAGE_OF_INTERPRETER[program] ?? "") : "";
}
