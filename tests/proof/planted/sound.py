"""Ports in which nothing is wrong: whatever the proof finds here is a false alarm."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore
import torch
from mindspore import Tensor, nn, ops

from luthier import zoo
from luthier.recipe import Model
from luthier.zoo.mindspore import build
from tests.proof.planted.fault import Sound, between, chain
from tests.proof.planted.layers import LAYER_SOUND
from tests.proof.planted.structures import mlayers, tlayers

__all__ = ["SOUND"]


def of_the_zoo(name: str, **options: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    model = Model(name=name, options=options)
    return (
        lambda: zoo.build(model, shape=(32, 32, 3), num_classes=10),
        lambda: build(model, shape=(32, 32, 3), num_classes=10),
    )


class Block(torch.nn.Module):
    """A transformer's encoder block before its normalisations."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(16), torch.nn.LayerNorm(16)
        self.qkv, self.out = torch.nn.Linear(16, 48), torch.nn.Linear(16, 16)
        self.up, self.down = torch.nn.Linear(16, 32), torch.nn.Linear(32, 16)
        self.act = torch.nn.GELU()
        self.drop = torch.nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.reshape(x.shape[0], -1, 4, 4).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.out(attended.transpose(1, 2).reshape(x.shape)))
        return x + self.drop(self.down(self.act(self.up(self.norm2(x)))))


class MsBlock(nn.Cell):  # type: ignore[misc]
    """The same, composed."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((16,), epsilon=1e-5), nn.LayerNorm((16,), epsilon=1e-5)
        self.qkv, self.out = nn.Dense(16, 48), nn.Dense(16, 16)
        self.up, self.down = nn.Dense(16, 32), nn.Dense(32, 16)
        self.act = nn.GELU(approximate=False)
        self.drop = nn.Dropout(p=0.1)

    def construct(self, x: Tensor) -> Tensor:
        parts = ops.chunk(self.qkv(self.norm1(x)), 3, -1)
        q, k, v = (ops.transpose(part.reshape(x.shape[0], -1, 4, 4), (0, 2, 1, 3)) for part in parts)
        scores = ops.matmul(q, ops.swapaxes(k, -1, -2)) * 0.5
        seen = ops.tril(ops.ones((x.shape[1], x.shape[1]), mindspore.float32)) > 0
        weights = ops.softmax(ops.masked_fill(scores, ops.logical_not(seen), -1e9), -1)
        attended = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3)).reshape(x.shape)
        x = x + self.drop(self.out(attended))
        return x + self.drop(self.down(self.act(self.up(self.norm2(x)))))


class Text(torch.nn.Module):
    """An embedding, an LSTM and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(30, 8)
        self.lstm = torch.nn.LSTM(8, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = torch.nn.Linear(12, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.fc(self.lstm(self.embedding(ids))[0][:, -1])


class MsText(nn.Cell):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 8)
        self.lstm = nn.LSTM(8, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Dense(12, 4)

    def construct(self, ids: Tensor) -> Tensor:
        return self.fc(self.lstm(self.embedding(ids))[0][:, -1])


def half() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Dense layers in float16."""
    layers = {"one": (12, 20), "two": (20, 6)}
    return (
        lambda: chain({k: partial(torch.nn.Linear, *s) for k, s in layers.items()})().half(),
        lambda: between({k: partial(nn.Dense, *s, dtype=mindspore.float16) for k, s in layers.items()})(),
    )


IMAGE = "4,3,32,32"
LARGE: list[tuple[str, tuple[Callable[[], Any], Callable[[], Any]], str, list[int]]] = [
    ("LeNet-5", of_the_zoo("lenet5"), IMAGE, [0, 1, 2]),
    ("slim", of_the_zoo("slim", width=0.25), IMAGE, [0, 1]),
    ("slim with residuals and SiLU", of_the_zoo("slim", width=0.25, residual=True, activation="silu"), IMAGE, [0]),
    ("narrow ResNet-18", of_the_zoo("resnet18", width=0.0625, stem="cifar"), IMAGE, [0, 1]),
    ("narrow ResNet-50", of_the_zoo("resnet50", width=0.0625, stem="cifar"), IMAGE, [0]),
    ("a transformer's block", (Block, MsBlock), "3,7,16", [0, 1, 2]),
    ("an embedding with an LSTM", (Text, MsText), "5,9:int64", [0, 1, 2]),
    ("the network of the planted trainings", (chain(tlayers()), between(mlayers())), "4,4,8,8", [0, 1]),
    ("dense layers in float16", half(), "6,12:float16", [0, 1]),
]
SOUND = [
    Sound(name=f"{name}, seed {seed}", reference=sides[0], candidate=sides[1], inputs=[shape], options={"seed": seed})
    for name, sides, shape, seeds in LARGE
    for seed in seeds
] + [
    Sound(name=f"without {name}", reference=reference, candidate=candidate, inputs=[shape], options={"steps": 2})
    for name, reference, candidate, shape in LAYER_SOUND
]
