"""Networks that are exported, and how."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from luthier.recipe import Model
from luthier.zoo import build


def lenet5() -> nn.Module:
    return build(Model(name="lenet5"), shape=(32, 32, 3), num_classes=10)


def resnet18() -> nn.Module:
    return build(Model(name="resnet18"), shape=(32, 32, 3), num_classes=10)


def slim() -> nn.Module:
    return build(Model(name="slim"), shape=(32, 32, 3), num_classes=10)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.pos = nn.Parameter(torch.randn(1, 10, 16))
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 5)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.encoder(self.embed(ids) + self.pos).mean(1))
        return out


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 12, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(24, 6)
        self.fc = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, _ = self.lstm(x)
        x, _ = self.gru(x)
        out: torch.Tensor = self.fc(x[:, -1])
        return out


class Down(nn.Module):
    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, padding=1)
        self.norm = nn.GroupNorm(2, after)
        self.act = nn.SiLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.act(self.norm(self.conv(x)))
        return out


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Down(3, 8)
        self.pool = nn.MaxPool2d(2)
        self.second = Down(8, 16)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.third = Down(16, 8)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        high = self.first(x)
        low = self.second(self.pool(high))
        low = torch.nn.functional.interpolate(self.up(low), size=(16, 16), mode="bilinear")
        out: torch.Tensor = self.head(self.drop(self.third(torch.cat([high, low], 1))))
        return out


CASES: Mapping[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor]]] = {
    "lenet5": (lenet5, lambda: torch.randn(2, 3, 32, 32)),
    "resnet18": (resnet18, lambda: torch.randn(2, 3, 32, 32)),
    "slim": (slim, lambda: torch.randn(2, 3, 32, 32)),
    "encoder": (Encoder, lambda: torch.randint(0, 50, (2, 10))),
    "recurrent": (Recurrent, lambda: torch.randn(2, 7, 8)),
    "unet": (UNet, lambda: torch.randn(2, 3, 16, 16)),
}


def export(name: str, path: Path, **options: Any) -> Path:
    """By PyTorch's exporter, with an open batch."""
    torch.manual_seed(0)
    make, example = CASES[name]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                make().eval(),
                (example(),),
                str(path),
                dynamo=False,
                input_names=["x"],
                dynamic_axes={"x": {0: "batch"}},
                **options,
            )
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    return path
