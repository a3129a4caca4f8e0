"""How far MindData's pixels are from ours where nothing is random: the first thousand images of CIFAR-10's evaluation.

Both pipelines take the same transform; the differences are between bytes, from 0 to 255. Colours are blended by the
same factor in both. Nothing here depends on the machine's speed. Needs MindSpore beside Luthier, and LUTHIER_DATA.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from luthier.data import open_data
from luthier.data.batch import Images
from luthier.data.transforms import color
from luthier.recipe import CenterCrop, ColorJitter, Data, RandomCrop, RandomFlip, RandomResizedCrop, Resize, Transform

COUNT = 1000
WHOLE = (1.0, 1.0)
TRANSFORMS: tuple[tuple[str, Transform], ...] = (
    ("`random-crop`, the padding alone", RandomCrop(padding=4, size=40)),
    ("`random-flip` of every image", RandomFlip(probability=1.0)),
    *((f"`center-crop` to {size}", CenterCrop(size=size)) for size in (24, 27, 40)),
    *((f"`resize` 32 → {size}", Resize(size=size)) for size in (64, 48, 33, 28, 24, 20, 16, 8)),
    ("`random-resized-crop` of whole images to 48", RandomResizedCrop(size=48, scale=WHOLE, ratio=WHOLE)),
    ("`random-resized-crop` of whole images to 24", RandomResizedCrop(size=24, scale=WHOLE, ratio=WHOLE)),
)
COLOURS = ("brightness", "contrast", "saturation")
FACTORS = (0.5, 1.5)


def images(pipeline: str, transform: Transform | None) -> Images:
    config = Data(
        name="cifar10",
        batch_size=100,
        eval=(transform,) if transform else (),
        eval_limit=COUNT,
        pipeline=pipeline,  # type: ignore[arg-type]
    )
    with open_data(config, seed=1) as data:
        return np.concatenate([batch.images for batch in data.eval.epoch(0)])


def coloured() -> Iterator[tuple[str, Images, Images]]:
    """One at a time, by each factor."""
    from mindspore.dataset import vision

    plain = images("luthier", None)
    for name in COLOURS:
        ours, theirs = [], []
        for factor in FACTORS:
            factors = [np.full((COUNT, 1, 1, 1), factor, np.float32)] * len(COLOURS)
            with patch.object(color, "_factors", return_value=factors):
                jittering = color.Jittering(ColorJitter(**{name: 0.5}))
                ours.append(jittering.apply(plain, np.zeros((COUNT, 3), np.uint64)))
            change = vision.RandomColorAdjust(**{name: (factor, factor)})
            theirs.append(np.stack([change(image) for image in plain]))
        yield f"`color-jitter`, {name} × {FACTORS[0]} and × {FACTORS[1]}", np.concatenate(ours), np.concatenate(theirs)


def row(name: str, ours: Images, theirs: Images) -> str:
    difference: NDArray[np.int64] = np.abs(ours.astype(np.int64) - theirs.astype(np.int64))
    return f"| {name} | {(difference > 0).mean():.1%} | {difference.mean():.2f} | {difference.max()} |"


def main() -> None:
    print("| transform | bytes that differ | by, on average over all | at most |")
    print("| --- | ---: | ---: | ---: |")
    for name, transform in TRANSFORMS:
        print(row(name, images("luthier", transform), images("minddata", transform)))
    for colour in coloured():
        print(row(*colour))


if __name__ == "__main__":
    main()
