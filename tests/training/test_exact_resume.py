"""A run that was killed, whenever and however often, ends as the one that was not."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from luthier.store import Run
from tests.cli.calling import process
from tests.training.leftovers import only_run, same_end

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL"),
    pytest.mark.timeout(600),
]

PLAIN = ("checkpoint.every_steps=7", "checkpoint.keep=3", "record.every_steps=5")
EVERYTHING = (
    *("checkpoint.every_steps=9", "record.every_steps=4", "checkpoint.keep=2"),
    "model.options={dropout = 0.2, normalisation = 'batch'}",
    *("strategy.optimizer=adam", "strategy.learning_rate=0.002", "strategy.clip_norm=1", "strategy.mixup=0.2"),
    *("strategy.average_decay=0.99", "strategy.accumulate=2", "data.batch_size=16", "data.validation=0.2"),
    *("stop.patience=3", "stop.min_delta=0.5"),
)
EVERY_STEP = ("checkpoint.every_steps=1", "checkpoint.keep=2", "record.every_steps=3", "record.histograms=false")


@dataclass(kw_only=True)
class Victim:
    """A run below a folder of its own, killed as often as wanted."""

    out: Path
    settings: tuple[str, ...]
    luck: random.Random
    kills: int = 0

    def start(self) -> subprocess.Popen[str]:
        """The run's first process, or the next one."""
        if self.folder:
            return process("train", "--resume", self.folder, "--no-measure")
        chosen = [argument for setting in self.settings for argument in ("--set", setting)]
        return process("train", "lenet5-digits", "--no-measure", "--out", self.out, *chosen)

    @property
    def folder(self) -> Path | None:
        """There is a run from the moment that its recipe is there."""
        return next((path.parent for path in self.out.glob("*/recipe.toml")), None)

    @property
    def saved(self) -> int:
        """The step of its last checkpoint."""
        names = [path.name for path in self.out.glob("*/checkpoints/step-*")]
        return max((int(name.removeprefix("step-")) for name in names), default=0)

    def kill_when(self, due: Callable[[], bool], *, within_s: float) -> None:
        """Kill the next process at some moment within so many seconds after something is the case."""
        with self.start() as child:
            while not due():
                assert child.poll() is None, child.communicate()[1]
                time.sleep(0.002)
            time.sleep(self.luck.uniform(0, within_s))
            child.kill()
            child.communicate()
        assert child.returncode == -9
        self.kills += 1

    def finish(self) -> Run:
        """Let it come to its end."""
        with self.start() as child:
            _, told = child.communicate()
        assert child.returncode == 0, told
        return only_run(self.out)


def spread_kills(victim: Victim, *, count: int, steps: int) -> None:
    """Over the whole run, each at a random moment after a checkpoint that was to be waited for."""
    for number in range(count):
        target = (number + victim.luck.random()) * steps / (count + 2)
        victim.kill_when(lambda target=target: victim.saved >= target, within_s=0.05)  # type: ignore[misc]


def uninterrupted(out: Path, settings: tuple[str, ...]) -> Run:
    return Victim(out=out, settings=settings, luck=random.Random(0)).finish()


def test_twenty_kills_at_random_moments_change_no_bit(tmp_path: Path) -> None:
    settings = (*PLAIN, "strategy.steps=1000")
    straight = uninterrupted(tmp_path / "straight", settings)
    victim = Victim(out=tmp_path / "killed", settings=settings, luck=random.Random(2026))
    spread_kills(victim, count=18, steps=1000)
    for _ in range(2):  # also while it starts
        victim.kill_when(lambda: True, within_s=2.0)
    assert victim.kills == 20
    assert same_end(victim.finish(), straight)


def test_everything_that_has_a_state_goes_on(tmp_path: Path) -> None:
    """Dropout, BatchNorm, Adam, averaging, accumulation, mixup, the validation part, patience."""
    straight = uninterrupted(tmp_path / "straight", (*EVERYTHING, "strategy.epochs=40"))
    result = straight.result()
    assert result is not None
    assert result.status == "stopped"
    victim = Victim(out=tmp_path / "killed", settings=(*EVERYTHING, "strategy.epochs=40"), luck=random.Random(7))
    spread_kills(victim, count=4, steps=result.steps)
    killed = victim.finish()
    assert same_end(killed, straight)
    after = killed.result()
    assert after is not None
    assert (after.status, after.steps, after.reason, after.accuracy) == (
        *("stopped", result.steps, result.reason, result.accuracy),
    )


def test_a_kill_while_a_checkpoint_is_written_leaves_the_one_before(tmp_path: Path) -> None:
    """With one at every step, most moments are within the writing of one."""
    settings = (*EVERY_STEP, "strategy.steps=200")
    straight = uninterrupted(tmp_path / "straight", settings)
    victim = Victim(out=tmp_path / "killed", settings=settings, luck=random.Random(11))
    spread_kills(victim, count=4, steps=200)
    killed = victim.finish()
    assert same_end(killed, straight)
    left = {path.name for path in (killed.path / "checkpoints").iterdir()}
    assert all(name.startswith("step-") for name in left)


def test_a_run_killed_before_its_first_checkpoint_starts_over(tmp_path: Path) -> None:
    settings = ("strategy.steps=90", "checkpoint.every_epochs=2", "record.every_steps=1")
    straight = uninterrupted(tmp_path / "straight", settings)
    victim = Victim(out=tmp_path / "killed", settings=settings, luck=random.Random(3))
    log = "*/log.txt"
    victim.kill_when(lambda: any(victim.out.glob(log)), within_s=0.02)
    assert victim.saved == 0
    assert same_end(victim.finish(), straight)


def test_a_run_that_is_taught_goes_on_to_the_same_bits(trained_once: Run, tmp_path: Path) -> None:
    settings = (*PLAIN, "strategy.steps=200", f"strategy.teacher={trained_once.path}", "model.options={width = 0.5}")
    straight = uninterrupted(tmp_path / "straight", settings)
    victim = Victim(out=tmp_path / "killed", settings=settings, luck=random.Random(17))
    spread_kills(victim, count=2, steps=200)
    assert same_end(victim.finish(), straight)


@pytest.mark.skipif(find_spec("mindspore") is None, reason="MindSpore is not installed")
@pytest.mark.parametrize("mode", [pytest.param("eager", marks=pytest.mark.slow), "graph"])
def test_a_run_on_mindspore_goes_on_to_the_same_bits(tmp_path: Path, mode: str) -> None:
    engine = ("engine=mindspore", f"mode={mode}", *EVERYTHING, "strategy.epochs=6")
    straight = uninterrupted(tmp_path / "straight", engine)
    victim = Victim(out=tmp_path / "killed", settings=engine, luck=random.Random(5))
    spread_kills(victim, count=2, steps=6 * 44)
    assert same_end(victim.finish(), straight)
