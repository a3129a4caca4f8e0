"""A user's own networks for 32×32 grey images and ten classes, most of them hard to export."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Fourier(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = torch.fft.fft2(x).real
        return y


class Spectral(nn.Module):
    """An operator that ONNX has not, deep inside."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Sequential(nn.Conv2d(1, 4, 3), Fourier())
        self.fc = nn.Linear(4, 10)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc(self.mix(x).mean((2, 3)))
        return y


class Unfolded(nn.Module):
    """One that ONNX has, in a form that it has not."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(5)
        self.fc = nn.Linear(25, 10)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc(self.pool(x).flatten(1))
        return y


class Dilated(nn.Module):
    """Padded to the same size with an even kernel: one more zero at the end than at the beginning."""

    def __init__(self, kernel: int = 4, dilation: int = 3) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 10, kernel, dilation=dilation, padding="same")

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.conv(x)
        return y[:, :, :3, -3:].mean((2, 3))


class Dense(nn.Module):
    """One layer on all pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(32 * 32, 10)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc(x.flatten(1))
        return y


class FixedBatch(Dense):
    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc(x.reshape(int(x.shape[0]), -1))
        return y


class Branching(Dense):
    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = super().forward(x)
        return y if float(y.detach()[0, 0]) > 0 else 10 - y


class Random(Dense):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + torch.rand_like(x[:, 0, 0, :1])


class InPlace(Dense):
    """Changes its input, as torchvision's networks do with `transform_input`."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.mul_(2))


class Float32Only(Dense):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.float())


class Pair(Dense):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        y = super().forward(x)
        return y, y


class Diverged(Dense):
    def __init__(self) -> None:
        super().__init__()
        nn.init.constant_(self.fc.weight, float("nan"))


class Tied(nn.Module):
    """Two layers with one weight, and a frozen third."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = (
            nn.Linear(1024, 1024, bias=False),
            nn.Linear(1024, 1024),
            nn.Linear(1024, 10),
        )
        self.second.weight = self.first.weight
        self.norm = nn.BatchNorm1d(1024)
        self.last.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.last(self.norm(self.second(self.first(x.flatten(1)))))
        return y
