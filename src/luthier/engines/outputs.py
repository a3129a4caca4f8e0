"""What a network must give, said the same on every engine."""

from __future__ import annotations

from typing import Any

from luthier.errors import ModelError

__all__ = ["require_logits"]


def require_logits(outputs: Any, tensor: Any, count: int, num_classes: int) -> None:
    """One number an image and class, or the sentence that says what was there in their place."""
    if isinstance(outputs, tensor) and tuple(outputs.shape) == (count, num_classes):
        return
    several = f" of {len(outputs)}" if isinstance(outputs, tuple | list | dict) else ""
    given = list(outputs.shape) if isinstance(outputs, tensor) else f"a {type(outputs).__name__}{several}"
    raise ModelError(
        f"The network gives {given} for {count} images, expected [{count}, {num_classes}]: one a class",
        at="model.name",
    )
