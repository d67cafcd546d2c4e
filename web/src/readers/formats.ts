// Which kind a file is of, and what is left out unopened. The twin of readers/formats.py.

import { byteString } from "../bytes/strings.ts";
import { isBinary } from "./encoding.ts";
import { fullNameLanguage, languageOf, shebangLanguage } from "./languages.ts";
import { nameOf, parentNameOf, suffixOf } from "./paths.ts";

/** Bytes of a file that `kindOf` may look at. */
export const HEAD_BYTES = 8192;

const EXTENSIONS_OF: Readonly<Record<string, string>> = {
  text: "txt text log srt vtt",
  markdown: "md markdown mdx mkd qmd rmd",
  rst: "rst rest",
  html: "html htm xhtml xht",
  csv: "csv tsv tab psv",
  jsonl: "jsonl ndjson jsonlines",
  json: "json geojson",
  pdf: "pdf",
  docx: "docx docm dotx",
  pptx: "pptx pptm ppsx",
  xlsx: "xlsx xlsm",
  odt: "odt ott",
  odp: "odp",
  epub: "epub",
  notebook: "ipynb",
  mail: "eml emlx mbox mbx",
};
const SECRET_NAMES =
  ".env .env.* *.env .netrc _netrc .pgpass .htpasswd .git-credentials .npmrc .pypirc id_rsa* " +
  "id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk *.asc " +
  "*.gpg *.pgp credentials credentials.json secrets.json secrets.yaml secrets.yml";
const PUBLIC_NAMES = new Set([".env.example", ".env.sample", ".env.template", "example.env"]);
const LOCK_FILES = new Set(
  (
    "bun.lock cargo.lock composer.lock flake.lock gemfile.lock go.sum mix.lock " +
    "npm-shrinkwrap.json package-lock.json packages.lock.json pdm.lock pipfile.lock " +
    "pnpm-lock.yaml poetry.lock uv.lock yarn.lock"
  ).split(" "),
);
const BINARY: Readonly<Record<string, string>> = {
  "an image":
    "png jpg jpeg jpe gif bmp tif tiff webp avif heic heif ico icns cur psd xcf ai eps raw cr2 " +
    "nef dng exr hdr tga dds svg svgz jxl jp2",
  sound:
    "mp3 wav flac ogg oga opus m4a aac wma aiff aif mid midi amr ape",
  video:
    "mp4 m4v mkv webm avi mov wmv flv mpg mpeg 3gp m2ts ogv vob",
  "an archive":
    "zip tar gz tgz bz2 tbz2 xz txz zst lz lz4 lzma 7z rar jar war ear apk ipa cab iso img dmg " +
    "deb rpm msi whl egg gem crate nupkg snap appimage xpi crx z br",
  "a program":
    "exe dll so dylib o obj a lib ko pyc pyo pyd class dex bin elf sys wasm node pdb ilk rlib " +
    "rmeta beam",
  "a font":
    "ttf otf woff woff2 eot ttc pfb pfm",
  "model weights":
    "safetensors onnx pt pth ckpt gguf ggml h5 hdf5 keras pb tflite npz npy pkl pickle joblib " +
    "mlmodel caffemodel",
  "a database":
    "db sqlite sqlite3 db3 mdb accdb dbf ldb lmdb mdf frm ibd parquet feather arrow orc avro " +
    "rdb duckdb",
  "an office file of an older kind":
    "doc xls ppt pps msg pst ost vsd one mobi azw azw3",
  "a source map":
    "map",
  "a 3D model":
    "stl glb gltf fbx blend 3ds dae usdz ply",
  "a temporary file":
    "swp swo tmp part crdownload lock",
};

/** What to do about a file that is left out, and should not be. */
export const GIVE_TEXT = "add what is in it as a text to find it nevertheless";

const KIND_OF_EXTENSION = byExtension(EXTENSIONS_OF);
const BINARY_OF_EXTENSION = byExtension(BINARY);
const SECRETS = SECRET_NAMES.split(" ").map(patternOf);
const HTML_BEGIN = /^(?:\xef\xbb\xbf)?\s*(?:<!--[^>]*-->\s*)?<(?:!doctype html|html)[\s>]/i;
// An mbox "From " line, or header lines of which one is known to stand in every message.
const MAIL_BEGIN = new RegExp(
  "^(?:From \\S+ [^\\n]*\\n)?(?:[A-Za-z][\\w-]*:[^\\n]*\\n(?:[ \\t][^\\n]*\\n)*){0,64}?" +
    "(?:Return-Path|Received|Message-ID|MIME-Version|Delivered-To):",
  "i",
);

/** The kind of a file by its name, or else by its first HEAD_BYTES; "" if it is binary. Source code
 * gives the name of its language, text of no other kind gives "text". */
export function kindOf(path: string, head: Uint8Array): string {
  const begin = byteString(head.subarray(0, HEAD_BYTES));
  // Files of a maildir end in their flags and a host name, which says nothing.
  if (["cur", "new"].includes(parentNameOf(path)) && MAIL_BEGIN.test(begin)) return "mail";
  const named =
    fullNameLanguage(path) || KIND_OF_EXTENSION.get(suffixOf(path)) || languageOf(path);
  if (named) return named;
  if (HTML_BEGIN.test(begin)) return "html";
  if (begin.slice(0, 1024).includes("%PDF-")) return "pdf";
  if (MAIL_BEGIN.test(begin)) return "mail";
  return shebangLanguage(head) || (isBinary(head.subarray(0, HEAD_BYTES)) ? "" : "text");
}

/** Why a file is left out, judged by its name alone; "" if it is to be read. */
export function reasonToSkip(path: string): string {
  const name = nameOf(path).toLowerCase();
  const maySecret = !PUBLIC_NAMES.has(name) && SECRETS.some((pattern) => pattern.test(name));
  if (maySecret) return `may hold secrets (${GIVE_TEXT})`;
  if (name.includes(".min.") || LOCK_FILES.has(name)) {
    return `generated (${GIVE_TEXT})`;
  }
  const what = BINARY_OF_EXTENSION.get(suffixOf(path));
  return what === undefined ? "" : `${what}, which holds no text to read`;
}

function byExtension(table: Readonly<Record<string, string>>): Map<string, string> {
  return new Map(
    Object.entries(table).flatMap(([kind, extensions]) =>
      extensions.split(" ").map((extension): [string, string] => [`.${extension}`, kind]),
    ),
  );
}

function patternOf(glob: string): RegExp {
  const escaped = glob.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${escaped}$`, "s");
}
