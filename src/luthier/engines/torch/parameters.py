"""What kind each parameter is: decay treats normalisations and biases apart."""

from __future__ import annotations

from torch import nn
from torch.nn.modules.batchnorm import _NormBase

from luthier.strategy import ParameterInfo

__all__ = ["parameter_infos"]

NORMS = (_NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.LocalResponseNorm)


def parameter_infos(module: nn.Module) -> tuple[ParameterInfo, ...]:
    """The trainable parameters in the network's order."""
    norms = {id(p) for layer in module.modules() if isinstance(layer, NORMS) for p in layer.parameters(recurse=False)}
    return tuple(
        ParameterInfo(
            name=name,
            shape=tuple(parameter.shape),
            kind="norm" if id(parameter) in norms else "bias" if name.endswith("bias") else "weight",
        )
        for name, parameter in module.named_parameters()
        if parameter.requires_grad
    )
