"""Runs every command over indexes of strangers, and watches what it does to this machine.

`make fuzz-trust` runs 100,000 of them; `python tests/security/fuzz_trust.py --cases 7:8` the one with
number 7. Each worker is a process with 512 MB and without a network that makes its cases by their
numbers and notes whatever a stranger's index must not bring about: files opened outside of the index
and what was accepted, sockets, processes, exceptions that are none of Gossamer's.
"""

import argparse
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
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

_MEMORY = 512 << 20
_PATIENCE_S = 120.0
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
    *(
        "search lease",
        "search lease --mode lexical --type markdown",
        "search whale --mode semantic -k 9",
    ),
    *(
        "search note --where year==7 --json",
        "show 1",
        "similar 2",
        "status",
        "check",
        "trust --show",
    ),
    *("export {out}", "eval --count 1", "list", "add", "add {files}", "remove note", "compact"),
    *("watch", "serve --port 0", "pull", "push", "conflicts"),
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
        if event in _FORBIDDEN and "'127.0.0.1', None" not in str(arguments):  # serve: is it local?
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


def _is_part_of_python(real: str) -> bool:
    places = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2] / "python"), "/usr/lib")
    return real.startswith(places)


def run_cases(first: int, last: int, bases: Path, seed: str) -> None:
    """Run cases and print a line of JSON for each, before and after; in a process of its own."""
    from click.testing import CliRunner
    from hostile import FOLDERS, Chance, hostile_file, hostile_folder, hostile_package

    from gossamer import errors
    from gossamer.cli import cli
    from gossamer.lexical.scan import LexicalPass

    watch = Watch()
    _warm_up(bases)
    add_files = LexicalPass.add_files

    def noted(self, files, callback=None):  # what the core opens, no hook sees
        for path in files.paths:
            watch.note_path(path, "core")
        return add_files(self, files, callback)

    LexicalPass.add_files = noted  # type: ignore[method-assign]
    threading.stack_size(1 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    kinds = [*FOLDERS, *FOLDERS, "single", "single", "package"]
    for number in range(first, last):
        print(json.dumps({"case": number}), flush=True)
        with tempfile.TemporaryDirectory(prefix="gossamer-hostile-", dir=bases.parent) as place:
            case = Case(Path(place).resolve(), Chance(f"{seed}-{number}", bases / "lures"))
            kind = case.chance.random.choice(kinds)
            report: Counter[str] = Counter()
            faults: list[str] = []

            def run(line: str, allowed: tuple[str, ...]) -> None:
                words = line.format(
                    out=case.place / "out.gossamer", files=case.place / "files"
                ).split()
                with watch.on((str(case.place), *allowed)) as found:
                    result = CliRunner().invoke(cli, words, env=case.environment)
                report[f"{words[0]} {result.exit_code}"] += 1
                error = result.exception
                ours = (errors.GossamerError, SystemExit)
                if error is not None and not isinstance(error, ours):
                    faults.append(f"{line}: {type(error).__name__}: {str(error)[:300]}")
                faults.extend(f"{line}: {what}" for what in found)

            os.chdir(case.place)
            os.environ["GOSSAMER_HOME"] = case.environment["GOSSAMER_HOME"]
            if kind == "single":
                hostile_file(bases / "single.gossamer", case.place / "in.gossamer", case.chance)
                run("import in.gossamer ./index", ())
            elif kind == "package":
                hostile_package(bases / "package.gsp", case.place / "in.gsp", case.chance)
                with watch.on((str(case.place),)) as found:
                    faults.extend(_apply(case.place, errors.GossamerError))
                faults.extend(f"package: {what}" for what in found)
            else:
                hostile_folder(bases / kind, case.place / "index", case.chance)
            for line in COMMANDS:
                run(line, ())
            if case.chance.random.random() < 0.3 and not case.names_address():
                run("trust", ())
                for line in COMMANDS:
                    if line.split()[0] not in _ENDLESS:
                        run(line, case.accepted())
            print(
                json.dumps({"case": number, "kind": kind, "faults": faults, "ran": report}),
                flush=True,
            )


class Case:
    """A folder with a stranger's index, and settings of a person who knows nothing of it."""

    def __init__(self, place: Path, chance: object) -> None:
        self.place = place
        self.chance = chance
        (place / "files").mkdir()
        (place / "files" / "own.md").write_text("My own lease.", encoding="utf-8")
        self.environment = {
            "GOSSAMER_HOME": str(place / "home"),
            "GOSSAMER_INDEX": str(place / "index"),
            "GOSSAMER_DEBUG": "1",
            "GOSSAMER_API_KEY": "",
        }

    def accepted(self) -> tuple[str, ...]:
        """Give what may be read once the index is trusted: its roots."""
        roots = self._manifest().get("roots", [])
        return tuple(os.path.realpath(root) for root in roots if root)

    def names_address(self) -> bool:
        """Whether it may ask somebody else, once it is trusted."""
        said = self._manifest()
        model = str(said.get("model", {}).get("name", ""))
        return "://" in model or ":" in model or bool(said.get("origin"))

    def _manifest(self) -> dict:
        try:
            data = (self.place / "index" / "MANIFEST.gossamer").read_bytes()[: 1 << 20]
            return json.loads(data.rpartition(b"\n")[0].rpartition(b"\n")[0])
        except (OSError, ValueError):
            return {}


def _apply(place: Path, ours: type[Exception]) -> list[str]:
    from gossamer.sync.apply import apply_package
    from gossamer.sync.download import Wanted
    from gossamer.sync.following import Following
    from gossamer.sync.package import Package

    try:
        with Package.open(place / "in.gsp", "") as package:
            wanted, following = Wanted("codes", "kept", None), Following("http://server.example")
            apply_package(place / "index", package, wanted, following, may_go_back=False)
    except ours:
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
        workers = [
            Worker([*script, "--worker"], environment, *pair)
            for pair in zip(bounds[:-1], bounds[1:], strict=True)
        ]
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
