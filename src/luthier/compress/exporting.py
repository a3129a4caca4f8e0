"""From a run or a recipe to a file."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from luthier.compress.network import Source, open_network
from luthier.compress.registry import encoder
from luthier.store import make_place, replace_file

__all__ = ["Exported", "export", "exported_text"]


class Exported(Struct, frozen=True, kw_only=True):
    """What was written, and the greatest difference between its outputs and the network's own."""

    path: str
    format: str
    bytes: int
    opset: int | None = None
    max_error: float | None = None


def export(
    source: Source,
    *,
    output: Path | str,
    format: str = "onnx",  # noqa: A002 - the option's name on the command line
    pixels: bool = False,
    checkpoint: str | int = "last",
    data_root: Path | str | None = None,
) -> Exported:
    """Write a run's network, or with its first weights a recipe's, once it was found to answer as the original does.

    The graph takes normalised float32 images (batch, channels, height, width); with `pixels` it takes bytes
    (batch, height, width, channels), as image libraries give them, and normalises by itself.
    """
    encode, path = encoder(format), Path(output)
    make_place(path, "model.onnx")
    with open_network(source, checkpoint=checkpoint, data_root=data_root) as opened:
        encoded = encode(opened, pixels=pixels)
    replace_file(path, encoded.data)
    return Exported(
        path=str(path), format=format, bytes=len(encoded.data), opset=encoded.opset, max_error=encoded.max_error
    )


def exported_text(exported: Exported) -> str:
    """One line for people."""
    opset = f", opset {exported.opset}" if exported.opset else ""
    error = "" if exported.max_error is None else f", at most {exported.max_error:.1e} from the network's outputs"
    return f"{exported.path}: {exported.format}{opset}, {exported.bytes / 1e6:.3f} MB{error}"
