"""What the loop tells, in which order, and to whom."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from luthier.errors import RecipeError
from luthier.store import open_run, read_events
from luthier.training import (
    CheckpointSaved,
    EpochEnded,
    EpochStarted,
    Evaluated,
    Event,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    resume,
)
from luthier.training.listeners import METHODS
from tests.training.leftovers import scalars
from tests.training.making import digits, result_of, trained

STEPS = 44  # an epoch


class Recorder:
    """An object with one method."""

    def __init__(self) -> None:
        self.heard: list[Evaluated] = []

    def evaluated(self, event: Evaluated) -> None:
        self.heard.append(event)


class Everything:
    """An object with all of them."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(name)
        return lambda event: self.heard.append(name)


class TestOrder:
    def test_the_moments_come_as_often_and_in_the_order_that_one_expects(self, tmp_path: Path) -> None:
        run, told = trained(tmp_path, "strategy.epochs=2")
        counts = Counter(type(event) for event in told)
        assert counts == {
            RunStarted: 1,
            EpochStarted: 2,
            StepStarted: 2 * STEPS,
            StepEnded: 2 * STEPS,
            Evaluated: 2,
            EpochEnded: 2,
            CheckpointSaved: 2,
            RunEnded: 1,
        }
        epoch = [EpochStarted, *[StepStarted, StepEnded] * STEPS, Evaluated, EpochEnded, CheckpointSaved]
        assert [type(event) for event in told] == [RunStarted, *epoch, *epoch, RunEnded]
        assert all(event.training is told[0].training for event in told)
        assert [path.name for path in run.checkpoints()] == ["step-00000044", "step-00000088"]

    def test_steps_and_epochs_count_from_one_and_the_rates_are_the_schedules(self, tmp_path: Path) -> None:
        _, told = trained(tmp_path, "strategy.epochs=2", "strategy.schedule.warmup_epochs=0.5")
        ended = [event for event in told if isinstance(event, StepEnded)]
        assert [event.step for event in ended] == list(range(1, 2 * STEPS + 1))
        assert [event.epoch for event in ended] == [1] * STEPS + [2] * STEPS
        assert {event.images for event in ended} == {32}
        assert ended[0].learning_rate == 0.0
        assert ended[11].learning_rate == pytest.approx(0.01 / 2)
        assert ended[STEPS].learning_rate == pytest.approx(0.005)
        rates = [event.learning_rate for event in ended]
        assert all(one > other for one, other in pairwise(rates[22:]))

    def test_an_epochs_loss_is_the_mean_of_its_steps(self, tmp_path: Path) -> None:
        _, told = trained(tmp_path, "strategy.epochs=2")
        losses = [float(event.loss) for event in told if isinstance(event, StepEnded)]
        epochs = [event.loss for event in told if isinstance(event, EpochEnded)]
        assert epochs == pytest.approx([np.mean(losses[:STEPS]), np.mean(losses[STEPS:])])

    def test_the_end_tells_why(self, tmp_path: Path) -> None:
        def stop(event: Event) -> None:
            if isinstance(event, StepEnded) and event.step == 5:
                event.training.stop("seen enough")

        run, told = trained(tmp_path, listeners=[stop])
        assert isinstance(told[-1], RunEnded)
        assert (told[-1].step, told[-1].status, told[-1].reason) == (5, "stopped", "seen enough")
        assert isinstance(told[-2], CheckpointSaved)
        result = result_of(run)
        assert (result.status, result.steps, result.reason) == ("stopped", 5, "seen enough")
        assert result.accuracy is not None

    def test_a_failure_is_told_too_and_keeps_its_error(self, tmp_path: Path) -> None:
        told: list[Event] = []

        def fail(event: Event) -> None:
            told.append(event)
            if isinstance(event, StepEnded) and event.step == 3:
                raise KeyError("mine")
            if isinstance(event, RunEnded):
                raise OSError("and no room to say so")

        with pytest.raises(KeyError, match="mine") as caught:
            trained(tmp_path, listeners=[fail])
        assert isinstance(told[-1], RunEnded)
        assert (told[-1].status, told[-1].reason) == ("failed", "'mine'")
        assert "and no room to say so" in caught.value.__notes__[0]
        [folder] = tmp_path.iterdir()
        assert result_of(open_run(folder)).status == "failed"


class TestListeners:
    def test_an_object_hears_what_it_has_methods_for(self, tmp_path: Path) -> None:
        some, everything = Recorder(), Everything()
        trained(tmp_path, "strategy.steps=3", listeners=[some, everything])
        assert [event.step for event in some.heard] == [3]
        assert set(everything.heard) == set(METHODS)

    def test_the_six_moments_and_the_others_have_names(self) -> None:
        assert set(METHODS) == {
            *("run_started", "epoch_started", "step_started", "step_ended", "epoch_ended", "run_ended"),
            *("evaluated", "checkpoint_saved"),
        }

    @pytest.mark.parametrize("listener", [object(), 7, "step_ended", [print]])
    def test_what_cannot_hear_is_refused(self, listener: object, tmp_path: Path) -> None:
        with pytest.raises(RecipeError, match="has no method named for an event"):
            trained(tmp_path, listeners=[listener])

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("step_end", "step_ended"),
            ("on_step_ended", "step_ended"),
            ("on_epoch_end", "epoch_ended"),
            ("evaluate", "evaluated"),
            ("checkpoint_save", "checkpoint_saved"),
        ],
    )
    def test_a_misspelt_method_is_refused_beside_one_that_is_right(self, name: str, meant: str, tmp_path: Path) -> None:
        listener = Recorder()
        setattr(listener, name, print)
        with pytest.raises(RecipeError, match=f"Perhaps you meant '{meant}'"):
            trained(tmp_path, listeners=[listener])

    def test_methods_of_its_own_are_a_listeners_business(self, tmp_path: Path) -> None:
        listener = Recorder()
        for name in ("save", "metrics", "epochs", "start", "ended", "_step_end", "on_fire"):
            setattr(listener, name, print)
        trained(tmp_path, "strategy.steps=1", listeners=[listener])

    def test_a_recipe_names_them_by_file_and_a_resume_brings_them_back(self, tmp_path: Path) -> None:
        own = tmp_path / "own.py"
        own.write_text(
            "from pathlib import Path\n"
            "heard = Path(__file__).with_name('heard')\n"
            "def note(event):\n"
            "    if type(event).__name__ in ('RunStarted', 'RunEnded'):\n"
            "        with heard.open('a') as file:\n"
            "            file.write(f'{type(event).__name__} {event.step}\\n')\n"
            "class Stop:\n"
            "    def step_ended(self, event):\n"
            "        if event.step == 2 and not heard.with_name('go').exists():\n"
            "            event.training.stop('enough', status='interrupted')\n"
        )
        run, _ = trained(tmp_path / "runs", "strategy.steps=4", f"listeners=['{own}:note', '{own}:Stop']")
        assert result_of(run).status == "interrupted"
        (tmp_path / "go").touch()
        resume(run)
        assert result_of(run).status == "finished"
        assert (tmp_path / "heard").read_text().split("\n") == [
            *("RunStarted 0", "RunEnded 2", "RunStarted 2", "RunEnded 4", ""),
        ]


class Writing:
    """A listener that writes beside the recorder."""

    def step_ended(self, event: StepEnded) -> None:
        event.training.writer.scalar("mine/double", 2 * event.step, event.step)

    def epoch_ended(self, event: EpochEnded) -> None:
        weights = event.training.session.state()["model/conv1.weight"]
        picture = np.full((8, 8, 3), 128, np.uint8)
        event.training.writer.image("mine/picture", picture, event.step)
        event.training.writer.tensor("mine/weights", weights, event.step)
        event.training.writer.histogram("mine/histogram", weights, event.step)
        event.training.writer.text("mine/text", "**so** far", event.step)


class TestEventFile:
    def test_tensorboard_shows_the_recorders_values_and_the_users(self, tmp_path: Path) -> None:
        settings = ("strategy.epochs=1", "record.every_steps=10", "record.histograms=true", "record.images=3")
        run, _ = trained(tmp_path, *settings, listeners=[Writing()])
        read = EventAccumulator(str(run.path), size_guidance={"scalars": 0, "images": 0, "tensors": 0}).Reload()
        tags = read.Tags()
        assert set(tags["scalars"]) == {
            *("train/loss", "train/learning_rate", "train/images_per_second", "train/epoch_loss"),
            *("eval/accuracy", "eval/loss", "eval/top5", "mine/double"),
        }
        assert set(tags["images"]) == {"samples/00", "samples/01", "samples/02", "mine/picture"}
        layers = {"conv1.weight", "conv2.weight", *(f"fc{n}.{part}" for n in (1, 2, 3) for part in ("weight", "bias"))}
        assert set(tags["histograms"]) == {f"weights/{name}" for name in layers} | {"mine/histogram"}
        assert set(tags["tensors"]) == {"recipe", "mine/weights", "mine/text"}
        assert scalars(run, "mine/double") == {step: 2 * step for step in range(1, STEPS + 1)}
        assert list(scalars(run, "train/loss")) == [10, 20, 30, 40, 44]
        assert list(scalars(run, "eval/accuracy")) == [44]
        accuracy = result_of(run).accuracy
        assert scalars(run, "eval/accuracy")[44] == pytest.approx(accuracy)

    def test_our_own_reader_sees_the_same(self, tmp_path: Path) -> None:
        run, _ = trained(tmp_path, "strategy.steps=9", "record.every_steps=3")
        ours = {step: value for step, tag, value in read_events(run.event_file()) if tag == "train/loss"}
        assert ours == scalars(run, "train/loss")

    def test_the_recipe_and_the_log_say_what_was_done(self, tmp_path: Path) -> None:
        run, _ = trained(tmp_path, "strategy.steps=9")
        log = [line.partition(" ")[2] for line in (run.path / "log.txt").read_text().splitlines()]
        assert log[0] == "started on torch, cpu"
        assert log[-1] == "finished at step 9"
        assert run.recipe == digits("strategy.steps=9")
