"""The packages that Luthier asks for, by its own metadata, and whether what is installed fits."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import TYPE_CHECKING

from luthier.doctor.report import Package

if TYPE_CHECKING:
    from packaging.requirements import Requirement

__all__ = ["packages"]

NOT_FOR_USERS = ("dev", "docs", "test")


def packages() -> tuple[Package, ...]:
    """Luthier's own first, then those of each extra."""
    from packaging.requirements import Requirement

    extras = [name for name in metadata("luthier").get_all("Provides-Extra") or () if name not in NOT_FOR_USERS]
    asked = [Requirement(line) for line in requires("luthier") or ()]
    return tuple(found for extra in (None, *extras) for found in _of(extra, asked))


def _of(extra: str | None, asked: list[Requirement]) -> Iterator[Package]:
    for requirement in asked:
        if _belongs(requirement, extra) and requirement.name != "luthier":
            number = _version(requirement.name)
            fits = number is not None and requirement.specifier.contains(number, prereleases=True)
            needed = str(requirement.specifier)
            yield Package(name=requirement.name, version=number, needed=needed, extra=extra, fits=fits)


def _belongs(requirement: Requirement, extra: str | None) -> bool:
    """A requirement that stands without any extra is Luthier's own."""
    marker = requirement.marker
    if marker is None or marker.evaluate({"extra": ""}):
        return extra is None
    return extra is not None and marker.evaluate({"extra": extra})


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
