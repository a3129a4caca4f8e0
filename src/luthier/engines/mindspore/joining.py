"""What all ranks make of a step together, within its graph."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore import dtype as mstype
from mindspore.nn.layer.normalization import _BatchNorm

from luthier.engines.mindspore.group import MindSporeGroup
from luthier.engines.splitting import group_ends

__all__ = ["Joint", "JointBatchNorm", "join_batch_norms", "statistics_of_norms"]


class Joint(nn.Cell):
    """The mean of every gradient and of BatchNorm's statistics, and the losses of all.

    Each group of `split` is one array and one all-reduce on every backend: what MindSpore's own
    `all_reduce_fusion_config` asks of the compiler, done here, since its CPU backend fuses nothing.
    """

    def __init__(
        self,
        group: MindSporeGroup,
        parameters: Sequence[Parameter],
        statistics: Sequence[Parameter],
        split: Sequence[int],
    ) -> None:
        super().__init__(auto_prefix=False)
        self.ranks = group.ranks
        self.share = 1.0 / group.ranks
        self.own = Tensor(np.eye(group.ranks, dtype=np.float32)[group.rank])
        self.shapes = tuple(tuple(parameter.shape) for parameter in parameters)
        self.sizes = tuple(prod(shape) for shape in self.shapes)
        self.parts = tuple(pairwise((0, *group_ends(split, len(self.shapes)))))
        self.statistics = ParameterTuple(statistics)
        self.lengths = tuple(prod(parameter.shape) for parameter in statistics)
        self.sum = ops.AllReduce()

    def construct(self, gradients: Any, loss: Tensor, asks: Tensor) -> tuple[Any, Tensor, Tensor]:
        """The gradients, the joint loss, and the losses of all ranks with how many ask to stop and how many to look."""
        joint = ()
        for start, end in self.parts:
            joint = joint + self.means(gradients[start:end], start, end)
        told = [loss * self.own, asks]
        for statistic in self.statistics:
            told.append(ops.depend(statistic, loss).reshape(-1))  # noqa: PERF401 - a graph has no such comprehension
        summed = self.sum(ops.concat(told))
        at = self.ranks + 2
        done = ()
        for i in range(len(self.lengths)):
            value = summed[at : at + self.lengths[i]] * self.share
            done = done + (ops.assign(self.statistics[i], value),)  # type: ignore[assignment]  # noqa: RUF005 - a graph takes no unpacking
            at = at + self.lengths[i]
        told_all = ops.depend(summed[: self.ranks + 2], done)
        return joint, told_all[: self.ranks].mean(), told_all

    def means(self, gradients: Any, start: int, end: int) -> Any:
        """Of the parameters from `start` to before `end`."""
        flat = []
        for gradient in gradients:
            flat.append(gradient.reshape(-1))  # noqa: PERF401
        summed = self.sum(ops.concat(flat)) * self.share
        found = ()
        at = 0
        for i in range(start, end):
            found = found + (summed[at : at + self.sizes[i]].reshape(self.shapes[i]),)  # type: ignore[assignment]  # noqa: RUF005
            at = at + self.sizes[i]
        return found


class JointBatchNorm(nn.Cell):
    """BatchNorm over the images of all ranks in training; it evaluates by the layer in whose place it stands."""

    def __init__(self, own: nn.Cell, group: MindSporeGroup) -> None:
        super().__init__(auto_prefix=False)
        self.own = own
        self.ranks, self.channels = group.ranks, own.num_features
        self.eps, self.share = float(own.eps), float(own.momentum)  # of the new statistic: MindSpore turns it round
        self.row = Tensor(np.eye(group.ranks, dtype=np.float32)[group.rank].reshape(-1, 1))
        self.sum = ops.AllReduce()

    def construct(self, x: Tensor) -> Tensor:
        """What one process would make of the joint batch."""
        if not self.training:
            return self.own(x)
        given = x
        x = x.astype(mstype.float32)
        axes = (0, 2, 3) if x.ndim == 4 else (0,)
        shape = (1, -1, 1, 1) if x.ndim == 4 else (1, -1)
        mean = ops.mean(x, axes)
        variance = ops.mean(ops.square(x - mean.reshape(shape)), axes)
        every = self.sum(self.row * ops.concat((mean, variance)).reshape(1, -1))
        means, variances = every[:, : self.channels], every[:, self.channels :]
        mean = ops.mean(means, 0)
        variance = ops.mean(variances, 0) + ops.mean(ops.square(means - mean), 0)
        scale = self.own.gamma * ops.rsqrt(variance + self.eps)
        followed = self.follow(ops.stop_gradient(mean), ops.stop_gradient(variance), x.size // self.channels)
        x = ops.depend(x, followed)
        normalised = (x - mean.reshape(shape)) * scale.reshape(shape) + self.own.beta.reshape(shape)
        return normalised.astype(given.dtype)

    def follow(self, mean: Tensor, variance: Tensor, count: int) -> Any:
        """The running statistics, with the unbiased variance of the joint batch."""
        joint = count * self.ranks
        unbiased = variance * (joint / max(joint - 1, 1))
        old_mean, old_variance = self.own.moving_mean, self.own.moving_variance
        return (
            ops.assign(old_mean, old_mean + (mean - old_mean) * self.share),
            ops.assign(old_variance, old_variance + (unbiased - old_variance) * self.share),
        )


def join_batch_norms(network: nn.Cell, group: MindSporeGroup) -> None:
    """Put one in the place of each BatchNorm, whose parameters keep their names."""
    for _, parent in list(network.cells_and_names()):
        for name, child in list(parent.name_cells().items()):
            if isinstance(child, _BatchNorm) and not isinstance(parent, JointBatchNorm):
                parent._cells[name] = JointBatchNorm(child, group)
                if isinstance(parent, nn.SequentialCell):
                    parent.cell_list = list(parent._cells.values())


def statistics_of_norms(network: nn.Cell) -> list[Parameter]:
    """Those that each rank would follow alone."""
    cells = [cell for _, cell in network.cells_and_names()]
    joined = {id(cell.own) for cell in cells if isinstance(cell, JointBatchNorm)}
    layers = [cell for cell in cells if isinstance(cell, _BatchNorm) and id(cell) not in joined]
    return [statistic for layer in layers for statistic in (layer.moving_mean, layer.moving_variance)]
