"""The GPU and the model that runs on it."""

import os
from importlib.util import find_spec
from pathlib import Path

from benchmarks.report import Skipped
from gossamer.embed import Embedder, EmbedOptions, load_embedder

# A folder of a sentence-transformers model; several, with the system's separator, are several
# precisions of one: the first embeds, and rounds are measured with each.
MODEL = "GOSSAMER_BENCH_GPU_MODEL"


def model_folders() -> list[Path]:
    """Give the folders that MODEL names; none where it is not set."""
    given = os.environ.get(MODEL, "")
    return [Path(folder).resolve() for folder in given.split(os.pathsep) if folder]


def embedder_of(folder: Path, device: str = "auto") -> Embedder:
    """Load a model as the product does."""
    return load_embedder(f"sentence-transformers:{folder}", options=EmbedOptions(device=device))


def require_gpu() -> str:
    """Give the GPU's name; Skipped where torch sees none, or no model is named for it."""
    if find_spec("torch") is None:
        raise Skipped("needs a GPU, and torch is not installed")
    import torch

    if not torch.cuda.is_available():
        raise Skipped("torch sees no GPU")
    if not model_folders():
        raise Skipped(f"set {MODEL} to the folder of a sentence-transformers model")
    return str(torch.cuda.get_device_name())


def is_here() -> bool:
    """Whether a case that needs the GPU would run."""
    try:
        require_gpu()
    except Skipped:
        return False
    return True


def machine() -> dict[str, str]:
    """Name the GPU, where there is one, for the saved result."""
    if find_spec("torch") is None:
        return {}
    import torch

    return {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}


def package_versions() -> dict[str, str]:
    """Give the versions of what computes on the GPU."""
    import sentence_transformers
    import torch

    return {
        "torch": torch.__version__,
        "cuda": str(torch.version.cuda),
        "sentence-transformers": sentence_transformers.__version__,
    }
