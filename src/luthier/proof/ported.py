"""A folder that a port wrote, as the two sides of a proof: its source opened again, and its own weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from luthier.errors import ProofError, StoreError, nearest
from luthier.port import Port
from luthier.proof.verdict import Place

__all__ = ["load_candidate", "paths_of", "places_of"]


def paths_of(port: Port) -> dict[str, str]:
    """The layers whose path is another in the port."""
    return {layer.path: layer.target_path for layer in port.layers if layer.target_path is not None}


def places_of(port: Port, folder: Path) -> dict[str, tuple[Place | None, Place | None]]:
    """Both lines of each layer, with their text."""
    base = Path(port.source.spec.rpartition(":")[0] or ".").parent
    return {layer.path: (_place(layer.source_line, base), _place(layer.emitted_line, folder)) for layer in port.layers}


def _place(line: str, folder: Path) -> Place | None:
    file, _, number = line.rpartition(":")
    if not file or not number.isdigit():
        return None
    path = Path(file) if Path(file).is_file() else folder / file
    try:
        text = path.read_text("utf-8").splitlines()[int(number) - 1].strip()
    except (OSError, IndexError, UnicodeDecodeError):
        text = ""
    return Place(at=f"{path}:{number}", text=text)


def load_candidate(candidate: Any, path: Path) -> None:
    """By the Cell's own names; missing and foreign ones are named."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays = load_file(path)
    except FileNotFoundError:
        raise StoreError(f"No {path.name} in {path.parent}", at=str(path.parent)) from None
    except SafetensorError as fault:
        raise StoreError(f"The weights cannot be read: {fault}", at=str(path)) from None
    own = candidate.arrays()
    _require_names(set(own), set(arrays), str(path))
    for name, array in own.items():
        if tuple(array.shape) != tuple(arrays[name].shape):
            raise ProofError(f"'{name}' has the shape {arrays[name].shape}, the Cell's {array.shape}", at=str(path))
    candidate.load({name: np.array(array) for name, array in arrays.items()})


def _require_names(wanted: set[str], given: set[str], at: str) -> None:
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    if not missing and not extra:
        return
    told = [f"lacks {', '.join(missing)}" if missing else "", f"has {', '.join(extra)} besides" if extra else ""]
    near = nearest((extra or missing)[0], wanted if extra else given)
    hint = f"The nearest name there is '{near}'." if near else None
    raise ProofError(
        f"The weights are another network's: the file {' and '.join(filter(None, told))}", at=at, hint=hint
    )
