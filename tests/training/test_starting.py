"""A run may start from other weights: another run's, of either engine, or a file's."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from luthier.engines import Arrays, Session
from luthier.errors import ModelError, RecipeError, UnknownRun
from luthier.recipe import Start
from luthier.store import Run, chosen_checkpoint, load_checkpoint
from luthier.training import open_parts, resume, start_from, train
from tests.training.making import digits, result_of

mindspore_too = pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")

BATCH = "model.options={normalisation = 'batch', width = 0.5}"
CELL = """
from mindspore import nn

class Net(nn.Cell):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.SequentialCell(nn.Conv2d(1, 4, 3, stride=4), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(p=0.1))
        self.end_point = nn.Dense(4 * 64, num_classes)

    def construct(self, x):
        return self.end_point(self.features(x).flatten(start_dim=1))
"""


def opened(*settings: str) -> Session:
    data, session = open_parts(digits(*settings))
    data.close()
    return session


def weights_of(session: Session) -> Arrays:
    """In the usual order, since safetensors would write PyTorch's channels-last memory as it lies."""
    state = session.state()
    return {key[6:]: np.asarray(array, order="C") for key, array in state.items() if key.startswith("model/")}


def last(run: Run) -> Arrays:
    return load_checkpoint(chosen_checkpoint(run, "last")).weights


def same(one: Arrays, other: Arrays) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


class TestFromARun:
    def test_its_last_weights_are_taken_to_the_bit(self, trained_once: Run) -> None:
        session = opened()
        start = start_from(session, Start(path=str(trained_once.path)))
        assert same(weights_of(session), last(trained_once))
        assert (start.path, start.checkpoint) == (str(trained_once.path.resolve()), 30)
        assert f"It starts from {trained_once.name}, step 30, trained on torch" in session.notes

    def test_another_of_its_checkpoints_is_named_by_step(self, trained_once: Run) -> None:
        session = opened()
        start_from(session, Start(path=str(trained_once.path), checkpoint=10))
        assert same(weights_of(session), load_checkpoint(chosen_checkpoint(trained_once, 10)).weights)

    def test_the_moving_average_starts_there_too(self, trained_once: Run) -> None:
        session = opened("strategy.average_decay=0.9")
        start_from(session, Start(path=str(trained_once.path)))
        state, given = session.state(), last(trained_once)
        assert all(np.array_equal(state[f"average/{name}"], given[name]) for name in given)

    def test_the_run_s_recipe_tells_enough_to_repeat_it(self, trained_once: Run, tmp_path: Path) -> None:
        first = train(digits("strategy.steps=3"), start=trained_once, out=tmp_path / "first")
        assert first.recipe.start.checkpoint == 30
        assert len(first.recipe.start.sha256) == 64
        again = train(first.path, out=tmp_path / "again")
        assert same(last(first), last(again))
        assert not same(last(first), last(train(digits("strategy.steps=3"), out=tmp_path / "other")))

    def test_a_run_that_was_killed_before_its_first_checkpoint_starts_there_again(
        self, trained_once: Run, tmp_path: Path
    ) -> None:
        whole = train(digits("strategy.steps=3"), start=trained_once, out=tmp_path / "whole")
        killed = shutil.copytree(whole.path, tmp_path / whole.name)
        shutil.rmtree(killed / "checkpoints")
        (killed / "result.json").unlink()
        assert same(last(resume(killed)), last(whole))

    def test_a_resume_needs_the_other_run_no_more(self, trained_once: Run, tmp_path: Path) -> None:
        source = shutil.copytree(trained_once.path, tmp_path / "source")
        settings = ("strategy.steps=6", "checkpoint.every_steps=3")
        whole = train(digits(*settings), start=source, out=tmp_path / "whole")
        shutil.rmtree(source)
        shutil.rmtree(whole.checkpoints()[-1])
        (whole.path / "result.json").unlink()
        assert result_of(resume(whole.path)).steps == 6


class TestFresh:
    def test_a_head_of_other_classes_keeps_the_seed_s_weights(self, trained_once: Run) -> None:
        other = "model.options.dense=[120, 50]"
        session, untouched = opened(other), weights_of(opened(other))
        start_from(session, Start(path=str(trained_once.path), fresh=("fc2", "fc3.weight", "fc3.bias")))
        found, given = weights_of(session), last(trained_once)
        for name, array in found.items():
            assert np.array_equal(array, (untouched if name.startswith(("fc2", "fc3")) else given)[name]), name

    def test_a_layer_of_another_shape_is_refused_with_both_and_a_way_out(self, trained_once: Run) -> None:
        session = opened("model.options.dense=[120, 50]")
        before = weights_of(session)
        with pytest.raises(ModelError) as caught:
            start_from(session, Start(path=str(trained_once.path)))
        assert "fc2.weight is 84×120 in the file, 50×120 in the network" in caught.value.sentence
        assert caught.value.hint == """To train such layers anew: --set 'start.fresh=["fc2", "fc3"]'"""
        assert same(weights_of(session), before)

    def test_a_layer_that_is_not_there_answers_with_the_nearest(self, trained_once: Run) -> None:
        with pytest.raises(RecipeError, match=r"no layer or parameter 'fc' - at start.fresh\n  Perhaps you meant 'fc"):
            start_from(opened(), Start(path=str(trained_once.path), fresh=("fc",)))

    def test_another_network_is_refused_by_name(self, trained_once: Run) -> None:
        with pytest.raises(ModelError, match=r"another network's: they lack conv1\.conv\.weight"):
            start_from(opened("model.options={bypass = true}"), Start(path=str(trained_once.path)))


class TestFromAFile:
    def test_pytorch_s_and_safetensors_are_taken_to_the_bit(self, tmp_path: Path) -> None:
        given = weights_of(opened("strategy.seed=5"))
        save_file(given, tmp_path / "given.safetensors")
        torch.save({"model": {f"module.{n}": torch.from_numpy(a) for n, a in given.items()}}, tmp_path / "given.pth")
        for path in (tmp_path / "given.safetensors", tmp_path / "given.pth"):
            session = opened()
            start = start_from(session, Start(path=str(path)))
            assert same(weights_of(session), given)
            assert start.path == str(path)

    def test_a_file_that_has_changed_since_is_refused(self, tmp_path: Path) -> None:
        place = tmp_path / "given.safetensors"
        save_file(weights_of(opened("strategy.seed=5")), place)
        run = train(digits("strategy.steps=1"), start=place, out=tmp_path)
        save_file(weights_of(opened("strategy.seed=6")), place)
        with pytest.raises(ModelError, match=r"has not the weights that were started from: .* - at start\.sha256"):
            train(run.path, out=tmp_path)
        train(run.path, start=place, out=tmp_path)  # named anew, it is meant as it is now


@mindspore_too
class TestAcrossEngines:
    def test_weights_and_moving_statistics_cross_both_ways_to_the_bit(self, tmp_path: Path) -> None:
        settings = (BATCH, "strategy.steps=3")
        there = train(digits(*settings, "engine=torch"), out=tmp_path / "torch")
        session = opened(BATCH, "engine=mindspore", "mode=graph", "device=cpu")
        start_from(session, Start(path=str(there.path)))
        assert same(weights_of(session), last(there))
        session.close()
        back = train(
            digits(*settings, "engine=mindspore", "mode=graph", "device=cpu"), start=there, out=tmp_path / "mindspore"
        )
        session = opened(BATCH, "engine=torch")
        start_from(session, Start(path=str(back.path)))
        assert same(weights_of(session), last(back))
        assert int(last(back)["norm1.num_batches_tracked"]) == 6
        assert not np.array_equal(last(back)["norm1.running_mean"], last(there)["norm1.running_mean"])

    @pytest.mark.parametrize("engine", ["torch", "mindspore"])
    def test_a_checkpoint_of_the_course_s_resnet_with_its_optimizer(self, tmp_path: Path, engine: str) -> None:
        import mindspore

        from luthier.zoo.mindspore import build

        resnet = ("model.name=resnet18", "model.options={width = 0.0625, stem = 'cifar'}", f"engine={engine}")
        cell = build(digits(*resnet).model, shape=(32, 32, 1), num_classes=10, seed=9)
        own = {parameter.name: parameter for parameter in cell.get_parameters()}
        course = [
            {"name": n.replace("downsample", "down_sample_layer").replace("fc.", "end_point."), "data": p}
            for n, p in own.items()
        ]
        course += [{"name": f"moments.{item['name']}", "data": item["data"]} for item in list(course)]
        mindspore.save_checkpoint(course, str(tmp_path / "course.ckpt"), append_dict={"epoch_num": 90, "lr": 0.1})
        session = opened(*resnet)
        start_from(session, Start(path=str(tmp_path / "course.ckpt")))
        found = weights_of(session)
        assert np.array_equal(found["fc.weight"], own["fc.weight"].asnumpy())
        assert np.array_equal(found["layer2.0.downsample.1.weight"], own["layer2.0.downsample.1.gamma"].asnumpy())
        assert np.array_equal(found["bn1.running_var"], own["bn1.moving_variance"].asnumpy())

    def test_an_own_cell_starts_from_another_run_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "net.py").write_text(CELL)
        settings = (f"model.name={tmp_path / 'net.py'}:Net", "engine=mindspore", "mode=graph", "strategy.steps=2")
        first = train(digits(*settings), out=tmp_path / "first")
        assert {"features.1.gamma", "features.1.moving_mean", "end_point.weight"} < set(last(first))
        session = opened(*settings)
        start_from(session, Start(path=str(first.path)))
        assert same(weights_of(session), last(first))
        assert result_of(train(digits(*settings), start=first, out=tmp_path / "second")).steps == 2


class TestMistakes:
    def test_a_start_that_is_nowhere(self, tmp_path: Path) -> None:
        with pytest.raises(UnknownRun, match="'nowhere' is no run"):
            start_from(opened(), Start(path="nowhere"))

    def test_a_recipe_that_speaks_of_no_start(self) -> None:
        with pytest.raises(RecipeError, match=r"start\.path names none - at start\.fresh"):
            digits("start.fresh=['fc3']")
