"""What the doctor found, and what it advises."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from luthier.doctor.machine import Machine, Space
from luthier.engines import Checkup
from luthier.engines.mindspore import Timings

__all__ = ["Ailment", "Convolutions", "DataSet", "Package", "Report"]


class Package(Struct, frozen=True, kw_only=True):
    """A package that Luthier needs, or that one of its extras does."""

    name: str
    version: str | None
    needed: str  # the versions that fit, as a requirement has them
    extra: str | None  # none where Luthier itself needs it
    fits: bool

    @property
    def install(self) -> str:
        """The command that brings it."""
        return f"pip install 'luthier[{self.extra}]'" if self.extra else f"pip install '{self.name}{self.needed}'"


class Convolutions(Struct, frozen=True, kw_only=True):
    """MindSpore's on x86, timed as installed and capped at AVX2."""

    library: str | None  # none where MindSpore has no oneDNN for x86
    override: str | None  # the user's own cap, as NAME=VALUE
    timings: Timings | None  # none where they could not be taken


class DataSet(Struct, frozen=True, kw_only=True):
    """One that a recipe can name."""

    name: str
    state: Literal["found", "missing", "damaged"]
    place: str | None  # none for one that comes with Luthier
    fault: str = ""


class Ailment(Struct, frozen=True, kw_only=True):
    """What is amiss, and one line of what to do about it."""

    kind: Literal["broken", "missing", "untested", "slow", "scarce"]
    what: str
    remedy: str


class Report(Struct, frozen=True, kw_only=True):
    """Every fact, and the ailments that follow from them."""

    luthier: str
    python: str
    platform: str
    machine: Machine
    spaces: tuple[Space, ...]
    frameworks: tuple[Checkup, ...]
    packages: tuple[Package, ...]
    convolutions: Convolutions
    data_roots: tuple[str, ...]
    data_root_is_named: bool  # by LUTHIER_DATA or --data-root
    data_sets: tuple[DataSet, ...]
    ailments: tuple[Ailment, ...] = ()

    @property
    def broken(self) -> bool:
        """Whether something that is here does not work."""
        return any(ailment.kind == "broken" for ailment in self.ailments)

    def framework(self, name: str) -> Checkup | None:
        """Its checkup."""
        return next((checkup for checkup in self.frameworks if checkup.name == name), None)
