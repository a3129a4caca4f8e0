"""MindSpore's C++ pipeline: the one file of `data` that names MindSpore."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from mindspore import dataset
from mindspore.dataset import vision

from luthier.data.loading import Indices, Loaded
from luthier.data.minddata import Stage, Stream
from luthier.data.minddata_files import PartFiles
from luthier.errors import DataError
from luthier.recipe import CenterCrop, ColorJitter, Cutout, RandomCrop, RandomFlip, RandomResizedCrop, Resize

__all__ = ["check", "read"]

PACK = 'Pack the set, and set data.name = "mindrecord": luthier data pack --help.'
AHEAD = 7  # images
FILE = re.compile(r" The corresponding data file is: (.+?)\.(?= |$)")


def check(stream: Stream) -> None:
    """Whether MindData finds the part's images, all of them and no others."""
    with _told(stream):
        there = int(_dataset(stream.files, shuffle=False).get_dataset_size())
    if there != len(stream.part):
        raise DataError(
            f"MindData finds {there:,} images where Luthier finds {len(stream.part):,}",
            at=str(stream.files.place),
            hint=PACK,
        )


def read(stream: Stream, members: Indices, *, size: int, seed: int) -> Iterator[Loaded]:
    """Batches of so many images, by their numbers in the files."""
    labels = stream.part.labels
    with _seeded(seed), _told(stream):
        sampler = dataset.SubsetSampler(members.tolist())
        rows = _dataset(stream.files, sampler=sampler, num_parallel_workers=stream.readers)
        rows = _transformed(rows, stream).batch(size, num_parallel_workers=1)
        columns = [stream.files.image, stream.files.label]
        batches = rows.create_tuple_iterator(columns, num_epochs=1, output_numpy=True, do_copy=False)
    try:
        for start in range(0, len(members), size):
            with _told(stream):
                images, found = next(batches)
            wanted = labels[members[start : start + size]]
            if not np.array_equal(found, wanted):
                raise DataError(
                    "MindData gives the images in another order than Luthier", at=str(stream.files.place), hint=PACK
                )
            yield Loaded(np.ascontiguousarray(images[..., : stream.channels]), wanted)
    finally:
        batches.stop()


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """MindData takes its seed while a pipeline is made, and sets those of Python and NumPy by the way."""
    before, ours, numpys = dataset.config.get_seed(), random.getstate(), np.random.get_state()
    dataset.config.set_seed(seed)
    try:
        yield
    finally:
        dataset.config.set_seed(before)
        random.setstate(ours)
        np.random.set_state(numpys)


@contextmanager
def _told(stream: Stream) -> Iterator[None]:
    """What MindData says of a failure, without the frames of its own."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError) as error:
        said = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in said if line.startswith("[ERROR]")), said[0] if said else type(error).__name__)
        file = FILE.search(reason)
        raise DataError(
            f"MindData failed: {FILE.sub('', reason).removeprefix('[ERROR]').strip().rstrip('.')}",
            at=file[1] if file else str(stream.files.place),
        ) from error


def _dataset(files: PartFiles, **options: Any) -> Any:
    place = str(files.place)
    match files.kind:
        case "cifar10":
            return dataset.Cifar10Dataset(place, usage=files.usage, **options)
        case "cifar100":
            both = dataset.Cifar100Dataset(place, usage=files.usage, **options)
            return both.project([files.image, files.label])
        case "mnist":
            return dataset.MnistDataset(place, usage=files.usage, **options)
        case "folder":
            numbers = {name: number for number, name in enumerate(files.classes)}
            return dataset.ImageFolderDataset(place, extensions=list(files.suffixes), class_indexing=numbers, **options)
    return dataset.MindDataset(place, [files.image, files.label], **options)


def _transformed(rows: Any, stream: Stream) -> Any:
    """What is not random first, in any number of threads; from the first random transform on in a fixed one.

    MindData begins the random numbers of every operation at the same seed: flips would follow crops, and contrast
    brightness. So each is given some images more than the one before it, whose numbers it draws ahead.
    """
    early = [vision.Decode()] if stream.files.encoded else []
    late: list[tuple[Stage, list[Any]]] = []
    for stage in stream.stages:
        for operation in OPERATIONS[type(stage.record)](stage):
            if stage.random:
                late.append((stage, [operation]))
            else:
                (late[-1][1] if late else early).append(operation)
    if early:
        rows = rows.map(early, stream.files.image, num_parallel_workers=stream.readers)
    for number, (stage, operations) in enumerate(late):
        rows = _blanks(stage, stream) + rows if number else rows
        rows = rows.map(operations, stream.files.image, num_parallel_workers=stream.changers)
    return rows.skip(AHEAD * (len(late) - 1)) if len(late) > 1 else rows


def _blanks(stage: Stage, stream: Stream) -> Any:
    """Images to be thrown away, of a size that the transform takes."""
    schema = dataset.Schema()
    channels = 3 if stream.files.encoded else stream.channels
    schema.add_column(stream.files.image, de_type="uint8", shape=[*stage.like, channels])
    schema.add_column(stream.files.label, de_type=stream.files.label_type, shape=[])
    columns = [stream.files.image, stream.files.label]
    return dataset.RandomDataset(AHEAD, schema, columns, num_parallel_workers=1, shuffle=False)


def _random_crop(stage: Stage) -> list[Any]:
    """Zeros around the image, as ours."""
    record: Any = stage.record
    window = (record.size, record.size) if record.size else stage.size
    return [vision.RandomCrop(window, (record.padding,) * 4)]


def _random_flip(stage: Stage) -> list[Any]:
    record: Any = stage.record
    return [vision.RandomHorizontalFlip(record.probability)]


def _resize(stage: Stage) -> list[Any]:
    """MindData's bilinear way has no antialiasing: where images shrink, weighing areas is nearer to ours."""
    record: Any = stage.record
    way = vision.Inter.AREA if stage.shrinks else vision.Inter.BILINEAR
    return [vision.Resize((record.size, record.size) if record.stretch else record.size, way)]


def _center_crop(stage: Stage) -> list[Any]:
    """Where sizes vary it rounds half a pixel down; where they do not, the window is told and is ours."""
    record: Any = stage.record
    if stage.size is None:
        return [vision.CenterCrop(record.size)]
    height, width = stage.size
    top, left = (max(record.size - side, 0) // 2 for side in stage.size)
    bottom, right = max(record.size - height, 0) - top, max(record.size - width, 0) - left
    padded = [vision.Pad((left, top, right, bottom))] if top + bottom + left + right else []
    corner = tuple(round((max(side, record.size) - record.size) / 2) for side in stage.size)
    return [*padded, vision.Crop(corner, record.size)]


def _random_resized_crop(stage: Stage) -> list[Any]:
    record: Any = stage.record
    side = (record.size, record.size)
    return [vision.RandomResizedCrop(side, record.scale, record.ratio, vision.Inter.BILINEAR)]


def _cutout(stage: Stage) -> list[Any]:
    record: Any = stage.record
    return [vision.CutOut(record.size)]


def _color_jitter(stage: Stage) -> list[Any]:
    """One after the other: together MindData would do them in an order of its own."""
    strengths = {name: getattr(stage.record, name) for name in ("brightness", "contrast", "saturation")}
    return [
        vision.RandomColorAdjust(**{name: (max(1 - strength, 0), 1 + strength)})
        for name, strength in strengths.items()
        if strength
    ]


OPERATIONS: dict[type, Callable[[Stage], list[Any]]] = {
    CenterCrop: _center_crop,
    ColorJitter: _color_jitter,
    Cutout: _cutout,
    RandomCrop: _random_crop,
    RandomFlip: _random_flip,
    RandomResizedCrop: _random_resized_crop,
    Resize: _resize,
}
