"""Statistics of a network from outside, without a change to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from luthier.engines.statistics import Statistics, statistics_of
from luthier.errors import EngineError, unknown

__all__ = ["Probe"]


class Probe:
    """Weights and gradients are read where they lie; an activation is kept from the step after it was asked for."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._outputs: dict[str, Tensor] = {}
        self._hooks: dict[str, RemovableHandle] = {}

    def statistics(self, names: Iterable[str]) -> dict[str, Statistics]:
        """For each name that has a value by now."""
        tensors = {name: self._tensor(name) for name in names}
        return {
            name: statistics_of(tensor.detach().float().cpu().numpy())
            for name, tensor in tensors.items()
            if tensor is not None
        }

    def _tensor(self, name: str) -> Tensor | None:
        kind, _, rest = name.partition("/")
        if kind == "activation":
            return self._activation(rest)
        parameters = dict(self._module.named_parameters())
        if kind not in ("weight", "gradient") or rest not in parameters:
            known = [f"{part}/{key}" for part in ("weight", "gradient") for key in parameters]
            sentence, hint = unknown("probe", name, known)
            raise EngineError(sentence, hint=hint)
        return parameters[rest] if kind == "weight" else parameters[rest].grad

    def _activation(self, layer: str) -> Tensor | None:
        if layer not in self._hooks:
            layers = dict(self._module.named_modules())
            if layer not in layers:
                sentence, hint = unknown("layer", layer, layers)
                raise EngineError(sentence, hint=hint)

            def keep(_module: nn.Module, _inputs: Any, output: Any) -> None:
                self._outputs[layer] = output

            self._hooks[layer] = layers[layer].register_forward_hook(keep)
        return self._outputs.get(layer)

    def close(self) -> None:
        """Take the hooks off again."""
        for hook in self._hooks.values():
            hook.remove()
        self._hooks.clear()
        self._outputs.clear()
