"""What public collections of models do in their forward passes, each in a small network of its own."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn

__all__ = ["Features", "FrozenAngles", "Idle", "Named", "NormAct", "NormNet", "Unused"]


class NormAct(nn.BatchNorm2d):
    """A batch normalisation with an activation, by the function, as timm has it."""

    def forward(self, x: Tensor) -> Tensor:
        given = self.running_mean, self.running_var, self.weight, self.bias
        return torch.relu(nn.functional.batch_norm(x, *given, self.training, self.momentum or 0.0, self.eps))


class NormNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, bias=False)
        self.bn = NormAct(4, momentum=0.3)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.bn(self.conv(x))
        return y


class FrozenAngles(nn.Module):
    """Part of the forward pass takes no gradients, as rotary positions do."""

    def __init__(self) -> None:
        super().__init__()
        self.turn, self.dense = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            angle = self.turn(x).cos()
        y: Tensor = self.dense(x) * angle
        return y


class Dense(nn.ModuleDict):
    """A dict of layers with a forward pass of its own, as a dense block has it."""

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.values():
            x = torch.cat([x, layer(x)], 1)
        return x


class Features(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = Dense({"one": nn.Linear(4, 2), "two": nn.Sequential(nn.Linear(6, 3), nn.ReLU())})
        self.heads = nn.ModuleDict({"out": nn.Sequential(nn.Linear(9, 2))})

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.heads["out"](self.body(x))
        return y


class Chain(nn.Sequential):
    """A chain whose layers have names that no attribute can have, as torchvision's RegNet."""


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stage = Chain(OrderedDict([("block-0", nn.Linear(4, 4)), ("block-1", nn.Linear(4, 4))]))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.stage(x)
        return y


class Unused(nn.Module):
    """A pooler that is called, and whose result nobody takes."""

    def __init__(self) -> None:
        super().__init__()
        self.dense, self.pooler = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        x = self.dense(x)
        self.pooler(x)
        return x


class Share(nn.Module):
    """Stochastic depth of a share that may be zero."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.bernoulli(torch.full((len(x), 1), 1 - self.p)) if self.training and self.p else x


class Idle(nn.Module):
    def __init__(self, p: float = 0.0) -> None:
        super().__init__()
        self.dense, self.depth = nn.Linear(4, 4), Share(p)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.depth(self.dense(x))
        return y
