"""Shapes and types of what a node gives, by ONNX's own inference: once with open lengths, once with examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import sympy
from numpy.typing import NDArray
from onnx import NodeProto, TypeProto
from onnx.defs import OpSchema

from luthier.port.sources.onnx.binding import dtype_name
from luthier.port.sources.onnx.lengths import Lengths

__all__ = ["Kind", "Shapes", "kind_of"]

FEW = 1024  # numbers that inference may look at


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A tensor's shape, None where even its rank is open, and its type; `other` where it is no tensor."""

    shape: tuple[Any, ...] | None
    code: int
    other: str = ""

    @property
    def dtype(self) -> str:
        """By name."""
        return dtype_name(self.code)


def kind_of(given: TypeProto, lengths: Lengths, *, named: bool = True) -> Kind:
    """What the file says of a value; a length without a name is its own."""
    which = given.WhichOneof("value") or "tensor_type"
    if which != "tensor_type":
        return Kind(shape=None, code=0, other=which.removesuffix("_type").replace("_", " "))
    tensor = given.tensor_type
    if not tensor.HasField("shape"):
        return Kind(shape=None, code=tensor.elem_type)
    shape: list[Any] = []
    for length in tensor.shape.dim:
        if length.HasField("dim_value"):
            shape.append(int(length.dim_value))
        elif length.dim_param and named:
            shape.append(lengths.called(length.dim_param))
        else:
            shape.append(None)
    return Kind(shape=tuple(shape), code=tensor.elem_type)


@dataclass(kw_only=True)
class Shapes:
    """Infers one node after the other."""

    lengths: Lengths
    opset_imports: Sequence[Any]

    def of(
        self, node: NodeProto, schema: OpSchema, kinds: Mapping[str, Kind], contents: Mapping[str, NDArray[Any]]
    ) -> dict[str, Kind]:
        """Every output that inference says something about; an open length that it cannot name is a new one."""
        symbolic = self._inferred(node, schema, kinds, contents, examples=False)
        if all(kind.shape is not None and None not in kind.shape for kind in symbolic.values()) and symbolic:
            return symbolic
        concrete = self._inferred(node, schema, kinds, contents, examples=True)
        found = {}
        for name, kind in (concrete | symbolic).items():
            sure = concrete.get(name, kind)
            shape = kind.shape if kind.shape is not None else (None,) * len(sure.shape) if sure.shape else sure.shape
            if shape is not None:
                examples = sure.shape if sure.shape is not None else (None,) * len(shape)
                is_static = self._is_static(kinds)
                shape = tuple(
                    own if own is not None else self._unnamed(example, is_static)
                    for own, example in zip(shape, examples, strict=True)
                )
            found[name] = Kind(shape=shape, code=kind.code, other=kind.other)
        return found

    def _unnamed(self, example: int | None, is_static: bool) -> Any:
        if example is not None and is_static:
            return example
        return self.lengths.fresh(example if example is not None else 2)

    def _is_static(self, kinds: Mapping[str, Kind]) -> bool:
        return all(
            kind.shape is not None and not any(isinstance(length, sympy.Expr) for length in kind.shape)
            for kind in kinds.values()
        )

    def _inferred(
        self,
        node: NodeProto,
        schema: OpSchema,
        kinds: Mapping[str, Kind],
        contents: Mapping[str, NDArray[Any]],
        *,
        examples: bool,
    ) -> dict[str, Kind]:
        types = {name: self._type(kind, examples=examples) for name, kind in kinds.items() if not kind.other}
        data = {}
        for name, content in contents.items():
            if content.size <= FEW and content.dtype == object:
                if not examples and any(isinstance(item, sympy.Expr) for item in content.reshape(-1)):
                    continue
                content = np.array([self._number(item) for item in content.reshape(-1)]).reshape(content.shape)
                dtype = onnx.helper.tensor_dtype_to_np_dtype(kinds[name].code)
                data[name] = onnx.numpy_helper.from_array(content.astype(dtype), name)
            elif content.size <= FEW:
                data[name] = onnx.numpy_helper.from_array(np.ascontiguousarray(content).reshape(content.shape), name)
        try:
            found = onnx.shape_inference.infer_node_outputs(
                schema, node, types, data, opset_imports=list(self.opset_imports)
            )
        except Exception:  # inference that does not know a thing, or a model that it finds wrong
            return {}
        return {name: kind_of(item, self.lengths) for name, item in found.items()}

    def _number(self, item: Any) -> Any:
        return self.lengths.example(item) if isinstance(item, sympy.Expr) else item

    def _type(self, kind: Kind, *, examples: bool) -> TypeProto:
        shape = kind.shape
        if shape is None:
            return onnx.helper.make_tensor_type_proto(kind.code, None)
        given = [
            (self.lengths.example(length) if examples else self.lengths.text(length))
            if isinstance(length, sympy.Expr) and not length.is_Integer
            else int(length)
            for length in shape
        ]
        return onnx.helper.make_tensor_type_proto(kind.code, given)
