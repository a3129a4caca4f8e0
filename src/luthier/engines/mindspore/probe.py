"""Statistics of a network from outside, without a change to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, nn
from numpy.typing import NDArray

from luthier.engines.mindspore.parameters import Named, put
from luthier.engines.statistics import Statistics, statistics_of
from luthier.errors import EngineError, unknown

__all__ = ["Probe"]


class Probe:
    """Weights and gradients are read where they lie; an activation is kept from the step after it was asked for.

    MindSpore calls no hooks in a graph: there a step whose activations were asked for is preceded by an eager pass.
    """

    def __init__(self, network: nn.Cell, named: Named, keys: Iterable[Parameter] = ()) -> None:
        self._network = network
        self._named = named
        self._keys = tuple(keys)  # beside the network's own
        self._asked: set[str] = set()
        self._outputs: dict[str, NDArray[Any]] = {}
        self.gradients: Any = None

    @property
    def is_asked(self) -> bool:
        """Whether an activation is wanted."""
        return bool(self._asked)

    def statistics(self, names: Iterable[str]) -> dict[str, Statistics]:
        """For each name that has a value by now."""
        arrays = {name: self._array(name) for name in names}
        return {name: statistics_of(array) for name, array in arrays.items() if array is not None}

    def _array(self, name: str) -> NDArray[Any] | None:
        kind, _, rest = name.partition("/")
        if kind == "activation":
            return self._activation(rest)
        trainable = {self._named.names[parameter.name]: parameter for parameter in self._named.trainable()}
        if kind not in ("weight", "gradient") or rest not in trainable:
            known = [f"{part}/{key}" for part in ("weight", "gradient") for key in trainable]
            sentence, hint = unknown("probe", name, known)
            raise EngineError(sentence, hint=hint)
        if kind == "weight":
            return np.asarray(trainable[rest].asnumpy())
        return np.asarray(self.gradients[list(trainable).index(rest)].asnumpy()) if self.gradients else None

    def first_non_finite(self) -> str | None:
        """The first parameter, in the network's order, whose gradient is not finite."""
        pairs = zip(self._named.trainable(), self.gradients, strict=True)
        return next((self._named.names[p.name] for p, g in pairs if not np.isfinite(g.asnumpy()).all()), None)

    def _activation(self, layer: str) -> NDArray[Any] | None:
        layers = dict(self._network.cells_and_names())
        if layer not in layers:
            sentence, hint = unknown("layer", layer, [name for name in layers if name])
            raise EngineError(sentence, hint=hint)
        self._asked.add(layer)
        return self._outputs.get(layer)

    @contextmanager
    def watching(self, evaluation: nn.Cell, images: Tensor, mode: int, *, joint: bool | None = None) -> Iterator[None]:
        """Keep what the layers asked for give during the step.

        `joint` is none for a network that has an eager pass to itself; where it sums over ranks, whether all of them
        know that this step has one.
        """
        if not (self.is_asked if joint is None or mode == mindspore.PYNATIVE_MODE else joint):
            yield
            return
        layers = dict(self._network.cells_and_names())
        hooks = [layers[name].register_forward_hook(self._keeper(name)) for name in self._asked]
        try:
            if mode == mindspore.PYNATIVE_MODE:
                yield
                return
            self._pass_eagerly(evaluation, images)
        finally:
            for hook in hooks:
                hook.remove()
        yield

    def _keeper(self, layer: str) -> Any:
        def keep(_cell: nn.Cell, _inputs: Any, output: Any) -> None:
            self._outputs[layer] = np.array(output.asnumpy())

        return keep

    def _pass_eagerly(self, evaluation: nn.Cell, images: Tensor) -> None:
        """Statistics and dropout's keys move in a training pass, and are put back."""
        moving = [parameter for parameter in self._network.get_parameters() if not parameter.requires_grad]
        moving += self._keys
        before = [(parameter, parameter.asnumpy().copy()) for parameter in moving]
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
        try:
            evaluation(images)
        finally:
            mindspore.set_context(mode=mindspore.GRAPH_MODE)
            for parameter, array in before:
                put(parameter, array)

    def close(self) -> None:
        """Let go of what was kept."""
        self._asked.clear()
        self._outputs.clear()
        self.gradients = None
