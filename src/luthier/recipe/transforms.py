"""The image transforms a recipe can name, one record each; `data.transforms` applies them to whole batches."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Cutout",
    "RandomCrop",
    "RandomFlip",
    "RandomResizedCrop",
    "Resize",
    "Transform",
]

Pixels = Annotated[int, Meta(ge=1)]
Strength = Annotated[float, Meta(ge=0)]


class TransformRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="name"):
    """What every transform has: a name."""


class RandomCrop(TransformRecord, frozen=True, kw_only=True, tag="random-crop"):
    """Zeros around the image, then a window of the given size (by default the image's own) at random."""

    padding: Annotated[int, Meta(ge=0)] = 4
    size: Pixels | None = None


class RandomFlip(TransformRecord, frozen=True, kw_only=True, tag="random-flip"):
    """Mirrored left to right with the given probability."""

    probability: Annotated[float, Meta(ge=0, le=1)] = 0.5


class Resize(TransformRecord, frozen=True, kw_only=True, tag="resize"):
    """The shorter side scaled to `size`, as torchvision does; or both sides, where the shape may be stretched."""

    size: Pixels = 256
    stretch: bool = False


class CenterCrop(TransformRecord, frozen=True, kw_only=True, tag="center-crop"):
    """The square in the middle."""

    size: Pixels = 224


class RandomResizedCrop(TransformRecord, frozen=True, kw_only=True, tag="random-resized-crop"):
    """A window of random area and aspect ratio, resized to a square."""

    size: Pixels = 224
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)


class Cutout(TransformRecord, frozen=True, kw_only=True, tag="cutout"):
    """A square of zeros around a random point, cut off at the image's edge."""

    size: Pixels = 8


class ColorJitter(TransformRecord, frozen=True, kw_only=True, tag="color-jitter"):
    """Brightness, contrast and saturation, each scaled by a factor from 1−strength to 1+strength."""

    brightness: Strength = 0.0
    contrast: Strength = 0.0
    saturation: Strength = 0.0


Transform = RandomCrop | RandomFlip | Resize | CenterCrop | RandomResizedCrop | Cutout | ColorJitter
