"""Build the WebAssembly modules in web/wasm/built/: `make wasm`.

Objects are compiled again when a source, a header or a flag changed. `--check` only says whether
the modules in built/ are those of the sources.
"""

import gzip
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BUILT = HERE / "built"
OBJECTS = ROOT / "build" / "wasm"
# What exports_query.cpp has in its place, where questions are asked.
REPLACED = {ROOT / "core" / "query" / name for name in ("allow.cpp", "session_scores.cpp")}
ZIG_VERSION = "0.17.0"
# Makes what was linked smaller by a tenth: binaryen, which `make wasm` brings.
OPTIMISER = ROOT / "build" / "binaryen" / "node_modules" / ".bin" / "wasm-opt"
# A function with one caller compresses better where it is than within that one.
OPTIMISE = (
    *("-Oz", "--converge", "--one-caller-inline-max-function-size=0"),
    *("--enable-simd", "--enable-relaxed-simd", "--enable-bulk-memory", "--enable-sign-ext"),
    *("--enable-nontrapping-float-to-int", "--enable-mutable-globals", "--enable-multivalue"),
    "--enable-reference-types",
    # By their names, functions of one template stand side by side, which compresses better.
    *("--reorder-functions-by-name", "--strip-debug", "--strip-producers"),
    "--strip-target-features",
)

# What questions need.
SEARCH = ("engine", "resident", "text", "model", "files", "query")
# What changes of an index need.
CHANGE = ("chunking", "files", "packages", "columns", "changes", "segments", "counting")
# What vectors of the page's own need: an index without texts.
VECTORS = ("engine", "resident")
# For each module the files exports_*.cpp that it is made of, and whether it has relaxed SIMD.
MODULES = {
    "gossamer": (SEARCH, False),
    "gossamer-relaxed": (SEARCH, True),
    "gossamer-filters": (("files", "filters"), False),
    "gossamer-vectors": (VECTORS, False),
    "gossamer-vectors-relaxed": (VECTORS, True),
    "gossamer-build": ((*VECTORS, "build"), False),
    "gossamer-build-relaxed": ((*VECTORS, "build"), True),
    "gossamer-chunks": (CHANGE, False),
}
FOLDERS = (
    *("base", "text", "chunking", "marks", "links", "lexical", "distance", "codes"),
    *("graph", "vectors", "search", "storage", "index", "store", "filters", "query"),
)
# Where queries spend their time; all else is made small.
HOT = {
    "core/distance/wasm_simd.cpp",
    "core/codes/scan.cpp",
    "core/graph/lists.cpp",
}
# What relaxed SIMD changes; the rest is the same in both modules.
KERNELS = {"core/distance/wasm_simd.cpp"}
COMPILE = (
    *("-target", "wasm32-wasi", "-std=c++20", "-msimd128", "-fno-exceptions", "-fno-rtti"),
    *("-DNDEBUG", "-fno-ident", "-fno-threadsafe-statics", "-fno-c++-static-destructors"),
    *("-Wall", "-Wextra", "-Wshadow", "-Werror"),
    *("-ffunction-sections", "-fdata-sections", "-Icore", "-Iweb/wasm"),
)
LINK = (
    *("-target", "wasm32-wasi", "-mexec-model=reactor", "-Wl,--gc-sections"),
    *("-Wl,-z,stack-size=262144", "-Wl,--export=__stack_pointer"),
)


def main() -> None:
    """Build what changed, or check that nothing did."""
    if sys.argv[1:] == ["--check"]:
        if read_stamp() != sources_hash():
            sys.exit("web/wasm/built is not what the sources give: run make wasm")
        return
    require_compiler()
    BUILT.mkdir(exist_ok=True)
    sources = sources_of_core()
    exports = [export_file(name) for names, _ in MODULES.values() for name in names]
    runtime = [HERE / "runtime.cpp", HERE / "pages.cpp"]
    own = sorted({path for path in exports if path.exists()} | {*runtime})
    jobs = [(path, False) for path in [*sources, *own]]
    jobs += [(path, True) for path in sources if is_kernel(path)]
    with ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count() or 2))) as pool:
        list(pool.map(lambda job: compile_object(*job), jobs))
    for name, (parts, relaxed) in MODULES.items():
        own = [path for path in sources if parts != SEARCH or path not in REPLACED]
        link(name, [*own, *runtime, *map(export_file, parts)], relaxed)
    (BUILT / "SOURCES.sha256").write_text(sources_hash() + "\n", encoding="ascii")


def sources_of_core() -> list[Path]:
    """List what of the core may go into a module; the linker leaves out what is not used."""
    found = [path for folder in FOLDERS for path in (ROOT / "core" / folder).glob("*.cpp")]
    return sorted(found)


def export_file(name: str) -> Path:
    """Give the source of a module's exports."""
    return HERE / f"exports_{name}.cpp"


def all_inputs() -> list[Path]:
    """List every file whose change changes a module."""
    core = [path for folder in FOLDERS for path in (ROOT / "core" / folder).iterdir()]
    own = [*HERE.glob("*.cpp"), *HERE.glob("*.h"), Path(__file__).resolve()]
    return sorted(p for p in [*core, *own] if p.suffix in {".cpp", ".h", ".inc", ".py"})


def sources_hash() -> str:
    """Hash what the modules are made from: sources, flags (in this file) and compiler."""
    digest = hashlib.sha256(ZIG_VERSION.encode())
    for path in all_inputs():
        digest.update(f"\n{path.relative_to(ROOT).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def read_stamp() -> str:
    """Give the hash of what the modules in built/ were made from."""
    stamp = BUILT / "SOURCES.sha256"
    return stamp.read_text(encoding="ascii").strip() if stamp.exists() else ""


def is_kernel(source: Path) -> bool:
    """Say whether relaxed SIMD makes another object of a source."""
    return source.relative_to(ROOT).as_posix() in KERNELS


def flags_of(source: Path, relaxed: bool) -> list[str]:
    """Give how a source is compiled."""
    name = source.relative_to(ROOT).as_posix()
    speed = "-O3" if name in HOT else "-Oz"
    return [*COMPILE, speed, *(["-mrelaxed-simd"] if relaxed else [])]


def object_of(source: Path, relaxed: bool) -> Path:
    """Give where the object of a source lies."""
    variant = "relaxed" if relaxed else "simd"
    return OBJECTS / variant / source.relative_to(ROOT).with_suffix(".o")


def compile_object(source: Path, relaxed: bool) -> None:
    """Compile a source if it, its headers or its flags changed."""
    target = object_of(source, relaxed)
    target.parent.mkdir(parents=True, exist_ok=True)
    deps, notes = target.with_suffix(".d"), target.with_suffix(".flags")
    flags = flags_of(source, relaxed)
    if is_fresh(target, deps, notes, flags):
        return
    notes.unlink(missing_ok=True)
    run_compiler([*flags, "-MMD", "-MF", str(deps), "-c", str(source), "-o", str(target)])
    notes.write_text(json.dumps(flags), encoding="utf-8")


def is_fresh(target: Path, deps: Path, notes: Path, flags: list[str]) -> bool:
    """Say whether an object is newer than all it was made from."""
    if not (target.exists() and deps.exists() and notes.exists()):
        return False
    if notes.read_text(encoding="utf-8") != json.dumps(flags):
        return False
    made = target.stat().st_mtime
    names = deps.read_text(encoding="utf-8").replace("\\\n", " ").split()[1:]
    paths = [ROOT / name for name in names]
    return all(path.exists() and path.stat().st_mtime <= made for path in paths)


def link(name: str, sources: list[Path], relaxed: bool) -> None:
    """Link a module and say what it weighs."""
    used = [(path, relaxed and is_kernel(path)) for path in sources if path.exists()]
    objects = [str(object_of(*one)) for one in used]
    out = BUILT / f"{name}.wasm"
    linked = OBJECTS / out.name
    run_compiler([*LINK, *objects, "-o", str(linked)])
    run([str(OPTIMISER), *OPTIMISE, str(linked), "-o", str(out)])
    size = out.stat().st_size
    packed = len(gzip.compress(out.read_bytes(), 9))
    print(f"{out.name:24} {size:8} bytes, {packed:7} compressed")


def run_compiler(arguments: list[str]) -> None:
    """Run the compiler; its complaints end the build."""
    run([sys.executable, "-m", "ziglang", "c++", *arguments])


def run(command: list[str]) -> None:
    """Run a tool; its complaints end the build."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def require_compiler() -> None:
    """Refuse another compiler than the one whose modules are committed."""
    command = [sys.executable, "-m", "ziglang", "version"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if found != ZIG_VERSION:
        sys.exit(f"ziglang {ZIG_VERSION} is needed and {found or 'none'} is there: run make wasm")


if __name__ == "__main__":
    main()
