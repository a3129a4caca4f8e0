"""Which data sets are here and whole."""

from __future__ import annotations

from pathlib import Path

from luthier.data import downloadable, open_source
from luthier.doctor.report import DataSet
from luthier.errors import DataError, MissingData

__all__ = ["data_sets"]

SHIPPED = ("digits",)


def data_sets(root: str | Path | None) -> tuple[DataSet, ...]:
    """Every set of a known publisher: each that is found is read, as a training would read it."""
    return tuple(_looked_at(name, root) for name in (*downloadable(), *SHIPPED))


def _looked_at(name: str, root: str | Path | None) -> DataSet:
    try:
        place = open_source(name, root=root).place
    except MissingData:
        return DataSet(name=name, state="missing", place=None)
    except (DataError, OSError) as fault:
        place = getattr(fault, "at", None)
        return DataSet(name=name, state="damaged", place=place, fault=getattr(fault, "sentence", str(fault)))
    return DataSet(name=name, state="found", place=str(place) if place else None)
