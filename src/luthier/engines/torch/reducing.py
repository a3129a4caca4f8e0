"""Gradients, losses and BatchNorm's statistics of all ranks, summed after the backward pass.

Not DistributedDataParallel: its own hooks average what one backward pass gives, where a step here may have several
(accumulation), and it knows neither the loss nor who asks to stop, which travel along for nothing. What follows a
reduction (scale, clipping, update, moving average) then sees on every rank what one process would see.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from luthier.engines.group import JointLoss
from luthier.engines.splitting import group_ends
from luthier.engines.torch.group import TorchGroup
from luthier.engines.torch.joint_batch_norm import JointBatchNorm

__all__ = ["Reducer"]

LOOK_EVERY = 10  # steps, where a look at a device makes it wait


class Reducer:
    """Every step sums the same lengths on every rank, whatever its gradients are."""

    def __init__(self, group: TorchGroup, module: nn.Module, split: Sequence[int]) -> None:
        self._group = group
        self._parameters = [parameter for parameter in module.parameters() if parameter.requires_grad]
        ends = group_ends(split, len(self._parameters))
        self._parts = [self._parameters[start:end] for start, end in pairwise((0, *ends))]
        norms = (layer for layer in module.modules() if isinstance(layer, _NormBase))
        layers = [layer for layer in norms if not isinstance(layer, JointBatchNorm)]
        buffers = [buffer for layer in layers for buffer in (layer.running_mean, layer.running_var)]
        self._statistics = [buffer for buffer in buffers if buffer is not None]
        self._steps = 0

    @torch.no_grad()
    def reduce(self, loss: Tensor) -> JointLoss:
        """Put the mean of all ranks into every gradient and statistic, and the losses of all into one."""
        self._steps += 1
        there = torch.tensor([float(parameter.grad is not None) for parameter in self._parameters], device=loss.device)
        own = torch.zeros(self._group.ranks + 1, device=loss.device)
        own[self._group.rank] = loss
        own[-1] = float(self._group.asks_to_stop)
        sums = [_flat([_gradient(parameter) for parameter in part]) for part in self._parts]
        told = torch.cat([own, there, *(buffer.reshape(-1).float() for buffer in self._statistics)])
        self._group.sum(*sums, told)
        first, num = self._group.ranks + 1, len(self._parameters)
        losses, asked, present, statistics = told.tensor_split([first - 1, first, first + num])
        self._take(sums, present)
        _put(statistics.div_(self._group.ranks), self._statistics)
        if loss.device.type == "cpu" or self._steps % LOOK_EVERY == 0:
            self._group.stop_was_asked = bool(asked > 0)
        return JointLoss(lambda: losses.cpu().numpy())

    def _take(self, sums: Sequence[Tensor], present: Tensor) -> None:
        """A parameter that had a gradient on some rank has one on every rank."""
        absent = [i for i, parameter in enumerate(self._parameters) if parameter.grad is None]
        for i in absent:
            if present[i] > 0:
                self._parameters[i].grad = torch.zeros_like(self._parameters[i])
        for part, total in zip(self._parts, sums, strict=True):
            total.div_(self._group.ranks)
            pieces = _pieces(total, part)
            pairs = [(p.grad, piece.view(p.shape)) for p, piece in zip(part, pieces, strict=True) if p.grad is not None]
            if pairs:
                torch._foreach_copy_([grad for grad, _ in pairs], [piece for _, piece in pairs])


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def _put(values: Tensor, into: Sequence[Tensor]) -> None:
    for buffer, piece in zip(into, _pieces(values, into), strict=True):
        buffer.copy_(piece.view(buffer.shape))


def _pieces(values: Tensor, of: Sequence[Tensor]) -> Sequence[Tensor]:
    ends = list(accumulate(tensor.numel() for tensor in of))
    return values.tensor_split(ends[:-1]) if ends else ()
