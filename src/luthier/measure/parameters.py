"""How many parameters each layer has, and how many bytes they take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["Layer", "Sizes", "parameters_by_layer", "sizes"]


class Layer(Struct, frozen=True, kw_only=True):
    """A module with parameters of its own; those shared with a layer before it count there."""

    name: str
    kind: str
    shapes: dict[str, tuple[int, ...]]
    trainable: int
    frozen: int = 0


class Sizes(Struct, frozen=True, kw_only=True):
    """Stored bytes by dtype; what the score calls size is the trainable parameters' alone."""

    trainable: dict[str, int]
    frozen: dict[str, int]
    buffers: dict[str, int]  # such as BatchNorm's statistics, which a file has to hold too


def parameters_by_layer(module: nn.Module) -> tuple[Layer, ...]:
    """In the network's order."""
    seen: set[int] = set()
    layers = []
    for name, layer in module.named_modules():
        own = {key: value for key, value in layer.named_parameters(recurse=False) if id(value) not in seen}
        seen |= {id(value) for value in own.values()}
        if own:
            trainable = sum(value.numel() for value in own.values() if value.requires_grad)
            layers.append(
                Layer(
                    name=name,
                    kind=type(layer).__name__,
                    shapes={key: tuple(value.shape) for key, value in own.items()},
                    trainable=trainable,
                    frozen=sum(value.numel() for value in own.values()) - trainable,
                )
            )
    return tuple(layers)


def sizes(module: nn.Module) -> Sizes:
    """Each tensor once, however many names it has."""
    parameters = list(module.parameters())
    return Sizes(
        trainable=_bytes(value for value in parameters if value.requires_grad),
        frozen=_bytes(value for value in parameters if not value.requires_grad),
        buffers=_bytes(module.buffers()),
    )


def _bytes(tensors: Iterable[Tensor]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for tensor in tensors:
        counted[str(tensor.dtype).removeprefix("torch.")] += tensor.numel() * tensor.element_size()
    return dict(counted)
