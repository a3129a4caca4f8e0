"""A mistake is answered with one clear sentence, exit code 2 and no traceback of ours."""

from __future__ import annotations

import errno
import gzip
import struct
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from luthier.measure import registry
from luthier.store import Run, open_run
from tests.cli.calling import Said, luthier

SHORT = ("--no-measure", "--set", "strategy.steps=2")
OWN = """
import sys
import torch
from torch import nn

def raises(num_classes):
    return deeper(num_classes)

def deeper(num_classes):
    raise FileNotFoundError("weights.bin is not here")

def text(num_classes):
    return "a network"

def empty():
    return nn.Flatten()

def narrow():
    return nn.Sequential(nn.Flatten(), nn.Linear(1024, 7))

def flattens(num_classes):
    return nn.Sequential(nn.Flatten(), nn.Linear(7, num_classes))

class Exits(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.fc = nn.Linear(1024, num_classes)

    def forward(self, x):
        sys.exit()

def leaves():
    sys.exit(0)

class Leaves:
    def __init__(self):
        sys.exit(0)

def leaves_later(event):
    if type(event).__name__ == "StepEnded" and event.step == 2:
        sys.exit(0)

def data():
    raise ValueError("no such table")

def number():
    return 7

class Deaf:
    def step_endd(self, event):
        pass

class Misspelt:
    def step_ended(self, event):
        pass

    def on_epoch_end(self, event):
        pass

class Broken:
    def __init__(self):
        self.table = {}["a"]

class Late:
    def step_ended(self, event):
        return 1 / (event.step - 2)
"""


def sentence(said: Said, code: int = 2) -> str:
    """The one message, without its colour-less prefix."""
    assert said.code == code, said.err
    assert said.out == ""
    assert said.err.count("error: ") == 1
    return said.err.partition("error: ")[2]


def refused(*arguments: str | Path) -> str:
    said = luthier(*arguments)
    assert "Traceback" not in said.err
    return sentence(said)


def with_settings(*settings: str) -> str:
    chosen = [argument for setting in settings for argument in ("--set", setting)]
    return refused("train", "lenet5-digits", *SHORT, *chosen)


class TestNames:
    def test_an_unknown_recipe(self) -> None:
        assert refused("train", "lenet5-digit") == (
            "Unknown recipe 'lenet5-digit'\n  Perhaps you meant 'lenet5-digits'. Or give the path of a .toml file.\n"
        )

    def test_a_recipe_file_that_is_not_there(self) -> None:
        assert "No recipe file mine.toml" in refused("train", "mine.toml")

    @pytest.mark.parametrize(
        ("setting", "told", "hint"),
        [
            ("strategy.epoch=3", "Unknown field 'strategy.epoch'", "strategy.epochs"),
            ("stratgy.epochs=3", "Unknown field 'stratgy'", "strategy"),
            ("data.name=digit", "Unknown data set 'digit' - at data.name in lenet5-digits", "digits"),
            ("model.name=lenet", "Unknown network 'lenet'", "lenet5"),
            ("model.options.widht=2", "Unknown option 'widht' of lenet5", "width"),
            ("strategy.optimizer=adm", "Unknown name 'adm' - at strategy.optimizer.name", "adam"),
            ("strategy.schedule=cosin", "Unknown name 'cosin' - at strategy.schedule.name", "cosine"),
            ("model.init=he-norml", "got 'he-norml' - at model.init in", "he-normal"),
            ("data.train.0.name=random-crp", "Unknown name 'random-crp' - at data.train.0.name", "random-crop"),
            ("strategy.optimizer.groups=[{match = 'conv1.wieght'}]", "No parameter matches", "conv1.weight"),
        ],
    )
    def test_an_unknown_name_offers_the_nearest(self, setting: str, told: str, hint: str) -> None:
        message = with_settings(setting)
        assert told in message
        assert f"\n  Perhaps you meant '{hint}'." in message

    @pytest.mark.parametrize("command", ["evaluate", "measure", "predict", "export"])
    def test_an_unknown_run(self, command: str, trained: Run) -> None:
        given = trained.path.with_name(trained.name[:-1])
        more = {"predict": ["x.png"], "export": ["-o", "x.onnx"]}.get(command, [])
        assert f"Perhaps you meant '{trained.path}'" in refused(command, given, *more)

    def test_an_unknown_split_checkpoint_or_format(self, trained: Run) -> None:
        assert "Perhaps you meant 'eval'" in refused("evaluate", trained.path, "--split", "evall")
        assert "Known: last, best, 30, 44, 60" in refused("evaluate", trained.path, "--checkpoint", "7")
        assert "Perhaps you meant 'onnx'" in refused("export", trained.path, "--format", "onxx", "-o", "x")


class TestValues:
    @pytest.mark.parametrize(
        ("setting", "told"),
        [
            ("strategy.learning_rate=fast", "Expected a number above 0, got 'fast' - at strategy.learning_rate in "),
            ("strategy.learning_rate=-1", "Expected a number above 0, got -1 - at strategy.learning_rate"),
            ("strategy.epochs=0", "Expected a whole number of at least 1, got 0 - at strategy.epochs"),
            ("data.batch_size=2000", "A step takes 2,000 images of all ranks together, the training part has 1,437"),
            ("model.options.width=0", "Expected a number above 0, got 0 - at model.options.width"),
            ("device=cuda:99", "PyTorch sees "),
            ("device=tpu", "Expected a device such as auto, cpu, cuda:0"),
            ("data.normalize={mean=[0.1,0.2,0.3], std=[1,1,1]}", "normalize"),
            ("strategy.label_smoothing=1.5", "Expected a number of at least 0 and below 1, got 1.5"),
            ("strategy.epochs", "Expected field=value, got 'strategy.epochs' - at --set"),
        ],
    )
    def test_a_wrong_value_says_what_was_expected_and_where(self, setting: str, told: str) -> None:
        assert told in with_settings(setting)

    def test_smoothing_that_would_weigh_the_true_class_least(self) -> None:
        settings = ("strategy.label_smoothing=0.95", "strategy.smoothing_over=others")
        assert "A smoothing of 0.95 leaves the true one of 10 classes less" in with_settings(*settings)

    def test_a_damaged_recipe_file(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text("[strategy]\nepochs = ")
        assert refused("train", "mine.toml").startswith("Not TOML: ")
        (tmp_path / "mine.toml").write_text("[strategy]\nepochs = 'ten'")
        assert refused("train", "mine.toml").startswith("Expected a whole number of at least 1, got 'ten' - at strat")

    def test_neither_a_recipe_nor_a_run_to_resume_or_both(self, trained: Run) -> None:
        assert "one of the two" in refused("train")
        assert "one of the two" in refused("train", "lenet5-digits", "--resume", trained.path)
        assert "goes on with its own recipe" in refused("train", "--resume", trained.path, "--set", "strategy.steps=1")

    def test_a_run_cannot_be_written_into_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "runs").write_text("a file")
        said = luthier("train", "lenet5-digits", *SHORT)
        assert "Could not write the run's folder" in sentence(said, code=1)
        assert "Traceback" not in said.err


def idx(path: Path, array: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> None:
    head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(head + array.tobytes()) if path.suffix == ".gz" else head + array.tobytes())


def mnist(folder: Path, highest_label: int = 9) -> None:
    for split, count in (("train", 64), ("t10k", 32)):
        labels = (np.arange(count) % (highest_label + 1)).astype(np.uint8)
        idx(folder / f"{split}-images-idx3-ubyte.gz", np.zeros((count, 28, 28), np.uint8))
        idx(folder / f"{split}-labels-idx1-ubyte.gz", labels)


class TestData:
    def test_a_set_that_is_not_there_says_where_it_was_looked_for(self, tmp_path: Path) -> None:
        message = refused("train", "lenet5-cifar10")
        assert f"Data set 'cifar10' was not found in {tmp_path / 'data' / 'cifar10'}" in message
        assert "\n  Run `luthier data get cifar10`" in message

    def test_a_data_root_that_was_named_is_the_only_one(self, tmp_path: Path) -> None:
        message = refused("train", "lenet5-mnist", "--data-root", tmp_path / "elsewhere")
        assert "elsewhere" in message
        assert "cache" not in message.splitlines()[0]

    def test_one_that_is_half_downloaded(self, tmp_path: Path) -> None:
        mnist(tmp_path / "data" / "mnist")
        (tmp_path / "data" / "mnist" / "t10k-labels-idx1-ubyte.gz").unlink()
        message = refused("train", "lenet5-mnist")
        assert "t10k-labels-idx1-ubyte" in message
        assert "missing" in message

    @pytest.mark.parametrize("size", [100, 30_730_000 - 1])
    def test_a_file_of_the_wrong_size(self, size: int, tmp_path: Path) -> None:
        path = tmp_path / "data" / "cifar10" / "data_batch_1.bin"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.truncate(size)
        message = refused("train", "lenet5-cifar10")
        assert message.startswith(f"Expected 30,730,000 bytes (10,000 images), got {size:,} - at {path}")

    def test_a_file_that_is_cut_short_within_its_compression(self, tmp_path: Path) -> None:
        mnist(tmp_path / "data" / "mnist")
        path = tmp_path / "data" / "mnist" / "train-images-idx3-ubyte.gz"
        path.write_bytes(path.read_bytes()[:-20])
        assert str(path) in refused("train", "lenet5-mnist")

    def test_labels_out_of_range(self, tmp_path: Path) -> None:
        mnist(tmp_path / "data" / "mnist", highest_label=10)
        message = refused("train", "lenet5-mnist")
        assert message.startswith("Expected labels from 0 to 9, got 10 for image 10 - at ")

    def test_class_folders_that_are_not_there_or_empty(self, pets: Path, tmp_path: Path) -> None:
        def told(path: Path | str) -> str:
            return with_settings("data.name=folder", f"data.path={path}")

        assert "The folder nowhere" in told("nowhere")
        (pets / "train" / "bird").mkdir()
        message = told(pets)
        assert message.startswith("The class folder holds no image file")
        assert f"at {pets / 'train' / 'bird'}" in message
        (tmp_path / "bare" / "train").mkdir(parents=True)
        (tmp_path / "bare" / "eval").mkdir()
        assert "Expected a folder for each class, found nothing" in told(tmp_path / "bare")

    def folder(self, pets: Path, *more: str) -> Said:
        colour = "data.normalize={mean=[0.5,0.5,0.5], std=[0.3,0.3,0.3]}"
        settings = ["data.name=folder", f"data.path={pets}", "data.batch_size=4", colour, *more]
        return luthier(
            "train", "lenet5-digits", "--no-measure", *[part for item in settings for part in ("--set", item)]
        )

    @pytest.mark.parametrize("content", [b"no image", b"", b"\x89PNG\r\n\x1a\n" + bytes(40), b"GIF89a" + bytes(3)])
    def test_an_image_file_that_is_none_is_named(self, content: bytes, pets: Path) -> None:
        bad = pets / "train" / "dog" / "3.png"
        bad.write_bytes(content)
        said = self.folder(pets)
        assert "Traceback" not in said.err
        message = sentence(said)
        assert message.startswith("Not an image that can be read")
        assert f"at {bad}" in message
        assert 'data.on_error = "skip"' in message

    def test_one_that_may_be_skipped_is_counted(self, pets: Path, tmp_path: Path) -> None:
        (pets / "train" / "dog" / "3.png").write_bytes(b"no image")
        (pets / "eval" / "cat" / "1.png").write_bytes(b"none either")
        said = self.folder(pets, "data.on_error=skip", "strategy.epochs=2", "record.every_steps=1")
        assert said.code == 0, said.err
        [run] = (tmp_path / "runs").iterdir()
        result = open_run(run).result()
        assert result is not None
        assert (result.skipped_images, result.steps, result.samples) == (2, 8, 5)
        told = f"2 files that are no images were left out: {pets}/eval/cat/1.png, {pets}/train/dog/3.png"
        assert said.err.count(told) == 1
        assert (run / "log.txt").read_text().count(told) == 1


class TestRuntimes:
    def test_one_that_is_not_there_is_told_before_the_training(self, tmp_path: Path) -> None:
        with patch.object(registry, "find_spec", lambda _: None):
            message = refused("train", "lenet5-digits", "--set", "score.runtime=torch-eager")
            assert message.startswith("The runtime torch-eager, which the latency is to be taken in, is not installed")
            assert "pip install torch, or --no-measure" in message
            assert not (tmp_path / "runs").exists()
            settings = ("--set", "score.runtime=torch-eager", "--set", "strategy.steps=2")
            assert luthier("train", "lenet5-digits", "--no-measure", *settings).code == 0


class TestPictures:
    @pytest.mark.parametrize("command", [("data", "show", "digits"), ("schedule", "lenet5-digits")])
    def test_one_is_refused_before_it_is_drawn(self, command: tuple[str, ...], tmp_path: Path) -> None:
        message = refused(*command, "-o", "a.pngg")
        assert message.startswith("Expected a picture such as a.png, got 'a.pngg' - at --output")
        (tmp_path / "file").touch()
        said = luthier(*command, "-o", "file/a.png")
        assert "Could not make the folder of a.png" in sentence(said, code=1)
        assert luthier(*command, "-o", "new/a.png").code == 0
        assert (tmp_path / "new" / "a.png").stat().st_size > 1000

    def test_a_disk_that_is_full_is_told(self, tmp_path: Path) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with patch("luthier.store.durable.write_file", full):
            said = luthier("schedule", "lenet5-digits", "-o", "a.png")
        assert "Could not write a.png: No space left on device; it needs" in sentence(said, code=1)
        assert list(tmp_path.iterdir()) == []


class TestOwnCode:
    @pytest.fixture(autouse=True)
    def _own(self, tmp_path: Path) -> None:
        (tmp_path / "own.py").write_text(OWN)

    def told(self, *settings: str, code: int = 2) -> tuple[str, str]:
        """Our sentence, and the user's traceback below it."""
        chosen = [argument for setting in settings for argument in ("--set", setting)]
        message = sentence(luthier("train", "lenet5-digits", *SHORT, *chosen), code)
        ours, _, theirs = message.partition("\nTraceback")
        return ours.strip(), theirs

    def test_a_factory_that_raises_keeps_its_traceback_below(self) -> None:
        ours, theirs = self.told("model.name=own.py:raises")
        assert ours == (
            "raises in own.py raised FileNotFoundError: weights.bin is not here - at model.name in lenet5-digits"
        )
        assert [line.strip() for line in theirs.splitlines() if "File " in line] == [
            'File "own.py", line 7, in raises',
            'File "own.py", line 10, in deeper',
        ]
        assert theirs.rstrip().endswith("FileNotFoundError: weights.bin is not here")

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("own.py:text", "text in own.py gave a str, expected a torch.nn.Module - at model.name"),
            ("own.py:raise", "No 'raise' in own.py - at model.name"),
            ("owm.py:text", "No file owm.py - at model.name in lenet5-digits\n  Perhaps you meant 'own.py'."),
            ("own.py:torch", "Expected a factory or a class, 'torch' in own.py is a module - at model.name"),
            ("own.py:empty", "own.py:empty has no parameter that can be trained - at model.name"),
            ("own.py:", "Expected path/to/file.py:name, got 'own.py:' - at model.name"),
        ],
    )
    def test_what_is_no_factory_of_a_network(self, name: str, expected: str) -> None:
        ours, theirs = self.told(f"model.name={name}", "model.options={}")
        assert ours.startswith(expected)
        assert theirs == ""

    def test_a_network_with_other_outputs_than_there_are_classes(self) -> None:
        ours, theirs = self.told("model.name=own.py:narrow")
        assert ours.startswith("The network gives [2, 7] for 2 images, expected [2, 10]: one a class - at model.name")
        assert theirs == ""

    @pytest.mark.parametrize("name", ["flattens", "Exits"])
    def test_a_network_that_cannot_run_leaves_no_run(self, name: str, tmp_path: Path) -> None:
        ours, theirs = self.told(f"model.name=own.py:{name}")
        assert ours.startswith(f"own.py:{name} raised ")
        assert ("in forward" in theirs) == (name == "Exits")
        assert not (tmp_path / "runs").exists()

    @pytest.mark.parametrize(
        "setting", ["model.name=own.py:leaves", "data.name=own.py:leaves", "listeners=['own.py:Leaves']"]
    )
    def test_a_sys_exit_does_not_end_the_command_with_success(self, setting: str) -> None:
        ours, theirs = self.told(setting)
        assert "raised SystemExit: 0 - at " in ours
        assert "sys.exit(0)" in theirs

    def test_a_sys_exit_while_the_file_is_run_does_not_either(self, tmp_path: Path) -> None:
        (tmp_path / "own.py").write_text("import sys\nsys.exit()\n")
        assert self.told("model.name=own.py:net")[0].startswith("own.py cannot be run: SystemExit - at model.name")

    def test_a_sys_exit_of_a_listener_in_a_training_is_a_failure(self) -> None:
        ours, _ = self.told("listeners=['own.py:leaves_later']", code=1)
        assert ours.endswith("The listener own.py:leaves_later raised SystemExit: 0 - at step 2")

    def test_a_file_that_does_not_compile(self, tmp_path: Path) -> None:
        (tmp_path / "own.py").write_text("def net(:\n")
        ours, theirs = self.told("model.name=own.py:net")
        assert ours.startswith("own.py cannot be run: SyntaxError: ")
        assert 'File "own.py", line 1' in ours + theirs

    def test_a_data_set_that_raises_or_is_none(self) -> None:
        ours, theirs = self.told("data.name=own.py:data")
        assert ours.startswith("The factory raised ValueError: no such table - at own.py:data")
        assert "in data" in theirs
        ours, theirs = self.told("data.name=own.py:number")
        assert ours.startswith("Expected a Source, or a tuple of images, labels")
        assert theirs == ""

    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("Deaf", "A listener of type Deaf has no method named for an event"),
            ("Misspelt", "A listener of type Misspelt has a method 'on_epoch_end', which no event is named for"),
            ("number_", "No 'number_' in own.py - at listeners\n  Perhaps you meant 'number'."),
        ],
    )
    def test_a_listener_that_would_hear_nothing(self, name: str, expected: str) -> None:
        ours, theirs = self.told(f"listeners=['own.py:{name}']")
        assert ours.startswith(expected)
        assert "Perhaps" in ours
        assert theirs == ""

    def test_a_listener_that_raises(self, tmp_path: Path) -> None:
        ours, theirs = self.told("listeners=['own.py:Broken']")
        assert ours == "The listener own.py:Broken raised KeyError: 'a' - at listeners"
        assert "in __init__" in theirs
        assert not (tmp_path / "runs").exists()
        ours, theirs = self.told("listeners=['own.py:Late']", code=1)
        assert ours.endswith("The listener own.py:Late raised ZeroDivisionError: division by zero - at step 2")
        assert "in step_ended" in theirs
