"""BatchNorm over the images of all ranks, on any device: PyTorch's own wants CUDA."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from luthier.engines.torch.group import TorchGroup

__all__ = ["JointBatchNorm", "join_batch_norms"]


class JointBatchNorm(_BatchNorm):
    """In training alone; it evaluates as any other."""

    group: TorchGroup

    def _check_input_dim(self, input: Tensor) -> None:  # noqa: A002 - PyTorch's name
        """Whatever the layer in whose place it stands took."""

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # a collective within a compiled graph: the graph breaks here instead
    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - PyTorch's name
        """What one process would make of the joint batch."""
        self._check_input_dim(input)
        if not self.training:
            return super().forward(input)
        output, mean, variance = Normalise.apply(  # type: ignore[no-untyped-call]
            input, self.weight, self.bias, self.eps, self.group
        )
        if self.track_running_stats:
            self._follow(mean, variance, input.numel() // input.shape[1] * self.group.ranks)
        return output  # type: ignore[no-any-return]

    @torch.no_grad()
    def _follow(self, mean: Tensor, variance: Tensor, count: int) -> None:
        assert self.num_batches_tracked is not None
        self.num_batches_tracked.add_(1)
        share = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        for running, value in ((self.running_mean, mean), (self.running_var, variance * (count / max(count - 1, 1)))):
            assert running is not None
            running.lerp_(value.to(running.dtype), share)


class Normalise(torch.autograd.Function):
    """The gradient through mean and variance reaches the images of every rank."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, group: TorchGroup) -> Any:
        axes = [0, *range(2, x.ndim)]
        variance, mean = torch.var_mean(x.float(), axes, correction=0)
        everyone = torch.zeros(group.ranks, 2, len(mean), device=x.device)
        everyone[group.rank] = torch.stack([mean, variance])
        group.sum(everyone)
        means, variances = everyone.double().unbind(1)
        mean = means.mean(0)
        variance = (variances.mean(0) + (means - mean).square().mean(0)).float()
        mean = mean.float()
        ctx.save_for_backward(x, weight, mean, variance)
        ctx.eps, ctx.group = eps, group
        ctx.mark_non_differentiable(mean, variance)
        normalised, *_ = torch.native_batch_norm(x, weight, bias, mean, variance, False, 0.0, eps)
        return normalised, mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """As through fixed statistics, and then what they owe to each image."""
        x, weight, mean, variance = ctx.saved_tensors
        through, of_weight, of_bias = torch.ops.aten.native_batch_norm_backward(
            gradients[0], x, weight, mean, variance, None, None, False, ctx.eps, [True, True, True]
        )
        joint = torch.stack([of_weight, of_bias]).float()
        ctx.group.sum(joint)
        along, across = joint / (x.numel() // x.shape[1] * ctx.group.ranks)
        inverse = torch.rsqrt(variance + ctx.eps)
        scale = inverse if weight is None else inverse * weight
        shape = (1, -1, *[1] * (x.ndim - 2))
        slope = (-scale * inverse * along).view(shape)
        shift = (scale * (mean * inverse * along - across)).view(shape)
        gradient = through + torch.addcmul(shift, x.float(), slope).to(through.dtype)
        return gradient, of_weight if weight is not None else None, of_bias if weight is not None else None, None, None


def join_batch_norms(module: nn.Module, group: TorchGroup) -> nn.Module:
    """Put one in the place of each BatchNorm, with its own parameters and buffers under the same names."""
    if isinstance(module, _BatchNorm) and not isinstance(module, nn.SyncBatchNorm):
        joint = JointBatchNorm(
            module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats
        )
        joint.__dict__.update({name: module.__dict__[name] for name in ("_parameters", "_buffers", "training")})
        joint.group = group
        return joint
    for name, child in module.named_children():
        joined = join_batch_norms(child, group)
        if joined is not child:
            setattr(module, name, joined)
    return module
