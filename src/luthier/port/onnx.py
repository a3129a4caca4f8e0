"""An ONNX file as the source of a port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from luthier.errors import PortError
from luthier.port.manifest import Input, Source

if TYPE_CHECKING:
    from luthier.port.graph import Network

__all__ = ["OnnxFile", "is_onnx", "opened_onnx", "reopened"]

SUFFIX = ".onnx"


@dataclass(kw_only=True)
class OnnxFile:
    """Named, and not read yet."""

    path: Path
    source: Source
    inputs: tuple[Input, ...] = ()

    @property
    def name(self) -> str:
        """What its class is called after."""
        return self.path.stem.replace("-", "_")

    def read(self, example_inputs: Any, asked: Sequence[Input], outputs: Sequence[str]) -> Network:
        """The graph; what was asked for is kept, so that a proof reads the same one."""
        from luthier.port.sources.onnx.network import read_onnx

        if example_inputs is not None:
            asked = [_shape_of(item) for item in _several(example_inputs)]
        given: dict[str, Any] = {}
        if asked:
            given["inputs"] = [{"name": item.name, "shape": list(item.shape), "dtype": item.dtype} for item in asked]
        if outputs:
            given["outputs"] = list(outputs)
        self.source = Source(
            kind="onnx", spec=self.source.spec, weights_sha256=self.source.weights_sha256, options=given
        )
        return read_onnx(self.path, asked, outputs).network


def is_onnx(source: Any) -> TypeGuard[str | Path]:
    """Whether the name is that of an ONNX file."""
    return isinstance(source, str | Path) and str(source).endswith(SUFFIX)


def opened_onnx(source: str | Path, *, weights: Any = None, options: Mapping[str, Any] | None = None) -> OnnxFile:
    """The file, by its whole path and digest; it holds its own weights and takes no options."""
    if weights is not None:
        raise PortError("An ONNX file has its own weights", at="--weights", hint="Leave --weights out.")
    if options:
        raise PortError("An ONNX file takes no options", at="--set", hint="Leave --set out.")
    path = Path(source)
    if not path.is_file():
        raise PortError(f"No ONNX file '{path}'", at="SOURCE")
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return OnnxFile(path=path, source=Source(kind="onnx", spec=str(path.resolve()), weights_sha256=digest.hexdigest()))


def reopened(source: Source) -> tuple[Path, list[Input], list[str]]:
    """What a port was made of: the file, the shapes that were asked for, and where it was cut."""
    inputs = [
        Input(name=item["name"], shape=tuple(item["shape"]), dtype=item["dtype"])
        for item in source.options.get("inputs", ())
    ]
    return Path(source.spec), inputs, list(source.options.get("outputs", ()))


def _several(given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        return list(given.items())
    return list(given) if isinstance(given, tuple | list) else [given]


def _shape_of(item: Any) -> Input:
    """An array's or a tensor's; the first axis is open, as with a module."""
    name, value = item if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) else ("", item)
    shape = tuple(int(length) for length in value.shape)
    return Input(name=name, shape=("?", *shape[1:]) if shape else (), dtype=str(value.dtype).rpartition(".")[2])
