"""`port.json`: what was ported from what, so that anyone can open both sides again and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from luthier.errors import PortError

__all__ = ["MANIFEST", "Input", "Layer", "Port", "Source", "open_port", "write_manifest"]

MANIFEST = "port.json"


class Source(Struct, frozen=True, kw_only=True):
    """What was ported: a file's factory, a run's folder, a recipe or an ONNX file, with the weights that it had."""

    kind: Literal["torch", "onnx"]
    spec: str
    weights: str | None = None
    weights_sha256: str | None = None
    checkpoint: str | None = None  # of a run
    options: dict[str, Any] = {}
    recipe: dict[str, Any] | None = None
    origin: str | None = None  # the TensorFlow file from which an ONNX file was converted


class Input(Struct, frozen=True, kw_only=True):
    """One of the forward pass's arguments."""

    name: str
    shape: tuple[int | Literal["?"], ...]
    dtype: str = "float32"


class Layer(Struct, frozen=True, kw_only=True):
    """One module, and where it stands on both sides; `target_path` where that differs from `path`."""

    path: str
    source_class: str
    source_line: str
    emitted_line: str
    target_path: str | None = None


class Port(Struct, frozen=True, kw_only=True):
    """A folder's manifest. The candidate's class, built without arguments, is the source's network.

    `map` carries weights by name; of its sources, `constants` are in no state_dict of the source's.
    """

    source: Source
    candidate: str
    inputs: tuple[Input, ...]
    map: str
    weights: str
    layers: tuple[Layer, ...]
    constants: tuple[str, ...] = ()
    versions: dict[str, str] = {}


def write_manifest(port: Port, folder: Path) -> None:
    """Write it, one field a line."""
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(port), indent=1) + b"\n")


def open_port(path: Path | str) -> Port:
    """Read the manifest of a port's folder."""
    file = Path(path) / MANIFEST if Path(path).is_dir() else Path(path)
    try:
        return msgspec.json.decode(file.read_bytes(), type=Port)
    except FileNotFoundError:
        raise PortError(
            f"No port in {path}: it has no {MANIFEST}", hint="luthier port SOURCE -o DIR makes one."
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, OSError) as fault:
        raise PortError(f"The port's manifest cannot be read: {fault}", at=str(file)) from None
