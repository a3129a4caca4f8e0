"""The port's arrays on disk, in the two formats that MindSpore reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

__all__ = ["CHECKPOINT", "MAP", "MODEL", "WEIGHTS", "write_checkpoint", "write_safetensors"]

CHECKPOINT = "weights.ckpt"
MAP = "map.json"
MODEL = "model.py"
WEIGHTS = "weights.safetensors"
READABLE = 0o644

Arrays = Mapping[str, NDArray[Any]]


def write_safetensors(arrays: Arrays, path: Path) -> None:
    """One file; no code in it."""
    import numpy as np
    from safetensors.numpy import save_file

    path.unlink(missing_ok=True)
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, str(path))
    path.chmod(READABLE)


def write_checkpoint(arrays: Arrays, path: Path) -> None:
    """MindSpore's own format, for scripts that call `load_checkpoint`; MindSpore leaves it to its owner alone."""
    import mindspore

    path.unlink(missing_ok=True)
    tensors = [{"name": name, "data": mindspore.Tensor(array)} for name, array in arrays.items()]
    mindspore.save_checkpoint(tensors, str(path))
    path.chmod(READABLE)
