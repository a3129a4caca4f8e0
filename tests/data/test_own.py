from __future__ import annotations

import sys
from pathlib import Path

import pytest

from luthier.data import open_data, open_source
from luthier.errors import DataError
from luthier.recipe import Data

FACTORIES = """
import numpy as np
from luthier.data import arrays

IMAGES, LABELS = np.zeros((6, 4, 4, 3), np.uint8), [0, 1, 2, 0, 1, 2]

def four():
    return IMAGES, LABELS, IMAGES[:2], LABELS[:2]

def five():
    return IMAGES, LABELS, IMAGES[:2], LABELS[:2], ["a", "b", "c"]

def source():
    return arrays(IMAGES, LABELS, IMAGES[:2], LABELS[:2], name="mine")

def from_path(path):
    return IMAGES, LABELS, IMAGES[:2], LABELS[:2], [path, "b", "c"]

def lazy():
    from neighbour import LABELS
    return IMAGES, LABELS, IMAGES[:2], LABELS[:2]

def raising():
    return {}["absent"]

def wrong():
    return [1, 2]

def three():
    return 1, 2, 3

number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sets.py"
    path.write_text(FACTORIES)
    return path


def test_a_factory_may_return_arrays_arrays_with_class_names_or_a_source(file: Path) -> None:
    assert open_source(f"{file}:four").classes == ("0", "1", "2")
    assert open_source(f"{file}:five").classes == ("a", "b", "c")
    assert open_source(f"{file}:source").name == "mine"


def test_a_factory_is_called_with_the_recipes_path_where_there_is_one(file: Path) -> None:
    assert open_source(f"{file}:from_path", path="here").classes[0] == "here"


def test_a_factory_may_import_a_module_beside_it_when_it_is_called(file: Path) -> None:
    (file.parent / "neighbour.py").write_text("LABELS = [0, 1, 1, 0, 1, 1]")
    before = list(sys.path)
    assert open_source(f"{file}:lazy").classes == ("0", "1")
    assert sys.path == before
    del sys.modules["neighbour"]


def test_a_recipe_can_name_it(file: Path) -> None:
    data = open_data(Data(name=f"{file}:five", batch_size=2), seed=1)
    assert data.train.steps == 3


def test_a_factory_that_raises_keeps_its_own_error_below_ours(file: Path) -> None:
    with pytest.raises(DataError, match="The factory raised KeyError: 'absent'") as caught:
        open_source(f"{file}:raising")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(("name", "got"), [("wrong", "got list"), ("three", "got tuple of 3"), ("number", "got int")])
def test_anything_else_is_refused_with_what_was_expected(file: Path, name: str, got: str) -> None:
    with pytest.raises(DataError, match=rf"a tuple of images, labels, .*{got}"):
        open_source(f"{file}:{name}")


def test_a_file_or_a_name_that_is_not_there_is_refused_with_the_nearest(file: Path) -> None:
    with pytest.raises(DataError, match="Perhaps you meant 'source'"):
        open_source(f"{file}:sorce")
    with pytest.raises(DataError, match=r"set\.py"):
        open_source(f"{file.parent / 'set.py'}:four")
