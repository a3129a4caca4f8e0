"""MindRecord files: those of `luthier data pack`, or others with a column of encoded images and one of labels."""

from __future__ import annotations

import re
from pathlib import Path

from luthier.data.checking import check_labels
from luthier.data.mindrecord.opening import open_shards
from luthier.data.mindrecord.records import Records
from luthier.data.places import Place
from luthier.data.registry import register
from luthier.data.source import Part, Source
from luthier.errors import DataError

STEMS = {"train": ("train", "training"), "eval": ("eval", "val", "validation", "test")}
NUMBER = re.compile(r"\.mindrecord\d*")


def open_mindrecord(place: Place) -> Source:
    """The folder that data.path names holds train.mindrecord and eval.mindrecord, each of them one file or many."""
    if not place.path:
        raise DataError(
            "MindRecord files need their place",
            at="data.path",
            hint="Set data.path to the folder that `luthier data pack` wrote.",
        )
    folder = next((folder for folder in place.folders() if folder.exists()), None)
    if folder is None:
        looked = " or ".join(str(folder) for folder in place.folders())
        raise DataError(f"The folder {looked} does not exist", at="data.path")
    train, evaluation = open_shards(first_file(folder, "train")), open_shards(first_file(folder, "eval"))
    contents = train.contents
    if contents != evaluation.contents:
        raise DataError("The files to train on and those to evaluate on are of two sets", at=str(folder))
    highest = max(int(records.labels.max(initial=0)) for records in (train, evaluation))
    classes = contents.classes if contents else tuple(str(label) for label in range(highest + 1))
    pixels = contents is not None and contents.pixels
    return Source(
        name=contents.set if contents else folder.resolve().name,
        classes=classes,
        train=_part(train, len(classes), pixels=pixels),
        eval=_part(evaluation, len(classes), pixels=pixels),
        place=folder,
    )


def first_file(folder: Path, split: str) -> Path:
    """The part's, which names the others."""
    stems = STEMS[split]
    if not folder.is_dir():
        raise DataError("Expected the folder that holds the MindRecord files, got a file", at=f"data.path, {folder}")
    for stem in stems:
        found = [path for path in folder.glob(f"{stem}.mindrecord*") if NUMBER.fullmatch(path.name[len(stem) :])]
        if found:
            return min(found)
    raise DataError(
        f"No MindRecord file {' or '.join(f'{stem}.mindrecord' for stem in stems[:2])} was found",
        at=str(folder),
        hint="A set is laid out as train.mindrecord and eval.mindrecord, each whole or in numbered files.",
    )


def _part(records: Records, num_classes: int, *, pixels: bool) -> Part:
    for shard in records.shards:
        check_labels(shard.labels, num_classes, at=str(shard.path))
    return Part(images=records.array() if pixels else records, labels=records.labels)


register("mindrecord", open_mindrecord)
