"""How long a training lasts, what it is judged by, and what ends it."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import luthier
from luthier.engines import open_session
from luthier.errors import DataError, TrainingError
from luthier.recipe import override
from luthier.store import Run, open_run
from luthier.training import CheckpointSaved, EpochEnded, Evaluated, Event, StepEnded, StepStarted
from tests.cli.calling import luthier as command
from tests.training.leftovers import scalars
from tests.training.making import digits, result_of, trained

EPOCH = 44


def steps_of(run: Run) -> list[int]:
    return [int(path.name.removeprefix("step-")) for path in run.checkpoints()]


def evaluations(told: list[Event]) -> list[tuple[int, str]]:
    return [(event.step, event.split) for event in told if isinstance(event, Evaluated)]


class TestLength:
    @pytest.mark.parametrize(
        ("settings", "steps", "ends"),
        [
            (["strategy.epochs=2"], 2 * EPOCH, [44, 88]),
            (["strategy.steps=10"], 10, [10]),
            (["strategy.steps=44"], 44, [44]),
            (["strategy.steps=50"], 50, [44, 50]),
            (["strategy.steps=50", "strategy.epochs=1"], 50, [44, 50]),
            (["strategy.epochs=1", "data.drop_remainder=false"], 45, [45]),
            (["strategy.epochs=2", "strategy.accumulate=3", "data.batch_size=64"], 14, [7, 14]),
        ],
    )
    def test_in_epochs_or_in_steps(self, settings: list[str], steps: int, ends: list[int], tmp_path: Path) -> None:
        run, told = trained(tmp_path, *settings)
        assert [event.step for event in told if isinstance(event, EpochEnded)] == ends
        assert evaluations(told) == [(end, "eval") for end in ends]
        assert steps_of(run) == ends
        result = result_of(run)
        assert (result.status, result.steps, result.samples) == ("finished", steps, 360)
        assert result.epochs == pytest.approx(steps / ends[0] if steps > 10 else 10 / 44)

    @pytest.mark.parametrize(("every", "expected"), [(0, [220]), (2, [88, 176, 220]), (7, [220])])
    def test_evaluation_every_so_many_epochs_and_at_the_end(
        self, every: int, expected: list[int], tmp_path: Path
    ) -> None:
        run, told = trained(tmp_path, "strategy.epochs=5", f"record.evaluate_every_epochs={every}")
        assert [step for step, _ in evaluations(told)] == expected
        assert list(scalars(run, "eval/accuracy")) == expected

    def test_a_training_learns(self, tmp_path: Path) -> None:
        run, _ = trained(tmp_path, "strategy.epochs=4")
        assert (result_of(run).accuracy or 0) > 90
        assert (result_of(run).parameters, result_of(run).size_mb) == (61_684, 0.246736)


NOTHING_LEARNT = ("data.validation=0.25", "strategy.learning_rate=1e-9")  # and so the first of all equals is the best


class TestCheckpoints:
    @pytest.mark.parametrize(
        ("settings", "expected"),
        [
            (["checkpoint.keep=2"], [176, 220]),
            (["checkpoint.every_epochs=2", "checkpoint.keep=9", *NOTHING_LEARNT], [33, 66, 132, 165]),
            (["checkpoint.every_steps=50", "checkpoint.keep=9", *NOTHING_LEARNT], [33, 50, 100, 150, 165]),
            (["checkpoint.every_epochs=0", "checkpoint.keep=9", *NOTHING_LEARNT], [33, 165]),
        ],
    )
    def test_by_epochs_or_steps_and_the_best_and_the_last(
        self, settings: list[str], expected: list[int], tmp_path: Path
    ) -> None:
        """Where nothing is learnt, the first epoch stays the best."""
        run, _ = trained(tmp_path, "strategy.epochs=5", *settings)
        assert steps_of(run) == expected

    def test_the_best_is_kept_beside_the_last(self, tmp_path: Path) -> None:
        run, _ = trained(tmp_path, "strategy.epochs=5", "checkpoint.keep=2", *NOTHING_LEARNT)
        assert result_of(run).best_step == 33
        assert steps_of(run) == [33, 132, 165]

    def test_saving_the_last_step_happens_once(self, tmp_path: Path) -> None:
        _, told = trained(tmp_path, "strategy.steps=50", "checkpoint.every_steps=10")
        saved = [event.step for event in told if isinstance(event, CheckpointSaved)]
        assert saved == [10, 20, 30, 40, 44, 50]


class TestJudgement:
    def test_without_a_validation_part_the_training_loss_judges(self, tmp_path: Path) -> None:
        run, told = trained(tmp_path, "strategy.epochs=4", "strategy.learning_rate=0.06")
        losses = {event.step: event.loss for event in told if isinstance(event, EpochEnded)}
        assert result_of(run).best_step == min(losses, key=lambda step: losses[step])
        assert result_of(run).validation_accuracy is None

    def test_the_validation_part_judges_and_the_evaluation_set_is_seen_at_the_end_alone(self, tmp_path: Path) -> None:
        run, told = trained(tmp_path, "strategy.epochs=4", "data.validation=0.25", "strategy.learning_rate=0.02")
        assert {split for _, split in evaluations(told)} == {"validation"}
        judged = {event.step: event.metrics.accuracy for event in told if isinstance(event, Evaluated)}
        result = result_of(run)
        assert result.best_step == max(judged, key=lambda step: judged[step])
        assert result.validation_accuracy == list(judged.values())[-1]
        assert result.accuracy is not None
        assert {event.metrics.samples for event in told if isinstance(event, Evaluated)} == {359}

    def test_patience_ends_it_and_a_gain_too_small_for_it_is_the_best_all_the_same(self, tmp_path: Path) -> None:
        run, told = trained(tmp_path, "strategy.epochs=9", "stop.patience=2", "stop.min_delta=0.9")
        losses = {event.step: event.loss for event in told if isinstance(event, EpochEnded)}
        result = result_of(run)
        assert (result.status, result.steps) == ("stopped", 4 * EPOCH)
        assert result.best_step == min(losses, key=lambda step: losses[step]) == 4 * EPOCH
        assert result.reason == "no improvement of at least 0.9 in 2 evaluations since step 88"
        assert result.accuracy is not None
        assert steps_of(run)[-1] == 176
        said = command("train", "--resume", run.path)
        assert "has stopped (no improvement of at least 0.9" in said.err
        assert "nothing is left to do" in said.err

    def test_without_patience_it_goes_on(self, tmp_path: Path) -> None:
        run, _ = trained(tmp_path, "strategy.epochs=4", "stop.min_delta=9")
        assert (result_of(run).status, result_of(run).steps) == ("finished", 4 * EPOCH)


class TestDivergence:
    def test_a_loss_that_is_not_finite_stops_with_the_step_the_rate_and_the_gradient(self, tmp_path: Path) -> None:
        said = command("train", "lenet5-digits", "--out", tmp_path, "--set", "strategy.learning_rate=1e6")
        assert (said.code, said.out) == (1, "")
        assert "Traceback" not in said.err
        message = said.err.partition("error: ")[2]
        assert message.startswith("The loss is nan at step ")
        assert ", learning rate 9" in message
        assert "; the first gradient that is not finite: conv1.weight\n" in message
        assert "Try a lower strategy.learning_rate" in message
        [folder] = tmp_path.iterdir()
        result = result_of(open_run(folder))
        assert result.status == "failed"
        assert f"at step {result.steps + 1}," in message
        assert result.reason is not None
        assert result.reason.startswith("The loss is nan at step")

    def test_the_checkpoints_before_it_stay(self, tmp_path: Path) -> None:
        def blow_up(event: Event) -> None:
            if isinstance(event, StepEnded) and event.step == 20:
                state = event.training.session.state()
                state["model/fc3.bias"][3] = np.nan
                event.training.session.load(state)

        with pytest.raises(
            TrainingError, match=r"The loss is nan at step 21, learning rate 0\.\d+; the first gradient"
        ):
            trained(tmp_path, "checkpoint.every_steps=10", listeners=[blow_up])
        [folder] = tmp_path.iterdir()
        run = open_run(folder)
        assert steps_of(run) == [10, 20]
        assert run.checkpoints()[0].is_dir()


class TestStrategy:
    @pytest.mark.parametrize(
        "settings",
        [
            ["strategy.mixup=0.4"],
            ["strategy.cutmix=1.0"],
            ["strategy.mixup=0.2", "strategy.cutmix=1.0", "strategy.label_smoothing=0.1", "strategy.accumulate=2"],
            ["strategy.label_smoothing=0.1", "strategy.smoothing_over=others"],
            ["strategy.precision=bfloat16"],
            ["strategy.precision=float16"],
            ["strategy.precision=float16", "strategy.loss_scale=1024"],
            ["strategy.precision=float16", "strategy.loss_scale=dynamic"],
            ["strategy.clip_norm=1.0"],
            ["strategy.optimizer=muon", "strategy.learning_rate=0.02"],
            ["strategy.optimizer=adamw", "strategy.learning_rate=0.002"],
            ["strategy.schedule=one-cycle", "strategy.learning_rate=0.05"],
        ],
        ids=lambda settings: ", ".join(settings).replace("strategy.", ""),
    )
    def test_trains(self, settings: list[str], tmp_path: Path) -> None:
        run, told = trained(tmp_path, "strategy.epochs=3", *settings)
        losses = [event.loss for event in told if isinstance(event, EpochEnded)]
        assert losses[-1] < losses[0]
        assert (result_of(run).accuracy or 0) > 50

    def test_the_weights_file_and_evaluation_take_the_average(self, tmp_path: Path) -> None:
        run, told = trained(tmp_path, "strategy.epochs=2", "strategy.average_decay=0.9")
        last = run.checkpoints()[-1]
        weights, state = load_file(last / "weights.safetensors"), load_file(last / "state.safetensors")
        assert not np.array_equal(weights["fc1.weight"], state["model/fc1.weight"])
        assert state["optimizer/average_steps"] == 2 * EPOCH
        training = told[-1].training
        fresh = open_session(override(run.recipe, ["strategy.average_decay=0"]), shape=(32, 32, 1), num_classes=10)
        fresh.load({f"model/{name}": array for name, array in weights.items()})
        images, _ = training.data.sample("eval", 50)
        stacked = np.stack(list(images))
        np.testing.assert_allclose(fresh.logits(stacked), training.session.logits(stacked), rtol=1e-4, atol=1e-5)
        assert luthier.evaluate(run).accuracy == pytest.approx(result_of(run).accuracy)


class TestThroughput:
    def test_the_first_step_does_not_count(self, tmp_path: Path) -> None:
        def compile_for_a_second(event: Event) -> None:
            if isinstance(event, StepStarted) and event.step == 1:
                time.sleep(1.0)

        run, _ = trained(tmp_path, "strategy.epochs=1", listeners=[compile_for_a_second])
        result = result_of(run)
        assert result.train_seconds is not None
        assert result.train_seconds > 1.0
        assert (result.images_per_second or 0) > 43 * 32 / (result.train_seconds - 1.0)

    def test_nor_does_what_happens_between_epochs(self, tmp_path: Path) -> None:
        def evaluate_for_a_second(event: Event) -> None:
            if isinstance(event, Evaluated):
                time.sleep(0.5)

        run, _ = trained(tmp_path, "strategy.epochs=2", listeners=[evaluate_for_a_second])
        result = result_of(run)
        assert result.train_seconds is not None
        assert (result.images_per_second or 0) > 87 * 32 / (result.train_seconds - 1.0)


class TestInCode:
    def test_arrays_take_the_place_of_the_recipes_set(self, tmp_path: Path) -> None:
        draw = np.random.default_rng(0)
        labels = np.arange(96) % 3
        images = (draw.integers(0, 60, (96, 16, 16, 1)) + 80 * labels[:, None, None, None]).astype(np.uint8)
        source = luthier.data.arrays(images[:64], labels[:64], images[64:], labels[64:], classes=["a", "b", "c"])
        recipe = digits("strategy.epochs=25", "model.options={kernel = 3}", "data.train=[]", "data.batch_size=8")
        run = luthier.train(recipe, out=tmp_path, data=source)
        assert result_of(run).samples == 32
        assert (result_of(run).accuracy or 0) > 90

    def test_a_resume_without_them_is_refused(self, tmp_path: Path) -> None:
        labels = np.arange(64) % 10
        images = np.zeros((64, 32, 32, 1), np.uint8)
        source = luthier.data.arrays(images, labels, images, labels)

        def interrupt(event: Event) -> None:
            if isinstance(event, StepEnded) and event.step == 3:
                event.training.stop("", status="interrupted")

        run = luthier.train(digits("strategy.steps=6"), out=tmp_path, data=source, listeners=[interrupt])
        with pytest.raises(DataError, match="not the data that the run was trained on: name is digits, was arrays"):
            luthier.resume(run)
        with pytest.raises(DataError, match="name is digits, was arrays"):
            luthier.evaluate(run)
        assert result_of(luthier.resume(run, data=source)).status == "finished"

    def test_a_run_that_has_ended_is_given_back(self, tmp_path: Path) -> None:
        run, told = trained(tmp_path, "strategy.steps=2")
        count = len(told)
        assert luthier.resume(run, listeners=[told.append]) == run
        assert len(told) == count

    def test_two_runs_of_one_recipe_are_alike(self, tmp_path: Path) -> None:
        one, other = (trained(tmp_path / name, "strategy.steps=30")[0] for name in "ab")
        files = [run.checkpoints()[-1] / "weights.safetensors" for run in (one, other)]
        assert files[0].read_bytes() == files[1].read_bytes()
