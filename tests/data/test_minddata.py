"""MindData in our pipeline's place: the same images in the same order, and the same pixels where nothing is random."""

from __future__ import annotations

import gzip
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from PIL import Image

from luthier.data import Batch, DataSet, Source, arrays, open_data, pack
from luthier.data.batch import Images
from luthier.errors import DataError, MissingPackage, RecipeError
from luthier.recipe import (
    CenterCrop,
    ColorJitter,
    Cutout,
    Data,
    Normalize,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Resize,
    Transform,
    load,
)
from luthier.training import StepEnded, resume, train
from tests.data.conftest import write_binary_cifar
from tests.data.test_packing import write_theirs
from tests.training.leftovers import same_end

pytestmark = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

Make = Callable[..., Source]
AUGMENTED: tuple[Transform, ...] = (
    *(RandomCrop(padding=2), RandomFlip(), Cutout(size=3)),
    ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4),
)


@pytest.fixture
def packed(numbered: Make, tmp_path: Path) -> Path:
    """Fifty images of 8×8 in two files, and twenty to evaluate on."""
    return pack(numbered(), tmp_path / "set.mindrecord", shards=2)


def opened(folder: Path, pipeline: str = "minddata", name: str = "mindrecord", **more: Any) -> DataSet:
    options = {"batch_size": 8, "train": (), "eval": (), **more}
    strategy = {key: options.pop(key) for key in ("rank", "ranks", "mixup", "cutmix", "seed") if key in options}
    channels = options.pop("channels", 3)
    normalize = Normalize(mean=(0.5,) * channels, std=(0.5,) * channels)
    config = Data(name=name, path=str(folder), pipeline=pipeline, normalize=normalize, **options)  # type: ignore[arg-type]
    return open_data(config, **{"seed": 1, **strategy})


def epoch(data: DataSet, split: str = "train", number: int = 0, start: int = 0) -> list[Batch]:
    with data:
        return list(data.split(split).epoch(number, start))


def assert_same(batches: list[Batch], others: list[Batch]) -> None:
    for batch, other in zip(batches, others, strict=True):
        np.testing.assert_array_equal(batch.images, other.images)
        np.testing.assert_array_equal(batch.labels, other.labels)


def both(folder: Path, *, number: int = 3, **more: Any) -> tuple[list[Batch], list[Batch]]:
    """An epoch of training and the evaluation, by MindData and by ours."""
    made = [opened(folder, pipeline, **more) for pipeline in ("minddata", "luthier")]
    assert made[0].shape == made[1].shape
    assert (made[0].train.steps, made[0].train.samples) == (made[1].train.steps, made[1].train.samples)
    minddata, ours = ([*data.train.epoch(number), *data.eval.epoch(0)] for data in made)
    return minddata, ours


def differences(folder: Path, *transforms: Transform, **more: Any) -> Images:
    minddata, ours = both(folder, train=transforms, eval=transforms, **more)
    pairs = zip(minddata, ours, strict=True)
    return np.concatenate([np.abs(a.images.astype(int) - b.images.astype(int)).ravel() for a, b in pairs])


class TestBatches:
    def test_they_keep_the_contract(self, packed: Path) -> None:
        for batch in epoch(opened(packed, train=AUGMENTED)):
            assert batch.images.dtype == np.uint8
            assert batch.labels.dtype == np.int32
            assert batch.images.shape == (8, 8, 8, 3)
            for array in (batch.images, batch.labels):
                assert array.flags.c_contiguous
                assert array.flags.writeable

    @pytest.mark.parametrize("drop", [True, False])
    def test_images_and_labels_come_in_our_order(self, packed: Path, drop: bool) -> None:
        assert_same(*both(packed, drop_remainder=drop, validation=0.2, eval_limit=11))

    def test_the_validation_part_and_mixing_are_ours(self, packed: Path) -> None:
        assert_same(*both(packed, mixup=0.4, cutmix=1.0))
        held = [epoch(opened(packed, pipeline, validation=0.2), "validation") for pipeline in ("minddata", "luthier")]
        assert_same(*held)

    @pytest.mark.parametrize("drop", [True, False])
    def test_ranks_share_an_epoch_as_ours_do(self, packed: Path, drop: bool) -> None:
        for rank in range(3):
            assert_same(*both(packed, rank=rank, ranks=3, batch_size=3, drop_remainder=drop))

    def test_seed_and_epoch_decide_what_is_random(self, packed: Path) -> None:
        data = opened(packed, train=AUGMENTED)
        assert_same(list(data.train.epoch(2)), list(opened(packed, train=AUGMENTED).train.epoch(2)))
        plain = opened(packed, train=(RandomCrop(padding=4),), drop_remainder=False)
        first, second = (
            {image.tobytes() for batch in plain.train.epoch(number) for image in batch.images} for number in (2, 3)
        )
        assert len(first & second) < 10
        other = opened(packed, train=(RandomCrop(padding=4),), drop_remainder=False, seed=2)
        assert len(first & {image.tobytes() for batch in other.train.epoch(2) for image in batch.images}) < 10

    @pytest.mark.parametrize("transforms", [(), AUGMENTED])
    def test_an_epoch_is_taken_up_at_a_step_with_the_same_bytes(
        self, packed: Path, transforms: tuple[Transform, ...]
    ) -> None:
        data = opened(packed, train=transforms, mixup=0.3)
        whole = list(data.train.epoch(4))
        for start in range(data.train.steps + 1):
            assert_same(list(data.train.epoch(4, start)), whole[start:])

    def test_the_number_of_cores_changes_no_bit(self, packed: Path) -> None:
        transforms = (Resize(size=10), *AUGMENTED)
        several = epoch(opened(packed, train=transforms))
        with patch("luthier.data.opening._num_cores", return_value=1):
            assert_same(epoch(opened(packed, train=transforms)), several)

    def test_random_transforms_of_evaluation_are_the_same_every_time(self, packed: Path) -> None:
        data = opened(packed, eval=AUGMENTED)
        assert_same(list(data.eval.epoch(0)), list(data.eval.epoch(5)))

    def test_samples_are_what_the_network_sees_first(self, packed: Path) -> None:
        data = opened(packed, train=AUGMENTED)
        np.testing.assert_array_equal(data.sample("train", 6).images, next(data.train.epoch(0)).images[:6])
        assert data.sample("eval", 5).labels.tolist() == [0, 4, 3, 2, 1]

    def test_the_users_own_random_numbers_and_seeds_are_left_alone(self, packed: Path) -> None:
        from mindspore import dataset

        random.seed(5)
        np.random.seed(6)
        dataset.config.set_seed(7)
        expected = random.Random(7).random()
        list(opened(packed, train=AUGMENTED).train.epoch(0))
        assert dataset.config.get_seed() == 7
        assert random.random() == expected

    def test_an_epoch_that_is_left_early_does_not_hang(self, packed: Path) -> None:
        began = time.monotonic()
        for _ in range(5):
            batches = opened(packed, train=AUGMENTED).train.epoch(0)
            next(batches)
            batches.close()  # type: ignore[attr-defined]
        assert time.monotonic() - began < 60


def test_every_transform_has_an_operation_of_minddatas() -> None:
    from luthier.data.mindspore import OPERATIONS
    from luthier.data.transforms import operations

    assert set(OPERATIONS) == set(operations.OPERATIONS)


class TestPixels:
    """Each transform where nothing is random: what the docs state of their differences is measured here too."""

    @pytest.mark.parametrize(
        "transform",
        [
            *(RandomCrop(padding=0), RandomCrop(padding=3, size=14), RandomFlip(probability=1.0)),
            *(RandomFlip(probability=0.0), ColorJitter(), Resize(size=8)),
            *(CenterCrop(size=size) for size in (1, 3, 5, 6, 8, 9, 12, 13)),
            RandomResizedCrop(size=8, scale=(1.0, 1.0), ratio=(1.0, 1.0)),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("channels", [1, 3])
    def test_they_are_the_same(self, numbered: Make, tmp_path: Path, transform: Transform, channels: int) -> None:
        if channels == 1 and isinstance(transform, ColorJitter):
            pytest.skip("MindData has no colours of one channel")
        folder = pack(numbered(shape=(8, 8, channels)), tmp_path / "m")
        assert differences(folder, transform, channels=channels).max() == 0

    @pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 9, 10])
    @pytest.mark.parametrize("shape", [(8, 8, 3), (9, 6, 3), (5, 11, 1)])
    def test_windows_in_the_middle_are_the_same_for_any_sides(
        self, numbered: Make, tmp_path: Path, shape: tuple[int, int, int], size: int
    ) -> None:
        folder = pack(numbered(shape=shape), tmp_path / "m")
        assert differences(folder, CenterCrop(size=size), channels=shape[2]).max() == 0

    @pytest.mark.parametrize("stretch", [False, True])
    @pytest.mark.parametrize("size", [9, 13, 16, 24])
    def test_enlarging_differs_by_rounding_alone(self, packed: Path, size: int, stretch: bool) -> None:
        assert differences(packed, Resize(size=size, stretch=stretch)).max() <= 1

    def test_shrinking_differs_as_the_docs_say(self, real_data: Path) -> None:
        """Photographs: noise, which has no smooth parts, would differ by more."""
        options: dict[str, Any] = {"name": "cifar10", "batch_size": 100, "eval_limit": 1000}
        for size, mean in ((28, 0.75), (24, 1.5), (16, 4.5)):
            folder = real_data / "cifar10"
            datasets = [opened(folder, kind, eval=(Resize(size=size),), **options) for kind in ("minddata", "luthier")]
            theirs, ours = (np.concatenate([batch.images for batch in data.eval.epoch(0)]) for data in datasets)
            assert np.abs(theirs.astype(int) - ours.astype(int)).mean() < mean

    @pytest.mark.parametrize("field", ["brightness", "contrast", "saturation"])
    @pytest.mark.parametrize("factor", [0.4, 0.8, 1.3, 1.9])
    def test_colours_by_the_same_factor_differ_by_rounding_alone(self, field: str, factor: float) -> None:
        from mindspore.dataset import vision

        from luthier.data.transforms.color import Jittering

        images = np.random.default_rng(0).integers(0, 256, (20, 9, 9, 3), dtype=np.uint8)
        names = ("brightness", "contrast", "saturation")
        factors = [np.full((20, 1, 1, 1), factor, np.float32)] * 3
        ours = Jittering(ColorJitter(**{field: 0.5}))
        with patch("luthier.data.transforms.color._factors", return_value=factors):
            expected = ours.apply(images, np.zeros((20, len(names)), np.uint64))
        theirs = np.stack([vision.RandomColorAdjust(**{field: (factor, factor)})(image) for image in images])
        assert np.abs(theirs.astype(int) - expected.astype(int)).max() <= 1

    def test_a_cutout_is_a_square_of_zeros_or_what_is_left_of_it_at_the_edge(self, packed: Path) -> None:
        plain, cut = (
            np.concatenate([batch.images for batch in epoch(opened(packed, train=train))])
            for train in ((), (Cutout(size=4),))
        )
        changed = (plain != cut).any(axis=3)
        assert set(np.unique(cut[changed])) == {0}
        for mask in changed:
            rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
            assert len(rows) <= 4
            assert len(columns) <= 4
            assert mask.sum() == len(rows) * len(columns)
        assert 10 < changed.any(axis=(1, 2)).sum() < 48

    def test_crops_are_windows_and_flips_are_mirrors(self, packed: Path) -> None:
        transforms = (RandomCrop(padding=2), RandomFlip())
        plain = {batch.images.tobytes(): batch.images for batch in epoch(opened(packed, batch_size=1))}
        padded = [np.pad(image[0], ((2, 2), (2, 2), (0, 0))) for image in plain.values()]
        windows = {
            padded_image[top : top + 8, left : left + 8][:, ::step].tobytes()
            for padded_image in padded
            for top in range(5)
            for left in range(5)
            for step in (1, -1)
        }
        seen = {batch.images.tobytes() for batch in epoch(opened(packed, batch_size=1, train=transforms))}
        assert seen <= windows
        assert len(seen - set(plain)) > 40


class TestDraws:
    """MindData begins the numbers of every random operation at one seed: ours are taken apart."""

    SIDE = 8

    @pytest.fixture
    def ramps(self, tmp_path: Path) -> Path:
        """Images whose pixels tell their place, in the first half grey, in the second of one colour."""
        image = np.arange(self.SIDE**2, dtype=np.uint8).reshape(1, self.SIDE, self.SIDE, 1).repeat(3, axis=3) + 80
        image[:, self.SIDE // 2 :] = (60, 100, 140)
        images, labels = image.repeat(1500, axis=0), np.zeros(1500, np.int32)
        return pack(arrays(images, labels, images[:2], labels[:2]), tmp_path / "ramps")

    def test_with_one_seed_its_flips_follow_its_crops(self, ramps: Path) -> None:
        """A finding about MindSpore 2.10: where it fails no more, `AHEAD` has done its work."""
        from mindspore import dataset
        from mindspore.dataset import vision

        dataset.config.set_seed(11)
        rows = dataset.MindDataset(str(ramps / "train.mindrecord"), ["image"], shuffle=False)
        operations = [vision.Decode(), vision.RandomCrop(5), vision.RandomHorizontalFlip()]
        rows = rows.map(operations, "image", num_parallel_workers=1).batch(1500)
        [[images]] = rows.create_tuple_iterator(num_epochs=1, output_numpy=True)
        assert abs(correlation(*crops_and_flips(images))) > 0.8

    def test_flips_do_not_follow_crops(self, ramps: Path) -> None:
        transforms = (RandomCrop(padding=0, size=5), RandomFlip())
        [batch] = epoch(opened(ramps, train=transforms, batch_size=1500))
        assert abs(correlation(*crops_and_flips(batch.images))) < 0.1

    def test_ranks_do_not_follow_each_other(self, ramps: Path) -> None:
        transforms = (RandomCrop(padding=0, size=5), RandomFlip())
        crops = []
        for rank in range(2):
            [batch] = epoch(opened(ramps, train=transforms, batch_size=750, rank=rank, ranks=2))
            crops.append(crops_and_flips(batch.images)[0])
        assert abs(correlation(*crops)) < 0.15

    def test_brightness_contrast_and_saturation_do_not_follow_each_other(self, ramps: Path) -> None:
        kinds = ("brightness", "saturation")
        transform = ColorJitter(**dict.fromkeys(kinds, 0.3))
        [batch] = epoch(opened(ramps, train=(transform,), batch_size=1500))
        brightness = batch.images[:, 0, 0, 0] / 80
        colour = batch.images[:, -1, 0].astype(float)
        saturation = np.ptp(colour, axis=1) / brightness
        assert np.std(brightness) > 0.1
        assert abs(correlation(brightness, saturation)) < 0.1


def crops_and_flips(images: Images) -> tuple[Any, Any]:
    """The row that a window of the ramps begins at, and whether it was mirrored."""
    first = images[:, 0, :, 0].astype(int)
    return first.min(axis=1) // 8, first[:, 0] > first[:, 1]


def correlation(one: Any, other: Any) -> float:
    return float(np.corrcoef(one, other)[0, 1])


class TestSources:
    @pytest.mark.parametrize("split_folders", [("", ""), ("train", "eval")])
    def test_cifar(self, real_data: Path, tmp_path: Path, split_folders: tuple[str, str]) -> None:
        """MindData takes files of ten thousand images alone."""
        source = real_data / "cifar10"
        for split, folder in zip(("train", "eval"), split_folders, strict=True):
            (tmp_path / "c" / folder).mkdir(parents=True, exist_ok=True)
            for path in (source / split).glob("*.bin"):
                (tmp_path / "c" / folder / path.name).symlink_to(path)
        assert_same(*both(tmp_path / "c", name="cifar10", batch_size=500))
        self.assert_augmented(tmp_path / "c", "cifar10")

    def test_cifar100(self, tmp_path: Path) -> None:
        from luthier.data.sources.cifar import CIFAR100

        write_binary_cifar(tmp_path, CIFAR100)
        assert_same(*both(tmp_path, name="cifar100", batch_size=1000))
        self.assert_augmented(tmp_path, "cifar100")

    def assert_augmented(self, folder: Path, name: str) -> None:
        """Another crop or flip of the same images, with their labels."""
        plain, changed = (
            next(opened(folder, name=name, batch_size=100, train=train).train.epoch(0)) for train in ((), AUGMENTED)
        )
        assert (plain.images != changed.images).any(axis=(1, 2, 3)).all()
        np.testing.assert_array_equal(plain.labels, changed.labels)

    def test_mnist_unzipped(self, real_data: Path, tmp_path: Path) -> None:
        for path in (real_data / "mnist").glob("*.gz"):
            (tmp_path / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        options: dict[str, Any] = {"name": "mnist", "channels": 1, "batch_size": 1000}
        assert_same(*both(tmp_path, **options))
        [batch] = list(opened(tmp_path, train=(RandomCrop(), RandomFlip()), **options).train.epoch(0))[:1]
        assert batch.images.shape == (1000, 28, 28, 1)

    def test_class_folders_and_their_pack(self, class_folders: Path, tmp_path: Path) -> None:
        (class_folders / "train" / "cat" / "notes.txt").write_text("no image")
        shutil.copy(class_folders / "train" / "cat" / "0.png", class_folders / "train" / "cat" / "A.PNG")
        folder = pack("folder", tmp_path / "pets.mindrecord", path=str(class_folders), shards=2)
        transforms = (Resize(size=14, stretch=True), CenterCrop(size=12))
        for name, path in (("folder", class_folders), ("mindrecord", folder)):
            minddata, ours = both(path, name=name, batch_size=5, train=transforms, eval=transforms)
            assert_same(minddata, ours)  # each picture has one colour
            train = (RandomResizedCrop(size=9), RandomFlip(), ColorJitter(brightness=0.2, contrast=0.2))
            random_one = opened(path, name=name, batch_size=5, train=train, eval=transforms)
            assert {batch.images.shape for batch in epoch(random_one)} == {(5, 9, 9, 3)}

    def test_files_decode_to_the_same_pixels_whatever_they_hold(self, tmp_path: Path) -> None:
        pixels = np.random.default_rng(0).integers(0, 256, (12, 10, 3), dtype=np.uint8).repeat(3, 0).repeat(3, 1)
        picture = Image.fromarray(pixels)
        deep = Image.fromarray(np.arange(36 * 30, dtype=np.uint16).reshape(36, 30) * 60)
        kinds = {
            **{f"{mode}.png": picture.convert(mode) for mode in ("RGB", "L", "RGBA", "P", "1", "LA")},
            **{f"{mode}.jpg": picture.convert(mode) for mode in ("RGB", "L", "CMYK")},
            "a.bmp": picture,
            "b.tiff": picture,
            "c.ppm": picture,
            "deep.png": deep,
        }
        for split in ("train", "eval"):
            (tmp_path / "set" / split / "a").mkdir(parents=True)
            for name, image in kinds.items():
                image.save(tmp_path / "set" / split / "a" / name)
        assert_same(*both(tmp_path / "set", name="folder", batch_size=len(kinds)))

    def test_files_of_minddatas_own_writer(self, tmp_path: Path) -> None:
        for split, count in (("train", 7), ("val", 3)):
            write_theirs(tmp_path / f"{split}.mindrecord", count, label="int64")
        assert_same(*both(tmp_path, batch_size=3))
        assert len(epoch(opened(tmp_path, batch_size=3, train=(RandomCrop(padding=1), RandomFlip())))) == 2

    def test_own_arrays_that_were_packed(self, tmp_path: Path) -> None:
        folder = pack("digits", tmp_path / "digits.mindrecord", shards=2)
        assert_same(*both(folder, channels=1, batch_size=100))


class TestMistakes:
    def refused(self, folder: Path, **more: Any) -> DataError:
        with pytest.raises(DataError) as caught:
            epoch(opened(folder, **more))
        assert "\n" not in caught.value.sentence
        return caught.value

    def test_what_minddata_cannot_read_is_named_with_a_way_out(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"MindData cannot read 'digits' - at data\.name") as caught:
            opened(tmp_path, name="digits", channels=1)
        assert "luthier data pack digits -o digits.mindrecord" in (caught.value.hint or "")

    def test_zipped_mnist_and_python_cifar(self, real_data: Path) -> None:
        error = self.refused(real_data / "mnist", name="mnist", channels=1)
        assert error.sentence.startswith("MindData reads MNIST's files unzipped")
        assert "gunzip" in (error.hint or "")

    def test_folders_inside_a_class_and_files_that_it_does_not_decode(self, class_folders: Path) -> None:
        deeper = class_folders / "train" / "cat" / "more"
        deeper.mkdir()
        shutil.copy(class_folders / "train" / "cat" / "0.png", deeper / "A.png")
        error = self.refused(class_folders, name="folder", train=(RandomResizedCrop(size=9),))
        assert "such as cat/more/A.png" in error.sentence
        shutil.rmtree(deeper)
        Image.new("RGB", (9, 9)).save(class_folders / "train" / "cat" / "x.webp")
        error = self.refused(class_folders, name="folder", train=(RandomResizedCrop(size=9),))
        assert error.sentence == "MindData decodes no .webp files"
        folder = pack("folder", class_folders.parent / "m", path=str(class_folders))
        assert self.refused(folder, train=(RandomResizedCrop(size=9),)).sentence == error.sentence

    def test_files_that_ours_leaves_out(self, class_folders: Path) -> None:
        shutil.copy(class_folders / "train" / "cat" / "0.png", class_folders / "train" / "cat" / ".hidden.png")
        size = Resize(size=9, stretch=True)
        error = self.refused(class_folders, name="folder", batch_size=4, train=(size,), eval=(size,))
        assert error.sentence == "MindData finds 13 images where Luthier finds 12"

    def test_a_file_that_is_no_image_is_named(self, class_folders: Path) -> None:
        path = class_folders / "train" / "dog" / "5.png"
        path.write_text("no image")
        size = Resize(size=9, stretch=True)
        error = self.refused(class_folders, name="folder", batch_size=4, train=(size,), eval=(size,))
        assert error.sentence == "MindData failed: map operation: [Decode] failed. Decode: image decode failed"
        assert error.at == str(path)

    def test_images_of_sizes_that_stay_different(self, class_folders: Path) -> None:
        error = self.refused(class_folders, name="folder", batch_size=4)
        assert error.sentence.startswith("MindData failed: ")

    def test_transforms_that_minddata_has_not(self, packed: Path, class_folders: Path, tmp_path: Path) -> None:
        grey = pack("digits", tmp_path / "digits.mindrecord")
        error = self.refused(grey, channels=1, train=(RandomFlip(), ColorJitter(brightness=0.1)))
        assert error.sentence == "MindData has color-jitter for images of 3 channels, these have 1"
        assert error.at == "data.train.1"
        error = self.refused(class_folders, name="folder", train=(RandomCrop(), RandomResizedCrop(size=9)))
        assert error.sentence == "MindData has no random-crop of each image's own size where the sizes vary"

    def test_channels_that_minddata_does_not_decode(self, numbered: Make, tmp_path: Path) -> None:
        folder = pack(numbered(shape=(8, 8, 4)), tmp_path / "m")
        error = self.refused(folder, channels=4)
        assert error.sentence == "MindData decodes images of 1 or 3 channels, these have 4"

    def test_more_workers_than_cores(self, packed: Path) -> None:
        error = self.refused(packed, workers=4096)
        assert error.sentence.startswith("MindData takes at most ")
        assert error.at == "data.workers"

    def test_a_source_in_code_has_no_files(self, numbered: Make) -> None:
        config = Data(pipeline="minddata", train=(), batch_size=8)
        with pytest.raises(DataError, match="MindData reads files"):
            open_data(config, seed=1, source=numbered())

    def test_skipping_is_refused_with_the_recipe(self) -> None:
        with pytest.raises(RecipeError, match=r"does not count the images that it leaves out - at data\.on_error"):
            load("lenet5-digits", ["data.pipeline=minddata", "data.on_error=skip"])

    def test_without_mindspore_it_says_what_to_install(self, packed: Path) -> None:
        with (
            patch("luthier.data.minddata.find_spec", return_value=None),
            pytest.raises(MissingPackage, match=r"pip install 'luthier\[mindspore\]'"),
        ):
            opened(packed)


def test_opening_loads_no_mindspore_before_the_first_batch(packed: Path) -> None:
    code = f"""
import sys
from luthier.data import open_data
from luthier.recipe import Data
data = open_data(Data(name="mindrecord", path={str(packed)!r}, pipeline="minddata", train=(), batch_size=8), seed=1)
print("mindspore" in sys.modules, end=" ")
next(data.train.epoch(0))
print("mindspore" in sys.modules, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True", "False"]


@pytest.mark.parametrize("engine", ["torch", "mindspore"])
def test_either_engine_trains_by_it_and_goes_on_to_the_same_bits(tmp_path: Path, engine: str) -> None:
    folder = pack("digits", tmp_path / "digits.mindrecord")
    settings = [f"engine={engine}", "device=cpu", "mode=eager", "data.name=mindrecord", f"data.path={folder}"]
    settings += ["data.pipeline=minddata", "data.train=[{name='random-crop'}]", "strategy.steps=50", "score.runs=1"]
    recipe = load("lenet5-digits", settings)

    def stop(event: StepEnded) -> None:
        if event.step in (17, 47):
            event.training.stop("enough for now", status="interrupted")

    class Stopper:
        step_ended = staticmethod(stop)

    whole = train(recipe, out=tmp_path / "whole")
    part = resume(resume(train(recipe, out=tmp_path / "part", listeners=[Stopper()]), listeners=[Stopper()]))
    assert same_end(part, whole)
