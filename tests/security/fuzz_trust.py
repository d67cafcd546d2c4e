"""Runs every command over indexes of strangers, and watches what it does to this machine.

`make fuzz-trust` runs 100,000 of them; `python tests/security/fuzz_trust.py --cases 7:8` the one
with number 7. Each worker is a process with 512 MB and without a network that makes its cases by
their numbers, and notes whatever a stranger's index must not bring about: files opened outside of
the index and what was accepted, sockets, processes, exceptions that are none of Gossamer's.
"""

import argparse
import functools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

_MEMORY = 512 << 20
_PATIENCE_S = 60.0
_QUIET = ("/dev/null", "/dev/urandom", "/proc/", "/etc/localtime", "/usr/share/zoneinfo")
_FORBIDDEN = (
    "socket.connect",
    "socket.bind",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.system",
)
# What is run on each index: none may do more than read it while nobody trusts it.
COMMANDS = (
    *("search lease --where year==7 --json", "search lease --mode lexical --type markdown"),
    *("search whale --mode semantic -k 9", "show 1", "similar 2", "status", "check"),
    *("export {out}", "eval --count 1", "list", "trust --show", "add", "add {files}"),
    *("remove note", "compact", "watch", "serve --port 0", "pull", "push", "conflicts"),
)
_ENDLESS = ("watch", "serve", "pull", "push", "conflicts")  # or that ask a server


class Watch:
    """Notes what happens while a command runs. An audit hook cannot be taken away again."""

    def __init__(self) -> None:
        self.allowed: tuple[str, ...] = ()
        self.found: list[str] = []
        self._is_on = False
        sys.addaudithook(self._note)

    @contextmanager
    def on(self, allowed: tuple[str, ...]) -> Iterator[list[str]]:
        self.allowed, self.found, self._is_on = allowed, [], True
        try:
            yield self.found
        finally:
            self._is_on = False

    def note_path(self, path: object, what: str, *, follows: bool = True) -> None:
        if isinstance(path, int):
            return
        given = os.fsdecode(path) if path is not None else "."  # type: ignore[arg-type]
        if "\0" in given:
            return
        self._is_on = False  # looking at a path opens nothing that counts
        folder, name = os.path.split(os.path.abspath(given))
        real = os.path.realpath(given) if follows else f"{os.path.realpath(folder)}/{name}"
        self._is_on = True
        if not real.startswith((*self.allowed, *_QUIET)) and not _is_part_of_python(real):
            self.found.append(f"{what} {given}")

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._is_on:
            return
        if event in _FORBIDDEN and not _is_asked_for(str(arguments)):
            self.found.append(f"{event} {str(arguments)[:200]}")
            raise PermissionError(f"{event} is not allowed here")
        if event == "open":
            flags = arguments[2] if isinstance(arguments[2], int) else 0
            self.note_path(arguments[0], event, follows=not flags & os.O_NOFOLLOW)
        elif event in ("os.listdir", "os.scandir", "os.mkdir", "os.chmod", "os.truncate"):
            self.note_path(arguments[0], event)
        elif event in ("os.remove", "os.rename", "os.link", "os.symlink"):
            for path in arguments[: 1 if event == "os.remove" else 2]:
                self.note_path(path, event, follows=False)
        elif event == "sqlite3.connect":
            self.note_path(re.sub(r"^file://|\?.*$", "", str(arguments[0])), event)


def _is_asked_for(arguments: str) -> bool:
    """Whether this is ours: an address that somebody here named, or a reader of accepted files."""
    ours = ("'127.0.0.1', None", "server.example", "grammar_worker.py", "pdf_worker.py")
    return any(one in arguments for one in ours)


def _is_part_of_python(real: str) -> bool:
    places = (sys.prefix, sys.base_prefix, "/usr/lib", *(path for path in sys.path if path))
    return real.startswith(places)


def run_cases(first: int, last: int, bases: Path, seed: str) -> None:
    """Run cases and print a line of JSON for each, before and after; in a process of its own."""
    from gossamer import embed
    from gossamer.query.run import _Question

    watch = Watch()
    embed._load_files = functools.cache(embed._load_files)  # a model of this machine, once
    _warm_up(bases)
    supply_words = _Question._supply_words

    def supply_noted(self, need):  # what the core opens, no hook sees
        for path in self._snapshot.collection.files():
            watch.note_path(path, "core")
        return supply_words(self, need)

    _Question._supply_words = supply_noted  # type: ignore[method-assign]
    threading.stack_size(1 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for number in range(first, last):
        print(json.dumps({"case": number}), flush=True)
        with tempfile.TemporaryDirectory(prefix="gossamer-hostile-", dir=bases.parent) as place:
            case = Case(Path(place).resolve(), bases, f"{seed}-{number}", watch)
            case.run()
            said = {"kind": case.kind, "faults": case.faults, "ran": case.ran}
            print(json.dumps({"case": number, **said}), flush=True)


class Case:
    """A folder with a stranger's index, and settings of a person who knows nothing of it."""

    def __init__(self, place: Path, bases: Path, seed: str, watch: Watch) -> None:
        from hostile import FOLDERS, Chance

        self._place, self._bases, self._watch = place, bases, watch
        self._chance = Chance(seed, bases / "lures")
        self.kind = self._chance.random.choice([*FOLDERS, *FOLDERS, "single", "single", "package"])
        self.faults: list[str] = []
        self.ran: Counter[str] = Counter()
        self._environment = {
            "GOSSAMER_HOME": str(place / "home"),
            "GOSSAMER_INDEX": str(place / "index"),
            "GOSSAMER_DEBUG": "1",
        }

    def run(self) -> None:
        """Make it, run every command over it, and perhaps once more when it is accepted."""
        os.chdir(self._place)
        os.environ["GOSSAMER_HOME"] = self._environment["GOSSAMER_HOME"]
        (self._place / "files").mkdir()
        (self._place / "files" / "own.md").write_text("My own lease.", encoding="utf-8")
        self._make()
        lasting = [line for line in COMMANDS if line.split()[0] in _ENDLESS]
        for line in COMMANDS:
            if line not in lasting:
                self._run(line)
        # One that was imported, pulled or made anew is ours: these would go on for ever.
        for line in lasting if self._run("trust --show") else ():
            self._run(line)
        if self._chance.random.random() < 0.3 and not self._asks_for_much():
            self._run("trust")
            for line in COMMANDS:
                if line.split()[0] not in _ENDLESS:
                    self._run(line, self._roots())

    def _make(self) -> None:
        from hostile import hostile_file, hostile_folder, hostile_package

        place, chance = self._place, self._chance
        if self.kind == "single":
            hostile_file(self._bases / "single.gossamer", place / "in.gossamer", chance)
            self._run("import in.gossamer ./index")
        elif self.kind == "package":
            hostile_package(self._bases / "package.gsp", place / "in.gsp", chance)
            with self._watch.on((str(place),)) as found:
                self.faults += _apply(place)
            self.faults += [f"package: {what}" for what in found]
        else:
            hostile_folder(self._bases / self.kind, place / "index", chance)

    def _run(self, line: str, accepted: tuple[str, ...] = ()) -> int:
        """Run a command, note what it must not do, and give its exit code."""
        from click.testing import CliRunner

        from gossamer.cli import cli
        from gossamer.errors import GossamerError

        words = line.format(out="out.gossamer", files="files").split()
        with self._watch.on((str(self._place), *accepted)) as found:
            result = CliRunner().invoke(cli, words, env=self._environment)
        self.ran[f"{words[0]} {result.exit_code}"] += 1
        error = result.exception
        if error is not None and not isinstance(error, (GossamerError, SystemExit)):
            self.faults.append(f"{line}: {type(error).__name__}: {str(error)[:300]}")
        self.faults += [f"{line}: {what}" for what in found]
        return result.exit_code

    def _roots(self) -> tuple[str, ...]:
        """Give what may be read once the index is trusted."""
        return tuple(os.path.realpath(root) for root in self._manifest().get("roots", []) if root)

    def _asks_for_much(self) -> bool:
        """Whether it may ask somebody else, or read the whole disk, once it is trusted."""
        said = self._manifest()
        is_elsewhere = ":" in str(said.get("model", {}).get("name", "")) or bool(said.get("origin"))
        return is_elsewhere or "/" in said.get("roots", [])

    def _manifest(self) -> dict:
        path = self._place / "index" / "MANIFEST.gossamer"
        try:
            data = b"" if path.is_symlink() else path.read_bytes()
            return json.loads(data.rpartition(b"\n")[0].rpartition(b"\n")[0])
        except (OSError, ValueError):
            return {}


def _apply(place: Path) -> list[str]:
    from gossamer.errors import GossamerError
    from gossamer.sync.apply import apply_package
    from gossamer.sync.download import Wanted
    from gossamer.sync.following import Following
    from gossamer.sync.package import Package

    try:
        with Package.open(place / "in.gsp", "") as package:
            wanted, following = Wanted("codes", "kept", None), Following("http://server.example")
            apply_package(place / "index", package, wanted, following, may_go_back=False)
    except GossamerError:
        pass
    except Exception as error:
        return [f"package: {type(error).__name__}: {str(error)[:300]}"]
    return []


def _warm_up(bases: Path) -> None:
    """Import all that commands import, so that limits hit what they do, not Python."""
    from click.testing import CliRunner

    from gossamer.cli import cli

    for line in COMMANDS:
        # Those that would go on for ever find no index.
        index = "none" if line.split()[0] in _ENDLESS else "stored"
        words = line.format(out=bases / "warm.gossamer", files=bases / "lures").split()
        CliRunner().invoke(cli, words, env={"GOSSAMER_INDEX": str(bases / index)})
    (bases / "warm.gossamer").unlink(missing_ok=True)


def fuzz(first: int, last: int, seed: str, jobs: int) -> tuple[Counter[str], list[str]]:
    """Run cases in some processes at once; give what was run, and everything that went wrong."""
    with tempfile.TemporaryDirectory(prefix="gossamer-fuzz-") as folder:
        home = Path(folder).resolve() / "home"
        environment = {**os.environ, "GOSSAMER_HOME": str(home), "MALLOC_ARENA_MAX": "2"}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        bases = Path(folder).resolve() / "bases"
        script = [sys.executable, __file__, "--bases", str(bases), "--seed", seed]
        subprocess.run([*script, "--make"], env=environment, check=True)
        bounds = [first + (last - first) * n // jobs for n in range(jobs + 1)]
        workers = [Worker([*script, "--worker"], environment, *pair) for pair in pairwise(bounds)]
        for worker in workers:
            worker.join()
        ran = sum((worker.ran for worker in workers), Counter())
        return ran, [fault for worker in workers for fault in worker.faults]


class Worker(threading.Thread):
    """A process that runs cases, and another one after it if a case ends it."""

    def __init__(
        self, script: list[str], environment: dict[str, str], first: int, last: int
    ) -> None:
        super().__init__(daemon=True)
        self._script, self._environment = script, environment
        self._next, self._last = first, last
        self.ran: Counter[str] = Counter()
        self.faults: list[str] = []
        self.start()

    def run(self) -> None:
        while self._next < self._last:
            command = [*self._script, "--cases", f"{self._next}:{self._last}"]
            with subprocess.Popen(
                command, env=self._environment, stdout=subprocess.PIPE, text=True
            ) as process:
                heard = [time.monotonic()]
                threading.Thread(target=self._guard, args=(process, heard), daemon=True).start()
                current = self._listen(process, heard)
            if process.returncode:
                self.faults.append(f"case {current}: the process ended with {process.returncode}")
                self._next = max(current, self._next) + 1

    def _listen(self, process: subprocess.Popen[str], heard: list[float]) -> int:
        current = self._next
        for line in process.stdout or ():
            heard[0] = time.monotonic()
            with suppress(ValueError):
                said = json.loads(line)
                current = said["case"]
                if "ran" in said:
                    self._next = current + 1
                    self.ran.update(said["ran"])
                    self.ran[f"cases {said['kind']}"] += 1
                    self.faults += [
                        f"case {current} ({said['kind']}): {fault}" for fault in said["faults"]
                    ]
        return current

    def _guard(self, process: subprocess.Popen[str], heard: list[float]) -> None:
        while process.poll() is None:
            if time.monotonic() - heard[0] > _PATIENCE_S:
                process.kill()
            time.sleep(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default="0:100000", help="FIRST:LAST")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--bases", type=Path)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--worker", action="store_true")
    given = parser.parse_args()
    first, last = map(int, given.cases.split(":"))
    if given.make:
        from hostile import make_bases

        make_bases(given.bases)
        (given.bases / "lures").mkdir()
        (given.bases / "lures" / "secret.md").write_text(
            "# Secret\n\nThe lease of the safe is 4711.\n"
        )
    elif given.worker:
        run_cases(first, last, given.bases, given.seed)
    else:
        ran, faults = fuzz(first, last, given.seed, given.jobs)
        for what, count in sorted(ran.items()):
            print(f"{count:8,}  {what}")
        print(*faults, sep="\n")
        print(f"{last - first:,} cases, {len(faults)} faults")
        sys.exit(bool(faults))


if __name__ == "__main__":
    main()
