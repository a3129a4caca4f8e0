"""A MindSpore Cell as the candidate of a proof, run eagerly: MindSpore calls no hooks in a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mindspore
import numpy as np
from mindspore import Tensor, nn, ops

from luthier.proof.failing import telling
from luthier.proof.mindspore.arrays import array_of, arrays_in, tensors_of
from luthier.proof.mindspore.losses import loss_of
from luthier.proof.mindspore.steppers import OwnStepper, SettledStepper
from luthier.proof.network import (
    Array,
    Arrays,
    Call,
    Graded,
    Layer,
    LayerRun,
    ParameterFact,
    Trace,
    floating,
    leaves_of,
    mapped,
)
from luthier.proof.places import place_of
from luthier.proof.trainer import Settled

__all__ = ["MindSporeCandidate"]

DROPOUTS = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)
PLAIN = (bool, int, float, str, tuple, type(None))
ONES = 200_000
PLUMBING = (str(Path(mindspore.__file__).parent), str(Path(__file__).parents[1]))


class MindSporeCandidate:
    """The user's own Cell: weights, statistics and dropout are put back when it is closed."""

    framework = "mindspore"
    trains = True

    def __init__(self, cell: nn.Cell, name: str) -> None:
        self.name = name
        self.notes: list[str] = []
        self.cell = cell
        self._mode = mindspore.get_context("mode")
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        self._cells: dict[str, nn.Cell] = dict(cell.cells_and_names())
        self._parameters = {parameter.name: parameter for parameter in cell.get_parameters()}
        self._before = self.arrays()
        self._was_training = cell.training
        self._dropouts = {
            path: (part, float(part.keep_prob)) for path, part in self._cells.items() if isinstance(part, DROPOUTS)
        }
        for part, _ in self._dropouts.values():
            part.keep_prob = 1.0
        floats = [p.dtype for p in self._parameters.values() if p.dtype in FLOATS]
        self.dtype = floats[0] if floats else mindspore.float32
        self.names: Mapping[str, str] = {}

    def close(self) -> None:
        """Give the Cell back as it was."""
        self.load(self._before)
        for part, keep in self._dropouts.values():
            part.keep_prob = keep
        self.cell.set_train(self._was_training)
        mindspore.set_context(mode=self._mode)

    def layers(self) -> list[Layer]:
        """In the order of construction."""
        return [
            Layer(
                path=path,
                kind=type(part).__name__,
                place=place_of(
                    part, self._cells.get(path.rpartition(".")[0]) if path else None, path.rpartition(".")[2]
                ),
                settings=_settings(part),
                is_dropout=path in self._dropouts,
            )
            for path, part in self._cells.items()
        ]

    def parameters(self) -> list[ParameterFact]:
        """In the Cell's order."""
        owners = {
            id(parameter): path for path, part in self._cells.items() for parameter in part.get_parameters(expand=False)
        }
        return [
            ParameterFact(
                name=name,
                shape=tuple(parameter.shape),
                dtype=str(parameter.dtype).lower(),
                trainable=bool(parameter.requires_grad),
                owner=owners.get(id(parameter), ""),
            )
            for name, parameter in self._parameters.items()
        ]

    def arrays(self) -> Arrays:
        """Copies."""
        return {name: array_of(parameter) for name, parameter in self._parameters.items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Some or all."""
        for name, array in arrays.items():
            parameter = self._parameters[name]
            parameter.set_data(Tensor(np.asarray(array, order="C"), parameter.dtype))

    @contextmanager
    def _at(self, *, training: bool, keep: bool = False) -> Iterator[None]:
        """In a mode; what moves without a gradient is put back."""
        still = [p for p in self._parameters.values() if not p.requires_grad]
        before = [(parameter, array_of(parameter)) for parameter in still]
        if self.cell.training != training:
            self.cell.set_train(training)
        yield
        if not keep:
            for parameter, array in before:
                parameter.set_data(Tensor(array, parameter.dtype))

    def _statistics(self, part: nn.Cell) -> Arrays:
        return {p.name: array_of(p) for p in part.get_parameters() if not p.requires_grad and p.dtype in FLOATS}

    def part(self, path: str) -> nn.Cell:
        """A Cell by its path."""
        return self._cells[path]

    def outputs(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """In evaluation."""
        with self._at(training=False), telling(PLUMBING):
            return arrays_in(self.cell(*tensors_of(list(inputs), self.dtype)))

    def trace(self, inputs: Sequence[Array], *, training: bool) -> Trace:
        """Run freely, and keep every layer's outputs."""
        calls: list[Call] = []

        def keep(path: str) -> Any:
            def kept(_cell: nn.Cell, _args: Any, output: Any) -> None:
                calls.append(Call(path=path, args=(), kwargs={}, outputs=arrays_in(output)))

            return kept

        with self._at(training=training):
            hooks = [part.register_forward_hook(keep(path)) for path, part in self._cells.items() if path]
            try:
                with telling(PLUMBING):
                    outputs = arrays_in(self.cell(*tensors_of(list(inputs), self.dtype)))
            finally:
                for hook in hooks:
                    hook.remove()
            statistics = self._statistics(self.cell)
        calls.append(Call(path="", args=(), kwargs={}, outputs=outputs))
        return Trace(calls=tuple(calls), outputs=outputs, statistics=statistics)

    def layer(
        self, path: str, call: Call, *, training: bool, cotangents: Sequence[Array | None] | None = None
    ) -> LayerRun:
        """Run one layer on the reference's inputs."""
        part = self._cells[path]
        given = tensors_of((call.args, call.kwargs), self.dtype)
        with self._at(training=training):
            if cotangents is None:
                return LayerRun(outputs=arrays_in(part(*given[0], **given[1])), statistics=self._statistics(part))
            return self._graded_layer(part, call, given, cotangents)

    def _graded_layer(self, part: nn.Cell, call: Call, given: Any, cotangents: Sequence[Array | None]) -> LayerRun:
        """The sum of outputs times cotangents, and its gradients."""
        leaves = leaves_of(given)
        places = [i for i, leaf in enumerate(leaves_of((call.args, call.kwargs))) if floating(leaf)]
        weights = [p for p in part.get_parameters() if p.requires_grad]
        wanted = [None if c is None else Tensor(np.asarray(c), mindspore.float32) for c in cotangents]

        def scalar(*moving: Any) -> Any:
            current = list(leaves)
            for place, value in zip(places, moving, strict=True):
                current[place] = value
            following = iter(current)
            args, kwargs = mapped(given, lambda _: next(following))
            outputs = part(*args, **kwargs)
            tensors = [leaf for leaf in leaves_of(outputs) if isinstance(leaf, Tensor)]
            parts = [
                (tensor.astype(mindspore.float32) * cotangent).sum()
                for tensor, cotangent in zip(tensors, wanted, strict=True)
                if cotangent is not None
            ]
            return sum(parts[1:], parts[0]), outputs

        position = tuple(range(len(places))) if places else None
        graded = mindspore.value_and_grad(scalar, position, weights or None, has_aux=True)
        (_, outputs), found = graded(*(leaves[place] for place in places))
        of_inputs, of_weights = _parted(found, bool(places), bool(weights))
        return LayerRun(
            outputs=arrays_in(outputs),
            statistics=self._statistics(part),
            input_gradients=tuple(array_of(gradient) for gradient in of_inputs),
            gradients={p.name: array_of(g) for p, g in zip(weights, of_weights, strict=True)},
        )

    def graded(self, inputs: Sequence[Array], labels: Array | None, trainer: Any, *, keep: bool = False) -> Graded:
        """One training pass."""
        given = tensors_of(list(inputs), self.dtype)
        wanted = None if labels is None else tensors_of(labels, self.dtype)
        parameters = self.cell.trainable_params()
        aside: list[bool] = []
        with self._at(training=True, keep=keep), telling(PLUMBING):
            if hasattr(trainer, "gradients"):
                loss, gradients = trainer.gradients(self.cell, *given, wanted)
            else:

                def pass_forward(*tensors: Any) -> Any:
                    loss = loss_of(self.cell(*tensors), wanted, trainer)
                    aside.append(isinstance(loss, tuple))
                    return loss

                loss, gradients = mindspore.value_and_grad(pass_forward, None, parameters)(*given)
            statistics = self._statistics(self.cell)
        return Graded(
            loss=float(array_of(loss[0] if isinstance(loss, tuple) else loss)),
            gradients={p.name: array_of(g) for p, g in zip(parameters, gradients, strict=True)},
            statistics=statistics,
            more_than_a_loss=any(aside),
        )

    def loss(self, outputs: Sequence[Array], labels: Array | None, trainer: Any) -> float:
        """Of given outputs."""
        given = tensors_of(list(outputs), self.dtype)
        wanted = None if labels is None else tensors_of(labels, self.dtype)
        found = loss_of(given[0] if len(given) == 1 else tuple(given), wanted, trainer)
        array = array_of(found[0] if isinstance(found, tuple) else found)
        if array.size != 1:
            raise NotAScalar(array.shape)
        return float(array.reshape(()))

    def dropped(self, path: str, *, training: bool) -> float:
        """Of many ones."""
        part, keep = self._dropouts[path]
        shape = (1, ONES, *(1,) * {nn.Dropout1d: 1, nn.Dropout2d: 2, nn.Dropout3d: 3}.get(type(part), 0))
        part.keep_prob = keep
        was = part.training
        part.set_train(training)
        try:
            return float((part(ops.ones(shape, mindspore.float32)).asnumpy() == 0).mean())
        finally:
            part.keep_prob = 1.0
            part.set_train(was)

    def stepper(self, optimizer: Any) -> Any:
        """Works on the Cell itself: whoever steps puts the weights back."""
        with telling(PLUMBING):
            if isinstance(optimizer, Settled):
                return SettledStepper(self.cell, optimizer, self.names)
            return OwnStepper(self.cell, optimizer(self.cell))


FLOATS = (mindspore.float32, mindspore.float16, mindspore.bfloat16, mindspore.float64)


class NotAScalar(Exception):
    """A loss that was not reduced."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        super().__init__(f"the loss has the shape {shape}")


def _settings(part: nn.Cell) -> dict[str, Any]:
    own = {
        name: value
        for name, value in vars(part).items()
        if not name.startswith("_") and isinstance(value, PLAIN) and name not in BOOKKEEPING
    }
    return {name: value for name, value in own.items() if not isinstance(value, tuple) or len(value) < 9}


BOOKKEEPING = {"training", "requires_grad", "cls_name", "instance_name", "param_prefix", "pynative", "phase"}


def _parted(found: Any, inputs: bool, weights: bool) -> tuple[Sequence[Any], Sequence[Any]]:
    """MindSpore gives a pair where both were asked for, and one gradient without its tuple where it is alone."""
    if inputs and weights:
        of_inputs, of_weights = found
    else:
        of_inputs, of_weights = (found, ()) if inputs else ((), found if weights else ())
    return tuple(leaf for leaf in leaves_of(of_inputs)), tuple(leaf for leaf in leaves_of(of_weights))
