"""Weights from a file of any of the field's formats, by the names that it has; nothing of it is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from luthier.errors import MissingPackage, ModelError

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["is_weights_file", "read_weights"]

Arrays = dict[str, NDArray[Any]]

NESTED = ("state_dict", "model_state_dict", "model", "weights", "net")  # where training scripts put them
OBJECTS = "Weights only load failed"
ARCHIVE = b"PK\x03\x04"  # what PyTorch's files begin with, whatever they are called


def is_weights_file(path: Path) -> bool:
    """Whether the name says so."""
    return path.suffix in READERS


def read_weights(path: Path) -> Arrays:
    """The arrays by the file's own names, in its order; bfloat16 comes as float32, which holds every value of it."""
    if path.suffix not in READERS:
        raise ModelError(
            f"Expected a file of weights, got '{path.name}'",
            at=str(path),
            hint=f"Known: {', '.join(READERS)}. Or a run's folder.",
        )
    try:
        with path.open("rb") as file:
            archive = file.read(len(ARCHIVE)) == ARCHIVE
        found = READERS[".pt" if archive else path.suffix](path)
    except OSError as fault:
        raise ModelError(f"Cannot read the weights: {fault.strerror or fault}", at=str(path)) from None
    if not found:
        raise ModelError("The file has no weights", at=str(path))
    return found


def _safetensors(path: Path) -> Arrays:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            names = list(file.keys())
            if all(file.get_slice(name).get_dtype() != "BF16" for name in names):
                return {name: file.get_tensor(name) for name in names}
        with safe_open(path, "pt") as file:
            return _as_arrays({name: file.get_tensor(name) for name in names})
    except (SafetensorError, ValueError) as fault:
        raise ModelError(f"Not a whole safetensors file: {fault}", at=str(path)) from None


def _pytorch(path: Path) -> Arrays:
    import torch

    try:
        loaded = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as fault:  # a foreign file may fail in any way
        said = str(fault).strip().partition("\n")[0]
        told = said if isinstance(fault, RuntimeError) else "it is damaged, or was not written by torch.save"
        if said.startswith(OBJECTS):
            told = "it holds objects, which could run code"
        raise ModelError(
            f"PyTorch reads no weights from this file: {told}",
            at=str(path),
            hint="Save it anew, as torch.save(module.state_dict(), path).",
        ) from fault
    return _as_arrays(_state_dict(loaded, path))


def _state_dict(loaded: object, path: Path) -> Mapping[str, Tensor]:
    """It lies at the top, or where training scripts put it beside the optimizer's."""
    import torch

    nested = [loaded.get(name) for name in NESTED] if isinstance(loaded, Mapping) else []
    for candidate in (loaded, *nested):
        if isinstance(candidate, Mapping):
            tensors = {str(name): value for name, value in candidate.items() if isinstance(value, torch.Tensor)}
            if tensors:
                return tensors
    told = f"a dictionary of {', '.join(map(str, loaded))}" if isinstance(loaded, Mapping) else type(loaded).__name__
    raise ModelError(f"Expected a state_dict, got {told}", at=str(path))


def _as_arrays(tensors: Mapping[str, Tensor]) -> Arrays:
    import torch

    def array(tensor: Tensor) -> NDArray[Any]:
        wide = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
        found: NDArray[Any] = wide.detach().contiguous().numpy()
        return found

    return {name: array(tensor) for name, tensor in tensors.items()}


def _mindspore(path: Path) -> Arrays:
    if find_spec("mindspore") is None:
        raise MissingPackage("MindSpore's checkpoints need MindSpore", hint="pip install 'luthier[mindspore]'")
    import mindspore

    try:
        loaded = mindspore.load_checkpoint(str(path))
    except OSError:
        raise
    except Exception as fault:  # a foreign file may fail in any way
        said = str(fault).strip().partition("\n")[0] or type(fault).__name__
        raise ModelError(f"MindSpore reads no weights from this file: {said}", at=str(path)) from fault
    tensors = {name: value for name, value in loaded.items() if isinstance(value, mindspore.Tensor)}
    wide = {
        name: value.astype(mindspore.float32) if value.dtype == mindspore.bfloat16 else value
        for name, value in tensors.items()
    }
    return {name: value.asnumpy() for name, value in wide.items()}


READERS: Mapping[str, Callable[[Path], Arrays]] = {
    ".safetensors": _safetensors,
    ".ckpt": _mindspore,
    ".pt": _pytorch,
    ".pth": _pytorch,
}
