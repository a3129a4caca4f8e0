"""Networks that ask more of a port than the zoo's: lists, missing branches, shared weights, what has no rule."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as f


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, dim = x.shape
        qkv = self.qkv(x).reshape(batch, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = f.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(batch, tokens, dim))


class Block(nn.Module):
    """Attention, then a perceptron, each added to what comes in."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * dim, dim))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    places: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.register_buffer("places", torch.randn(1, 17, 16), persistent=False)
        self.blocks = nn.ModuleList([Block(16, 2) for _ in range(3)])
        self.head = nn.Linear(16, 5)

    def forward(self, image: Tensor) -> Tensor:
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.places
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])


class Residual(nn.Module):
    """The shortcut is None where nothing changes, as torchvision has it."""

    def __init__(self, before: int, after: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.relu = nn.ReLU(inplace=True)
        self.downsample: nn.Sequential | None = None
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        identity: Tensor = x
        out = self.bn1(self.conv1(x))
        if self.downsample is not None:
            identity = self.downsample(x)
        out = out + identity
        return self.relu(out)


class Squeeze(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc1 = nn.Conv2d(channels, channels // 4, 1)
        self.fc2 = nn.Conv2d(channels // 4, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        scale = f.relu(self.fc1(x.mean((2, 3), keepdim=True)))
        return x * f.hardsigmoid(self.fc2(scale))


class Pyramid(nn.Module):
    """Two scales, the smaller one enlarged and joined; two outputs by name."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Residual(3, 8)
        self.layer1 = nn.Sequential(Residual(8, 8), Squeeze(8))
        self.layer2 = nn.Sequential(Residual(8, 16, 2), Residual(16, 16), Squeeze(16))
        self.lateral = nn.Conv2d(16, 8, 1)
        self.act = nn.Hardswish()

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        high = self.layer1(self.stem(x))
        low = self.layer2(high)
        up = f.interpolate(self.lateral(low), scale_factor=2, mode="bilinear")
        return {"high": self.act(torch.cat([high, up], 1)), "low": low}


class Tied(nn.Module):
    """The last layer's weight is the embedding's."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.rnn = nn.GRU(8, 8, batch_first=True)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: Tensor) -> Tensor:
        out, _ = self.rnn(self.embed(ids))
        return self.head(out)


class Partly(nn.Module):
    """An operator without a rule stands between two layers that have one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.last = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.special.bessel_j0(self.first(x))
        return self.last(x)


class Choosing(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2 if x.sum() > 0 else x


class Gate(nn.Module):
    """The data chooses which branch is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))
        self.positive = nn.Linear(8, 8)
        self.negative = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() * 0 == 0:
            return self.positive(x) * self.scale
        return self.negative(x)


class Leaving(nn.Module):
    """A layer, and then a way through NumPy."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.from_numpy(np.sort(self.last(x).numpy()))


class Halves(nn.Module):
    """Parts that can be read beside some that cannot, and one that is never called."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.gates = nn.ModuleList([Gate(), Gate()])
        self.head = Leaving()
        self.spare = nn.Sequential(nn.Linear(8, 8), Squeeze(8))

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for gate in self.gates:
            x = gate(x)
        return self.head(x)


class Chained(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Linear(8, 8), nn.Sequential(nn.ReLU(), Leaving()), nn.Linear(4, 4))
