"""The learning-rate schedules a recipe can name, one record each; `strategy.schedules` has the formulas."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

__all__ = ["Constant", "Cosine", "Exponential", "OneCycle", "Polynomial", "Schedule", "Square", "Stage"]

NonNegative = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]


class ScheduleRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="name"):
    """What every schedule has: a linear warm-up from `lr_init` to the recipe's learning rate."""

    warmup_epochs: NonNegative = 0.0
    lr_init: NonNegative = 0.0


class Constant(ScheduleRecord, frozen=True, kw_only=True, tag="constant"):
    """The recipe's learning rate throughout."""


class Cosine(ScheduleRecord, frozen=True, kw_only=True, tag="cosine"):
    """Half a cosine, counted from the run's first step as the course has it, or from the warm-up's end."""

    end: NonNegative = 0.0
    start: Literal["run", "warmup"] = "run"
    staircase: bool = False  # one value an epoch


class Square(ScheduleRecord, frozen=True, kw_only=True, tag="square"):
    """The square of the share of steps that is left after the warm-up."""


class Polynomial(ScheduleRecord, frozen=True, kw_only=True, tag="polynomial"):
    """A power of the share of steps that is left after the warm-up, down to `end`."""

    power: Positive = 1.0
    end: NonNegative = 0.0


class Exponential(ScheduleRecord, frozen=True, kw_only=True, tag="exponential"):
    """Multiplied by `factor` every `every_epochs`, continuously or as a staircase."""

    factor: Annotated[float, Meta(gt=0, le=1)] = 0.9
    every_epochs: Positive = 1.0
    staircase: bool = False


class Stage(ScheduleRecord, frozen=True, kw_only=True, tag="stage"):
    """Multiplied by `factor` at each of the named epochs."""

    milestones: tuple[Positive, ...] = (30.0, 60.0, 80.0)
    factor: Annotated[float, Meta(gt=0, le=1)] = 0.1


class OneCycle(ScheduleRecord, frozen=True, kw_only=True, tag="one-cycle"):
    """Up from peak/`divide` during the share `rise` of the run, then down to peak/`divide`/`divide_end`, by cosines."""

    rise: Annotated[float, Meta(gt=0, lt=1)] = 0.3
    divide: Annotated[float, Meta(ge=1)] = 25.0
    divide_end: Annotated[float, Meta(ge=1)] = 10_000.0


Schedule = Constant | Cosine | Square | Polynomial | Exponential | Stage | OneCycle
