"""Class folders of images, ImageNet's layout: path/train/<class>/*.jpg and path/eval/<class>/*.jpg."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from luthier.data.checking import class_names
from luthier.data.decoding import SUFFIXES
from luthier.data.places import Place
from luthier.data.registry import register
from luthier.data.source import Files, Part, Source
from luthier.errors import DataError, MissingData, unknown

TRAIN = ("train", "training")
EVAL = ("eval", "val", "validation", "test")  # the first that is there


def open_folder(place: Place) -> Source:
    """Classes are the training part's folders in alphabetical order; the evaluation part may lack some."""
    if not place.path:
        raise DataError(
            "Class folders need their place",
            at="data.path",
            hint="Set data.path to the folder that holds train/<class>/ and eval/<class>/.",
        )
    folder = next((folder for folder in place.folders() if folder.is_dir()), None)
    if folder is None:
        looked = " or ".join(str(folder) for folder in place.folders())
        raise MissingData(
            f"The folder {looked} does not exist",
            at="data.path",
            hint="Set data.path or the data root; with data.num_classes a network can be measured without the images.",
        )
    train, evaluation = _split(folder, TRAIN), _split(folder, EVAL)
    classes = _classes(train)
    return Source(
        name=folder.resolve().name,
        classes=classes,
        train=_part(train, classes, classes),
        eval=_part(evaluation, _known(_classes(evaluation), classes, evaluation), classes),
        place=folder,
    )


def _split(folder: Path, names: tuple[str, ...]) -> Path:
    there = next((folder / name for name in names if (folder / name).is_dir()), None)
    if there is None:
        raise DataError(
            f"Expected a folder {' or '.join(names)}, found {_listed(folder)}",
            at=str(folder),
            hint="Class folders are laid out as train/<class>/*.jpg and eval/<class>/*.jpg.",
        )
    return there


def _listed(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir())
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") if names else "nothing"


def _classes(folder: Path) -> tuple[str, ...]:
    names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))
    if not names:
        raise DataError(f"Expected a folder for each class, found {_listed(folder)}", at=str(folder))
    return class_names(names, at=str(folder))


def _known(found: tuple[str, ...], classes: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    for name in found:
        if name not in classes:
            sentence, hint = unknown("class", name, classes)
            raise DataError(f"{sentence}, which the training part does not have", at=str(folder / name), hint=hint)
    return found


def _part(folder: Path, names: tuple[str, ...], classes: tuple[str, ...]) -> Part:
    files: list[str] = []
    labels: list[int] = []
    for name in names:
        images = sorted(_images(folder / name, name))
        if not images:
            raise DataError(f"The class folder holds no image file ({', '.join(SUFFIXES)})", at=str(folder / name))
        files += images
        labels += [classes.index(name)] * len(images)
    return Part(images=Files(folder=folder, names=files), labels=np.array(labels, np.int32))


def _images(folder: Path, prefix: str) -> Iterator[str]:
    """Also those in folders further down, whose names need not be known."""
    for entry in os.scandir(folder):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _images(Path(entry.path), f"{prefix}/{entry.name}")
        elif entry.name.lower().endswith(SUFFIXES):
            yield f"{prefix}/{entry.name}"


register("folder", open_folder)
