"""Sessions of onnxruntime over the files of a model: for encoders and for rerankers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument, MissingModel
from gossamer.models.records import Model

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["GPU_BATCH", "check_inputs", "find_gpu", "open_session", "pad"]

GPU_BATCH = 64

# In the order they are tried. CoreML is not among them: the ordinary macOS package lists it on
# every machine, and it compiles for seconds at each start and runs changing lengths slowly.
_GPU_PROVIDERS = (
    "CUDAExecutionProvider",
    "ROCMExecutionProvider",
    "MIGraphXExecutionProvider",
    "DmlExecutionProvider",
)
_FATAL_ONLY = 4

Ids = NDArray[np.int64]


def find_gpu(device: str) -> list[str]:
    """Give what runs models on a GPU, nothing for the CPU; InvalidArgument if "gpu" has none."""
    import onnxruntime

    providers = [name for name in _GPU_PROVIDERS if name in onnxruntime.get_available_providers()]
    if device == "gpu" and not providers:
        raise InvalidArgument(
            "device='gpu' was asked for, but onnxruntime offers none here; install a build of "
            "onnxruntime for this GPU, or use device='auto'"
        )
    return providers[:1] if device != "cpu" else []


def open_session(model: Model, graph: str | bytes, gpu: Sequence[str] = ()) -> InferenceSession:
    """Load a graph over the model's weights: a file's path, or its bytes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL_ONLY
    # One thread in each run, several runs at a time.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # Our own graph holds no weights: it names places in the model's file.
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(model.weights.path.parent)
    )
    unfused: Any = {"disabled_optimizers": ["SkipLayerNormFusion"]} if not gpu else {}
    try:
        return onnxruntime.InferenceSession(
            graph, options, providers=[*gpu, "CPUExecutionProvider"], **unfused
        )
    except Exception as error:
        raise MissingModel(
            f"onnxruntime {onnxruntime.__version__} cannot load {model.weights.path}: "
            f"{str(error).strip()[:300]}; check the file, or upgrade onnxruntime"
        ) from error


def check_inputs(inputs: set[str], model: Model) -> None:
    """Refuse a graph that takes something else than tokens."""
    others = inputs - {"input_ids", "attention_mask", "token_type_ids"}
    if others or "input_ids" not in inputs:
        raise InvalidArgument(
            f"{model.weights.path} takes {', '.join(sorted(inputs))}, but expected is an encoder "
            "that takes input_ids, attention_mask and token_type_ids"
        )


def pad(ids: list[Ids]) -> tuple[Ids, Ids]:
    """Give rows of one length, zeros behind each, and where there are none."""
    longest = max(len(one) for one in ids)
    padded = np.zeros((len(ids), longest), np.int64)
    mask = np.zeros_like(padded)
    for row, one in enumerate(ids):
        padded[row, : len(one)] = one
        mask[row, : len(one)] = 1
    return padded, mask
