"""`luthier data` as a person or a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.calling import luthier
from tests.cli.test_mistakes import SHORT, mnist, refused, with_settings

OWN = """
import numpy as np

def images(side, channels=1):
    return np.zeros((32, side, side, channels), np.uint8), np.arange(32) % 3

def sizes():
    return *images(32), *images(40)

def numbers():
    return *images(32), *images(32), [10, 20, 30]

def layers():
    return *images(32, 5), *images(32, 5)

def ragged():
    return [[1, 2], [3]], [0, 1], [[1, 2], [3]], [0, 1]

def unnamed():
    return *images(32), *images(32), ["cat", "\\U0010fffe", "dog"]

def beyond():
    from luthier.data import Part, Source
    pixels, labels = images(32)
    part = Part(images=pixels, labels=labels)
    return Source(name="x", classes=("a", "b"), train=part, eval=part)
"""


@pytest.fixture(autouse=True)
def _own(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)


class TestJson:
    def test_get_and_pack_say_where_the_set_is(self, tmp_path: Path) -> None:
        mnist(tmp_path / "data" / "mnist")
        said = luthier("data", "get", "mnist", "--json")
        assert json.loads(said.out) == {"path": str(tmp_path / "data" / "mnist")}
        assert said.err == ""
        assert json.loads(luthier("data", "pack", "digits", "-o", "packed", "--json").out) == {"path": "packed"}

    def test_show_says_what_it_drew(self) -> None:
        told = json.loads(luthier("data", "show", "digits", "--split", "eval", "-n", "7", "--json").out)
        classes = [str(number) for number in range(10)]
        shown = {"name": "digits", "split": "eval", "samples": 7, "images": 360, "classes": classes}
        assert told == {"path": "grid.png", **shown}


class TestTalk:
    def test_a_set_that_is_unknown_is_told_in_one_sentence_and_nothing_before_it(self) -> None:
        assert luthier("data", "get", "nope").err.startswith("error: Unknown data set 'nope'")

    def test_channels_that_no_picture_has_are_said(self) -> None:
        said = luthier("data", "show", "own.py:layers", "-n", "2")
        assert (said.code, said.err) == (0, "Shown is the first of 5 channels, which no picture has\n")

    def test_a_class_that_no_font_can_write_is_said(self) -> None:
        said = luthier("data", "show", "own.py:unnamed")
        assert (said.code, said.out) == (0, "grid.png\n")
        assert said.err.startswith("No font here has the letters of ")


class TestOwnSets:
    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("numbers", "Expected a text as the name of class 0, got 10 - at classes"),
            ("ragged", "Expected images of one size, NumPy makes no array of this list"),
            ("beyond", "Expected labels from 0 to 1, got 2 for image 2 - at train.labels of x"),
            (
                "sizes",
                "lenet5 takes images of one size: those to train on are 32×32, those of the evaluation part 40×40 "
                "- at data.eval in lenet5-digits\n  Give both one size",
            ),
        ],
    )
    def test_what_could_not_be_trained_or_judged_is_refused_before_a_run_begins(
        self, name: str, told: str, tmp_path: Path
    ) -> None:
        assert with_settings(f"data.name=own.py:{name}").startswith(told)
        assert not (tmp_path / "runs").exists()

    def test_sizes_that_the_transforms_make_equal_are_trained(self) -> None:
        chosen = ("--set", "data.name=own.py:sizes", "--set", "data.eval=[{name = 'center-crop', size = 32}]")
        assert luthier("train", "lenet5-digits", *SHORT, *chosen).code == 0

    def test_a_network_that_takes_any_size_is_judged_on_another(self) -> None:
        chosen = ("--set", "data.name=own.py:sizes", "--set", "model={name='slim', options={width=0.1}}")
        assert luthier("train", "lenet5-digits", *SHORT, *chosen).code == 0

    def test_a_set_that_is_nowhere_below_the_root_is_fetched_into_it(self) -> None:
        assert "`luthier data get mnist --data-root new`" in refused("train", "lenet5-mnist", "--data-root", "new")
