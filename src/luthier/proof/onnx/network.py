"""An ONNX file as the reference of a proof: it runs forward, and trains nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import onnx

from luthier.errors import ProofError
from luthier.port import Source, read_source
from luthier.proof.network import Array, Arrays, Call, Graded, Layer, LayerRun, ParameterFact, Trace
from luthier.proof.onnx.models import cut, disturbed, evaluated, precise, run_by_reference, run_by_runtime
from luthier.proof.verdict import Place

__all__ = ["OnnxReference"]

PLAIN = (bool, int, float, str, tuple, type(None))


class OnnxReference:
    """ONNX Runtime says what the file computes, ONNX's reference in float64 what is exact."""

    framework = "onnx"
    trains = False
    unit = float(np.finfo(np.float32).eps) / 2

    def __init__(self, source: Source, carried: Collection[str] = ()) -> None:
        """`carried` are the arrays of the file that the port has; others became numbers in its code."""
        self.name = source.spec
        self.carried = set(carried)
        self.notes: list[str] = []
        self.network = read_source(source)
        path = Path(source.spec)
        model = onnx.load(str(path), load_external_data=False)
        onnx.load_external_data_for_model(model, str(path.parent))
        self.model = evaluated(model)
        self.inputs = [value.name for value in self.network.scope.inputs]
        self.outputs_ = [value.name for value in self.network.scope.outputs]
        self._given: dict[str, Array] = {}
        self._has_precise = True

    def layers(self) -> list[Layer]:
        """As the port found them in the file."""
        return [
            Layer(
                path=module.path,
                kind=module.class_name,
                place=Place(at=module.built_at, text="") if module.built_at else None,
                settings=_settings(module),
            )
            for module in self.network.module.walk()
        ]

    def parameters(self) -> list[ParameterFact]:
        """The initialisers by their names in the file."""
        names = self.network.sources
        loose, second = set(self.network.loose), {name for name, _ in self.network.ties}
        return [
            ParameterFact(
                name=names.get(name, name),
                shape=tensor.shape,
                dtype=tensor.dtype.rstrip("_"),
                trainable=tensor.trainable,
                owner=name.rpartition(".")[0] if "@" not in name else name.partition("@")[0].rpartition(".")[0],
            )
            for name, tensor in self.network.state.items()
            if name not in loose and name not in second and not self._is_unwritten(name)
        ]

    def _is_unwritten(self, name: str) -> bool:
        """A constant that became a number in the code."""
        return name in self.network.optional and self.network.sources.get(name, name) not in self.carried

    def arrays(self) -> Arrays:
        """By their names in the file."""
        names = self.network.sources
        facts = {fact.name for fact in self.parameters()}
        return {
            names.get(name, name): np.array(self.network.arrays(name))
            for name in self.network.state
            if names.get(name, name) in facts
        }

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Nothing trains, and nothing is put back."""

    def outputs(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """By ONNX Runtime."""
        self._given = dict(zip(self.inputs, inputs, strict=True))
        return tuple(run_by_runtime(cut(self.model, self.outputs_), self._given))

    def trace(
        self, inputs: Sequence[Array], *, training: bool, exact: bool = False, disturb: float = 0.0, seed: int = 0
    ) -> Trace:
        """Every call of a module, with the values that go in and out of it."""
        self._given = dict(zip(self.inputs, inputs, strict=True))
        calls = [*_in_order(self.network.scope)]
        names = [value.name for call in calls for value in (*call.inputs, *call.outputs)]
        wanted = [name for name in dict.fromkeys([*self.outputs_, *names]) if name not in self._given]
        found = dict(zip(wanted, self._run(wanted, self._given, exact=exact, disturb=disturb, seed=seed), strict=True))
        found |= self._given
        outputs = tuple(found[name] for name in self.outputs_)
        made = [_call(call, found) for call in calls]
        whole = Call(path="", args=tuple(inputs), kwargs={}, outputs=outputs)
        return Trace(calls=(*made, whole), outputs=outputs, statistics={})

    def _run(
        self,
        wanted: Sequence[str],
        given: Mapping[str, Array],
        *,
        exact: bool,
        disturb: float,
        seed: int = 1,
        inputs: Sequence[str] = (),
    ) -> list[Array]:
        model = cut(self.model, wanted, inputs)
        if disturb:
            model = disturbed(model, disturb * self.unit, seed)
        if exact and self._has_precise:
            doubles = {name: _double(array) for name, array in given.items()}
            try:
                return run_by_reference(precise(model), doubles)
            except Exception as fault:  # an operator that the reference does not have in float64, or at all
                self._has_precise = False
                said = next(iter(str(fault).strip().splitlines()), type(fault).__name__)[:100]
                self.notes.append(f"The file has no float64: ONNX Runtime's float32 is the measure ({said}).")
        return run_by_runtime(model, given)

    def layer(
        self,
        path: str,
        call: Call,
        *,
        training: bool,
        exact: bool = False,
        disturb: float = 0.0,
        cotangents: Sequence[Array | None] | None = None,
        variant: Any = None,
    ) -> LayerRun:
        """The part of the file that the module is, on these inputs."""
        if path == "":
            given = dict(zip(self.inputs, call.args, strict=True))
            return LayerRun(outputs=tuple(self._run(self.outputs_, given, exact=exact, disturb=disturb)))
        enter = next(item for item in _in_order(self.network.scope) if item.scope.module.path == path)
        names = [value.name for value in enter.inputs]
        given = dict(self._given) | dict(zip(names, call.args, strict=True))
        wanted = [value.name for value in enter.outputs]
        return LayerRun(outputs=tuple(self._run(wanted, given, exact=exact, disturb=disturb, inputs=names)))

    def largest_index(self) -> int:
        """Below it every whole number is an index that any embedding has."""
        sizes = [
            settings["vocab_size"]
            for module in self.network.module.walk()
            for settings in module.arguments.values()
            if "vocab_size" in settings
        ]
        return min([*map(int, sizes), 256])

    def dropped(self, path: str, *, training: bool) -> float:
        """In evaluation nothing is."""
        return 0.0

    def loss(self, outputs: Sequence[Array], labels: Array | None, trainer: Any, *, exact: bool = False) -> float:
        """A file has none."""
        self._no_training()

    def stepper(self, optimizer: Any, *, exact: bool = False) -> Any:
        """A file has none."""
        self._no_training()

    def graded(
        self,
        inputs: Sequence[Array],
        labels: Array | None,
        trainer: Any,
        *,
        exact: bool = False,
        disturb: float = 0.0,
        seed: int = 0,
        keep: bool = False,
    ) -> Graded:
        """A file has no gradients."""
        self._no_training()

    def _no_training(self) -> NoReturn:
        raise ProofError("An ONNX file runs forward alone", at=self.name)


def _settings(module: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for settings in module.arguments.values():
        found |= {name: value for name, value in settings.items() if isinstance(value, PLAIN)}
    return found


def _in_order(scope: Any) -> Any:
    """Every call, in the order in which they end."""
    for step in scope.steps:
        if hasattr(step, "scope"):
            yield from _in_order(step.scope)
            yield step


def _call(enter: Any, found: Mapping[str, Array]) -> Call:
    return Call(
        path=enter.scope.module.path,
        args=tuple(found[value.name] for value in enter.inputs),
        kwargs={},
        outputs=tuple(found[value.name] for value in enter.outputs),
    )


def _double(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype == np.float32 else array
