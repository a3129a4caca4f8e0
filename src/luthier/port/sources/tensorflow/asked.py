"""`--input x:0` and `--output probs:0`: tensors of a graph by name, checked before anything is converted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from luthier.errors import PortError, unknown
from luthier.port.inputs import DTYPES
from luthier.port.sources.tensorflow.contents import Node, Signature

__all__ = ["Wanted", "of_graph", "of_signature", "wanted"]

Shape = tuple[int | Literal["?"], ...]
EXAMPLE = "Such as x:0 or x:0:1,224,224,3, and ? is an open length."
DEFAULT = "serving_default"
SILENT = frozenset({"Assert", "Const", "NoOp", "Placeholder"})  # whose results nobody asks for


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """An input by name, with its shape where one was given."""

    name: str
    shape: Shape | None = None
    dtype: str = "float32"


def wanted(text: str) -> Wanted:
    """`name[:index][:shape][:dtype]`; a lone number behind the name is the tensor's index, as TensorFlow writes it."""
    name, *parts = text.split(":")
    if parts and parts[0].isdigit():
        index = parts.pop(0)
        name = f"{name}:{index}"
    shape = _shape(parts.pop(0), text) if parts else None
    dtype = parts.pop(0) if parts else "float32"
    if parts or not name or _is_shape(name):
        raise PortError(f"Expected name[:index][:shape][:dtype], got '{text}'", at="--input", hint=EXAMPLE)
    if dtype not in DTYPES:
        sentence, hint = unknown("dtype", dtype, DTYPES)
        raise PortError(sentence, at=f"--input {text}", hint=hint)
    return Wanted(name=name, shape=shape, dtype=dtype)


def of_graph(
    graph: Mapping[str, Node], inputs: Sequence[Wanted], outputs: Sequence[str], path: Path
) -> tuple[list[Wanted], list[str]]:
    """The tensors' whole names; without inputs every placeholder is one."""
    if not outputs:
        raise PortError(
            "A frozen graph does not say which of its tensors are results",
            at=str(path),
            hint=f"Nothing uses {_listed(_sinks(graph))}: name one, such as --output {_sinks(graph)[0]}:0",
        )
    for name in outputs:
        _known(name, graph, "--output")
    given = [Wanted(name=_whole(item.name), shape=item.shape, dtype=item.dtype) for item in inputs]
    placeholders = [node.name for node in graph.values() if node.operator.startswith("Placeholder")]
    for item in given:
        node = _known(item.name, graph, "--input")
        if node.name not in placeholders:
            raise PortError(
                f"'{node.name}' is made by a {node.operator}, expected a placeholder",
                at=f"--input {item.name}",
                hint=f"The graph's placeholders: {_listed(placeholders)}.",
            )
    return given or [Wanted(name=f"{name}:0") for name in placeholders], [_whole(name) for name in outputs]


def of_signature(
    signatures: Mapping[str, Signature], name: str | None, inputs: Sequence[Wanted], outputs: Sequence[str], path: Path
) -> str:
    """Which of a SavedModel's signatures is meant, its names checked."""
    if not signatures:
        raise PortError("The SavedModel has no signature", at=str(path), hint="Save it with signatures=….")
    if name is None:
        name = DEFAULT if DEFAULT in signatures else _only(signatures, path)
    if name not in signatures:
        sentence, hint = unknown("signature", name, signatures)
        raise PortError(sentence, at=f"--set signature={name}", hint=hint)
    signature = signatures[name]
    for asked, known, option in (
        ([item.name for item in inputs], signature.inputs, "input"),
        (outputs, signature.outputs, "output"),
    ):
        for one in asked:
            if one not in known:
                sentence, hint = unknown(option, one, known)
                raise PortError(sentence, at=f"--{option} {one}", hint=hint)
    return name


def _only(signatures: Mapping[str, Signature], path: Path) -> str:
    names = sorted(name for name in signatures if not name.startswith("__"))
    if len(names) != 1:
        raise PortError(
            "The SavedModel has several signatures, and none of them is the default one",
            at=str(path),
            hint=f"Name one, such as --set signature={names[0]}; it has {_listed(names)}." if names else None,
        )
    return names[0]


def _known(name: str, graph: Mapping[str, Node], option: str) -> Node:
    node = name.partition(":")[0]
    if node not in graph:
        sentence, hint = unknown("tensor", node, [item.name for item in graph.values() if item.operator != "Const"])
        raise PortError(sentence, at=f"{option} {name}", hint=hint)
    return graph[node]


def _sinks(graph: Mapping[str, Node]) -> list[str]:
    used = {name for node in graph.values() for name in node.inputs}
    ends = [node.name for node in graph.values() if node.name not in used]
    return [name for name in ends if graph[name].operator not in SILENT] or ends or list(graph)


def _whole(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _listed(names: Iterable[str]) -> str:
    several = list(names)
    return ", ".join(several[:5]) + (f" and {len(several) - 5} more" if len(several) > 5 else "")


def _is_shape(text: str) -> bool:
    return all(part.strip() == "?" or part.strip().isdigit() for part in text.split(","))


def _shape(text: str, whole: str) -> Shape:
    if not _is_shape(text):
        raise PortError(f"Expected a shape, got '{text}'", at=f"--input {whole}", hint=EXAMPLE)
    shape: Shape = tuple("?" if part.strip() == "?" else int(part) for part in text.split(","))
    if 0 in shape:
        raise PortError(f"Expected lengths of at least 1, got '{text}'", at=f"--input {whole}", hint=EXAMPLE)
    return shape
