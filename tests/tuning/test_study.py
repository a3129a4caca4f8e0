"""Whole studies on the digits: what they find, what they leave, and what no mishap can take from them."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from luthier.errors import RecipeError, StoreError, TuningError
from luthier.recipe import load
from luthier.store import open_run
from luthier.tuning import Study, open_study, resume_study, tune
from luthier.tuning.records import Asked, Cost, Costed, Ended, Plan, Reported
from luthier.tuning.state import StudyState
from tests.tuning.conftest import small, tuned
from tests.tuning.waiting import ended, has, journal, until

START = """
import sys
from tests.tuning.conftest import small, tuned
tuned(sys.argv[1], small(), trials=3, scheduler="none", workers={workers})
"""


HUGE = """
import torch


class Huge(torch.nn.Module):
    def __init__(self, num_classes, shape):
        super().__init__()
        self.fc = torch.nn.Linear(shape[0] * shape[1] * shape[2], num_classes)

    def forward(self, x):
        if self.training:
            torch.empty(1 << 48)
        return self.fc(x.flatten(1))


def huge(num_classes, shape, width=1.0):
    return Huge(num_classes, shape)
"""


def begun(path: Path, workers: int = 1, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", START.format(workers=workers), str(path)]
    return subprocess.Popen(command, cwd=os.getcwd(), **options)


class TestAStudy:
    def test_it_finds_a_best_that_trains(self, study: Study) -> None:
        best = study.best
        assert best is not None
        assert best.score == max(trial.score or 0 for trial in study.state.finished())
        recipe = load(study.path / "best.toml")
        assert recipe.space == {}
        assert recipe.data.validation == 0.0
        assert {recipe.strategy.learning_rate} == {best.values["strategy.learning_rate"]}

    def test_the_recipe_itself_is_the_first_trial_and_comes_to_its_end(self, study: Study) -> None:
        first = study.trials[0]
        assert (first.state, first.epoch, first.values["strategy.learning_rate"]) == ("finished", 3, 0.02)

    def test_no_trial_has_touched_the_evaluation_set_but_the_final_ones(self, study: Study) -> None:
        for trial in study.trials:
            results = [open_run(path).result() for path in (study.path / "trials" / f"{trial.number:04}").iterdir()]
            for result in results:
                assert result is not None
                assert (result.accuracy is not None) == (trial.kind in ("winner", "baseline"))
                assert (result.validation_accuracy is None) or trial.kind not in ("winner", "baseline")

    def test_size_and_latency_are_known_before_a_trial_is_trained(self, study: Study) -> None:
        assert all(trial.cost is not None for trial in study.trials if trial.epoch)
        costs = {
            trial.values["model.options.width"]: trial.cost
            for trial in study.trials
            if "model.options.width" in trial.values
        }
        assert costs[0.5].size_mb < costs[1.0].size_mb  # type: ignore[union-attr]

    def test_the_winner_has_its_seeds_and_each_change_its_ablation(self, study: Study) -> None:
        winners = list(study.state.of_kind("winner"))
        assert [trial.label for trial in winners] == ["1", "2"]
        assert all(trial.eval_accuracy is not None for trial in winners)
        assert {trial.label for trial in study.state.of_kind("ablation")} <= set(study.recipe.space)

    def test_opened_again_it_is_the_same(self, study: Study) -> None:
        again = open_study(study.path)
        assert again.trials == study.trials
        assert again.best == study.best

    def test_only_the_best_and_who_waits_keep_their_weights(self, study: Study) -> None:
        kept = {int(path.parts[-3]) for path in (study.path / "trials").glob("*/*/checkpoints")}
        search = {trial.number for trial in study.state.of_kind("search") if trial.state in ("finished", "stopped")}
        assert study.best is not None
        assert kept & search == {study.best.number}

    def test_deciding_and_writing_takes_less_than_two_percent(self, study: Study) -> None:
        """Of the trials' time; here they are of a second each, so that it is far less elsewhere."""
        (closed,) = [line for line in journal(study.path) if line["event"] == "closed"]
        spent = sum(trial.seconds for trial in study.trials)
        assert float(str(closed["overhead_s"])) < 0.25 * max(spent, 1.0)


class TestMishaps:
    @pytest.mark.slow
    def test_a_killed_worker_costs_the_steps_since_the_last_checkpoint(self, tmp_path: Path) -> None:
        process = begun(tmp_path / "study")
        until(has(tmp_path / "study", "reported"))
        os.kill(next(_workers(process.pid)), signal.SIGKILL)
        assert process.wait(120) == 0
        found = open_study(tmp_path / "study")
        assert sorted(trial.state for trial in found.trials) == ["finished"] * 3
        lines = journal(tmp_path / "study")
        died = [line for line in lines if line["event"] == "died"]
        assert len(died) == 1
        assert "killed" in str(died[0]["reason"])
        epochs = [line["epoch"] for line in lines if line["event"] == "reported" and line["trial"] == died[0]["trial"]]
        assert len(epochs) <= 4, "at most one epoch was trained again"

    def test_a_killed_study_goes_on(self, tmp_path: Path) -> None:
        process = begun(tmp_path / "study", workers=2)
        until(has(tmp_path / "study", "reported", 2))
        process.kill()
        process.wait()
        until(ended(tmp_path / "study"))
        broken = open_study(tmp_path / "study")
        assert any(trial.state == "running" for trial in broken.trials)
        study = resume_study(tmp_path / "study", trials=1, workers=1)
        assert [trial.state for trial in study.trials] == ["finished"] * len(study.trials)
        assert (tmp_path / "study" / "best.toml").is_file()

    def test_a_loss_that_is_not_finite_is_recorded_and_the_study_goes_on(self, tmp_path: Path) -> None:
        text = '"strategy.clip_norm" = { choice = [0.0] }\n"strategy.optimizer.weight_decay" = { choice = [1e30] }'
        study = tuned(tmp_path / "study", small(text), trials=3)
        assert [trial.state for trial in study.trials] == ["finished", "failed", "failed"]
        assert "nan" in study.trials[1].reason or "inf" in study.trials[1].reason

    @pytest.mark.slow
    def test_a_trial_that_hangs_is_given_up(self, tmp_path: Path) -> None:
        (tmp_path / "hang.py").write_text(
            "import time\nclass Hang:\n    def step_ended(self, event):\n        time.sleep(1000)\n"
        )
        study = tuned(
            tmp_path / "study",
            small(f'"listeners" = {{ choice = [["{tmp_path}/hang.py:Hang"]] }}'),
            trials=2,
            hang_s=20,
        )
        assert [trial.state for trial in study.trials] == ["finished", "failed"]
        assert "no sign of life for 20 s" in study.trials[1].reason

    def test_a_trial_that_runs_out_of_memory_is_recorded_and_the_study_goes_on(self, tmp_path: Path) -> None:
        (tmp_path / "huge.py").write_text(HUGE)
        text = f'"model.name" = {{ choice = ["{tmp_path}/huge.py:huge"] }}'
        study = tuned(tmp_path / "study", small(text.replace('"model.options.width"', "")), trials=3)
        assert [trial.state for trial in study.trials] == ["finished", "failed", "failed"]
        assert {trial.reason for trial in study.trials[1:]} == {"out of memory"}

    @pytest.mark.slow
    def test_a_power_cut_loses_at_most_an_epoch(self, tmp_path: Path) -> None:
        """The study and its workers at once: nobody saves anything any more."""
        process = begun(tmp_path / "study", workers=2)
        until(has(tmp_path / "study", "reported", 2))
        workers = list(_workers(process.pid))
        process.kill()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        process.wait()
        until(ended(tmp_path / "study"))
        before = {trial.number: trial.epoch for trial in open_study(tmp_path / "study").trials}
        assert any(before.values())
        study = resume_study(tmp_path / "study", trials=1, workers=1)
        assert [trial.state for trial in study.trials] == ["finished"] * len(study.trials)
        lines = [line for line in journal(tmp_path / "study") if line["event"] == "reported"]
        assert all(lines.count(line) == 1 for line in lines)
        for number in before:
            epochs = [line["epoch"] for line in lines if line["trial"] == number]
            assert len(epochs) <= 4, "of three epochs at most one was trained again"

    @pytest.mark.slow
    def test_a_disk_that_fills_under_a_worker_stops_the_study_and_loses_nothing(self, tmp_path: Path) -> None:
        process = begun(tmp_path / "study", stderr=subprocess.PIPE)
        until(lambda: any(_workers(process.pid)))
        (worker,) = _workers(process.pid)
        resource.prlimit(worker, resource.RLIMIT_FSIZE, (50_000, 50_000))  # no checkpoint fits
        _, said = process.communicate(timeout=120)
        assert process.returncode != 0
        assert b"Nothing is lost. Once that is mended, go on with: luthier tune --resume" in said
        assert open_study(tmp_path / "study").trials[0].state == "running"
        study = resume_study(tmp_path / "study", trials=1, workers=1)
        assert [trial.state for trial in study.trials] == ["finished"] * len(study.trials)

    def test_a_network_that_cannot_be_built_is_no_reason_to_end(self, tmp_path: Path) -> None:
        text = '"model.options.depth" = { choice = [5] }'
        study = tuned(tmp_path / "study", small(text), trials=2)
        assert study.trials[1].state == "failed"
        assert "runs out of image" in study.trials[1].reason

    def test_a_full_disk_stops_it_and_loses_nothing(self, copied: Path) -> None:
        before = (copied / "journal.jsonl").read_bytes()
        from luthier.tuning.folder import open_folder

        folder = open_folder(copied, writing=True)
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limit[1]))
        try:
            with pytest.raises(StoreError, match="Nothing is lost"):
                folder.append(Ended(at=0.0, trial=0, state="finished", reason="x" * 100))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, ignored)
            folder.close()
        assert (copied / "journal.jsonl").read_bytes() == before

    def test_a_line_that_a_kill_cut_short_never_happened(self, copied: Path) -> None:
        with (copied / "journal.jsonl").open("ab") as file:
            file.write(b'{"event":"asked","trial":1,"val')
        assert len(open_study(copied).trials) == 1
        assert len(resume_study(copied, trials=1, workers=1).trials) == 2
        assert all(line["event"] for line in journal(copied))


def _workers(study: int) -> Iterator[int]:
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and _parent(path) == study and b"tuning.worker" in _command(path):
            yield int(path.name)


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return -1


def _command(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


class TestMistakes:
    def test_two_studies_on_one_folder(self, copied: Path) -> None:
        from luthier.tuning.folder import open_folder

        holding = open_folder(copied, writing=True)
        try:
            with pytest.raises(RecipeError, match="Another process works on the study"):
                resume_study(copied, trials=1)
        finally:
            holding.close()

    def test_a_study_that_is_there_is_not_written_over(self, copied: Path) -> None:
        with pytest.raises(RecipeError, match="There is a study in"):
            tuned(copied, trials=1)
        other = small('"data.batch_size" = { choice = [32, 64] }')
        with pytest.raises(RecipeError, match=r"searches another space: data\.batch_size differs"):
            tuned(copied, other, trials=1)
        assert len(open_study(copied).trials) == 1

    def test_a_folder_of_other_things(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("mine")
        with pytest.raises(RecipeError, match="is not empty, and holds no study"):
            tuned(tmp_path, trials=1)
        with pytest.raises(RecipeError, match="is no study"):
            resume_study(tmp_path)

    def test_an_older_version(self, copied: Path) -> None:
        plan = json.loads((copied / "study.json").read_text())
        (copied / "study.json").write_text(json.dumps(plan | {"version": 0}))
        with pytest.raises(RecipeError, match="made by another version of Luthier: its format is 0"):
            open_study(copied)

    def test_a_budget_too_small_for_one_trial(self, tmp_path: Path) -> None:
        with pytest.raises(TuningError, match="No trial came to its end within 1 s"):
            tuned(tmp_path / "study", budget_s=1.0)
        assert open_study(tmp_path / "study").trials[0].state == "running"
        with pytest.raises(RecipeError, match="Expected a budget above 0"):
            tuned(tmp_path / "other", budget_s=0.0)
        with pytest.raises(RecipeError, match="Expected a budget or a number of trials"):
            tuned(tmp_path / "other")

    def test_a_requirement_that_nothing_meets(self, copied: Path, tmp_path: Path) -> None:
        plan = json.loads((copied / "study.json").read_text())
        (copied / "study.json").write_text(json.dumps(plan | {"require": ["accuracy>=99.9"]}))
        with pytest.raises(TuningError, match=r"None of 1 trials has accuracy>=99\.9"):
            resume_study(copied, workers=1)
        with pytest.raises(RecipeError, match="Perhaps you meant 'accuracy'"):
            tuned(tmp_path / "other", trials=1, require=["acuracy>=65"])

    def test_an_option_that_the_network_does_not_have(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="Perhaps you meant 'depth'"):
            tuned(tmp_path / "study", small('"model.options.dept" = { choice = [1, 2] }'), trials=1)
        assert not (tmp_path / "study").exists()


def told(state: StudyState, number: int, cost: Cost, accuracy: float) -> None:
    state.apply(Asked(at=0, trial=number, values={}))
    state.apply(Costed(at=0, trial=number, cost=cost))
    state.apply(Reported(at=0, trial=number, epoch=3, epochs=3, steps=1, accuracy=accuracy, loss=1.0, seconds=1.0))
    state.apply(Ended(at=0, trial=number, state="finished"))


class TestTheBound:
    """What can be known before a trial is trained."""

    def test_a_score_that_cannot_be_reached_even_at_the_cap_is_not_tried(self) -> None:
        state = StudyState(small(), Plan(searcher="random", accuracy_cap=97.0))
        told(state, 0, Cost(parameters=1, size_mb=0.25, latency_ms=0.5), 66.3)
        assert state.hopeless(Cost(parameters=1, size_mb=1.0, latency_ms=1.0)) is None
        resnet50 = Cost(parameters=23_520_842, size_mb=94.08, latency_ms=20.0)
        why = state.hopeless(resnet50)
        assert why is not None
        assert "leave a score of 12.57 even at 97 %" in why

    def test_several_objectives_are_bounded_too(self) -> None:
        plan = Plan(searcher="random", accuracy_cap=90.0, objectives=("accuracy", "size", "latency"))
        state = StudyState(small(), plan)
        told(state, 0, Cost(parameters=1, size_mb=0.2, latency_ms=0.2), 91.0)
        assert state.hopeless(Cost(parameters=1, size_mb=0.3, latency_ms=0.3)) is not None
        assert state.hopeless(Cost(parameters=1, size_mb=0.1, latency_ms=0.3)) is None

    def test_what_is_required_of_size_is_asked_before_the_training(self) -> None:
        state = StudyState(small(), Plan(searcher="random", require=("size_mb<=0.5", "accuracy>=65")))
        why = state.hopeless(Cost(parameters=1, size_mb=0.6, latency_ms=0.3))
        assert why == "size_mb 0.6 misses size_mb<=0.5"
        told(state, 0, Cost(parameters=1, size_mb=0.2, latency_ms=0.2), 64.0)
        assert state.best() is None
        told(state, 1, Cost(parameters=1, size_mb=0.4, latency_ms=0.2), 65.0)
        assert state.best() is state.trials[1]

    def test_the_front_has_whoever_no_other_beats_in_everything(self) -> None:
        state = StudyState(small(), Plan(searcher="random"))
        for number, (size, accuracy) in enumerate([(0.2, 60.0), (0.4, 70.0), (0.5, 69.0), (0.9, 80.0)]):
            told(state, number, Cost(parameters=1, size_mb=size, latency_ms=0.1), accuracy)
        assert [trial.number for trial in state.front()] == [0, 1, 3]


def test_ten_thousand_trials_take_little_memory() -> None:
    """Numbers and values alone: no network, no data, no curve."""
    import tracemalloc

    state = StudyState(small(), Plan(searcher="random"))
    tracemalloc.start()
    for number in range(2000):
        told(state, number, Cost(parameters=1, size_mb=0.2, latency_ms=0.1), number % 70)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used / 2000 < 2000, "bytes a trial"


def test_tune_is_a_verb() -> None:
    import luthier

    assert luthier.tune is tune
