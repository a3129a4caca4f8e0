"""A network that learns a larger run's answers beside the labels."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from luthier.data import arrays
from luthier.errors import ModelError, RecipeError
from luthier.store import Run, chosen_checkpoint, load_checkpoint
from luthier.training import resume, train
from tests.training.making import digits, result_of
from tests.training.test_starting import CELL, last, same

SMALL = "model.options={width = 0.34, dense = [24]}"
WHOLE = "strategy.teacher_weight=1"  # nothing is learned from the labels


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """It knows nine digits of ten."""
    return train(digits("strategy.epochs=3", "checkpoint.every_epochs=1"), out=tmp_path_factory.mktemp("teacher"))


class TestLearning:
    def test_a_smaller_network_learns_from_its_answers_alone(self, teacher: Run, tmp_path: Path) -> None:
        run = train(digits(SMALL, WHOLE, "strategy.epochs=3", f"strategy.teacher={teacher.path}"), out=tmp_path)
        result, known = result_of(run), result_of(teacher)
        assert result.parameters is not None
        assert known.parameters is not None
        assert result.parameters < known.parameters / 3
        assert result.accuracy is not None
        assert result.accuracy > 80

    def test_a_network_that_answers_as_its_teacher_has_nothing_to_learn(self, teacher: Run, tmp_path: Path) -> None:
        """Both see the same crops, and the loss is the distance between the two."""
        settings = (WHOLE, "strategy.steps=3")
        run = train(digits(*settings, f"strategy.teacher={teacher.path}"), start=teacher, out=tmp_path)
        told = last(run), last(teacher)
        assert all(abs(told[0][name] - told[1][name]).max() < 1e-5 for name in told[0])

    def test_mixed_images_and_accumulation_are_taught_too(self, teacher: Run, tmp_path: Path) -> None:
        further = ("strategy.mixup=0.2", "strategy.accumulate=2", "strategy.label_smoothing=0.1", "strategy.steps=4")
        run = train(digits(SMALL, *further, f"strategy.teacher={teacher.path}"), out=tmp_path)
        assert result_of(run).steps == 4


class TestRepeating:
    def test_the_run_says_who_taught_it(self, teacher: Run, tmp_path: Path) -> None:
        settings = ("strategy.steps=3", f"strategy.teacher={teacher.path}", "strategy.teacher_checkpoint=88")
        run = train(digits(SMALL, *settings), out=tmp_path / "first")
        strategy = run.recipe.strategy
        assert (strategy.teacher, strategy.teacher_checkpoint) == (str(teacher.path.resolve()), 88)
        assert strategy.teacher_sha256 == load_checkpoint(chosen_checkpoint(teacher, 88)).weights_sha256
        assert f"It is taught by {teacher.name}, step 88 (lenet5)" in (run.path / "log.txt").read_text("utf-8")
        assert same(last(run), last(train(run.path, out=tmp_path / "again")))
        other = digits(SMALL, "strategy.steps=3", f"strategy.teacher={teacher.path}")
        assert not same(last(run), last(train(other, out=tmp_path / "other")))

    def test_a_run_goes_on_with_its_teacher_to_the_same_bits(self, teacher: Run, tmp_path: Path) -> None:
        settings = ("strategy.steps=6", "checkpoint.every_steps=3", f"strategy.teacher={teacher.path}")
        run = train(digits("model.options={width = 0.5, dropout = 0.2}", *settings), out=tmp_path)
        whole = last(run)
        shutil.rmtree(run.checkpoints()[-1])
        (run.path / "result.json").unlink()
        assert same(last(resume(run.path)), whole)


class TestRefusals:
    def test_a_teacher_that_is_nowhere(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=r"The teacher cannot be used: .* is no run.* - at strategy\.teacher"):
            train(digits("strategy.teacher=nowhere"), out=tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_other_weights_than_those_that_taught(self, teacher: Run, tmp_path: Path) -> None:
        settings = ("strategy.steps=1", f"strategy.teacher={teacher.path}", "strategy.teacher_sha256=abc")
        with pytest.raises(ModelError, match=r"has not the weights that taught: .* - at strategy\.teacher_sha256"):
            train(digits(*settings), out=tmp_path)

    def test_a_teacher_of_other_images_or_classes(self, teacher: Run, tmp_path: Path) -> None:
        draw = np.random.default_rng(0)
        images, labels = draw.integers(0, 256, (64, 32, 32), np.uint8), np.arange(64) % 3
        recipe = digits("strategy.steps=1", f"strategy.teacher={teacher.path}")
        with pytest.raises(ModelError, match=r"tells 10 classes of digits apart, the network is to learn 3 of arrays"):
            train(recipe, data=arrays(images, labels, images, labels), out=tmp_path)
        images = images[:, :24, :24]
        source = arrays(images, labels, images, labels, classes=[str(digit) for digit in range(10)])
        with pytest.raises(ModelError, match=r"was trained on images of 32×32×1, these are 24×24×1 - at strategy\.te"):
            train(recipe, data=source, out=tmp_path)

    def test_a_hash_of_no_teacher(self) -> None:
        with pytest.raises(RecipeError, match=r"strategy\.teacher names none - at strategy\.teacher_sha256"):
            digits("strategy.teacher_sha256=abc")


@pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")
def test_a_run_on_mindspore_is_taught_by_one_of_pytorch(teacher: Run, tmp_path: Path) -> None:
    """Its graph takes the labels and the answers as one array."""
    engine = ("engine=mindspore", "mode=graph", "device=cpu", "strategy.steps=30")
    run = train(digits(SMALL, WHOLE, *engine, f"strategy.teacher={teacher.path}"), out=tmp_path)
    assert result_of(run).steps == 30


@pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")
def test_a_users_own_cell_is_tried_with_a_teacher_before_the_run(teacher: Run, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(CELL)
    cell = (f"model.name={tmp_path / 'net.py'}:Net", "engine=mindspore", "mode=graph", "strategy.steps=2")
    run = train(digits(*cell, f"strategy.teacher={teacher.path}"), out=tmp_path / "runs")
    assert result_of(run).steps == 2
