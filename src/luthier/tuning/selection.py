"""What a selection found, and the files that it leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from luthier.errors import StoreError
from luthier.recipe import ParamSpec, Recipe, to_toml
from luthier.store import replace_file
from luthier.tuning.candidates import Tried
from luthier.tuning.curves import RangeCurve

__all__ = ["Selection", "selection_text"]


class Selection(Struct, frozen=True, kw_only=True):
    """The values, the interval of learning rates, and everything that was tried for them."""

    recipe: Recipe  # with the values
    values: dict[str, Any]  # by dotted path
    curve: RangeCurve | None  # none where the learning rate was not searched
    tried: tuple[Tried, ...]
    steps: int  # trained altogether, in all candidates and segments
    seconds: float
    judged_by: str
    notes: tuple[str, ...] = ()

    @property
    def param_spec(self) -> ParamSpec:
        """For `luthier.train(…, param_spec=…)`."""
        return ParamSpec(self.values)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Between these learning rates the loss fell."""
        return self.curve.interval if self.curve else None

    def save(self, folder: Path | str) -> Path:
        """`selected.toml` to train, `selection.json` with all that was tried, and the curve as `learning-rate.png`."""
        from luthier.tuning.drawing import draw_curve

        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"Cannot make the folder: {error.strerror}", at=str(folder)) from error
        replace_file(folder / "selected.toml", to_toml(self.recipe).encode())
        replace_file(folder / "selection.json", msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")
        if self.curve and self.curve.smooth:
            draw_curve(self.curve, self.recipe.strategy.learning_rate, folder / "learning-rate.png")
        return folder


def selection_text(selection: Selection) -> str:
    """For a terminal."""
    lines = [f"{path} = {shown(value)}" for path, value in selection.values.items()]
    if selection.interval:
        low, high = selection.interval
        lines.append(f"learning rates between {low:.2g} and {high:.2g} lower the loss")
    return "\n".join([*lines, *selection.notes])


def shown(value: Any) -> str:
    """A number as people write it."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
