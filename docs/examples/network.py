"""A network of one's own: any function or class that gives a torch.nn.Module."""

from __future__ import annotations

from torch import nn


def two_layers(*, num_classes: int, shape: tuple[int, int, int], hidden: int = 64) -> nn.Module:
    """`shape` is height, width and channels of an image; `hidden` is an option, checked against its annotation."""
    height, width, channels = shape
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(height * width * channels, hidden),
        nn.ReLU(),
        nn.Linear(hidden, num_classes),
    )
