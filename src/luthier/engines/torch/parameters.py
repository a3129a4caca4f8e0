"""What kind each parameter is: decay treats normalisations and biases apart."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from luthier.errors import ModelError
from luthier.strategy import ParameterInfo

__all__ = ["parameter_infos", "require_storable"]

NORMS = (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.LocalResponseNorm)


def parameter_infos(module: nn.Module) -> tuple[ParameterInfo, ...]:
    """The trainable parameters in the network's order."""
    norms = {id(p) for layer in module.modules() if isinstance(layer, NORMS) for p in layer.parameters(recurse=False)}
    return tuple(
        ParameterInfo(
            name=name,
            shape=tuple(parameter.shape),
            kind="norm" if id(parameter) in norms else "bias" if name.endswith("bias") else "weight",
            bytes_each=parameter.element_size(),
        )
        for name, parameter in module.named_parameters()
        if parameter.requires_grad
    )


def require_storable(module: nn.Module, name: str) -> None:
    """A checkpoint holds arrays of kinds that both engines read: the first tensor of another kind is named."""
    for key, value in module.state_dict().items():
        if not isinstance(value, Tensor):
            raise ModelError(
                f"{name} keeps '{key}', a {type(value).__name__}, in its state, and a checkpoint holds arrays alone",
                at="model.name",
                hint="Make it a buffer, or derive it from the network's options.",
            )
        if value.dtype is torch.bfloat16 or value.is_complex():
            kind = str(value.dtype).removeprefix("torch.")
            raise ModelError(
                f"{name} has {kind} numbers in '{key}', and a checkpoint holds none",
                at="model.name",
                hint='Build it in float32; strategy.precision = "bfloat16" computes in bfloat16.',
            )
