"""A checkpoint that cannot be trusted is refused by name, and the one before it offered."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from luthier.recipe import load
from luthier.store import Run
from luthier.training import train
from tests.cli.calling import luthier
from tests.training.leftovers import same_end

OFFER = "  step-00000020 before it is whole: remove step-00000030, and a resume goes on from there.\n"


def cut_short(checkpoint: Path) -> str:
    path = checkpoint / "state.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    return "state.safetensors of checkpoint step-00000030 is cut short: 1,000 of "


def flip_a_bit(checkpoint: Path) -> str:
    path = checkpoint / "weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    return "weights.safetensors of checkpoint step-00000030 is damaged: its SHA-256 is not the one that was recorded"


def change_the_hash(checkpoint: Path) -> str:
    path = checkpoint / "progress.json"
    text = path.read_text()
    digit = text[text.index('"sha256": "') + 11]
    path.write_text(text.replace(f'"sha256": "{digit}', f'"sha256": "{"0" if digit != "0" else "1"}', 1))
    return "progress.json of checkpoint step-00000030 is damaged: its SHA-256 is not the one that was recorded"


def lose_a_file(checkpoint: Path) -> str:
    (checkpoint / "progress.json").unlink()
    return "progress.json of checkpoint step-00000030 is missing"


def take_anothers(checkpoint: Path) -> str:
    """Of the same recipe, and whole: only the run is another."""
    settings = ("record.histograms=false", "record.images=0", "strategy.steps=30", "checkpoint.every_steps=30")
    other = train(load("lenet5-digits", settings), out=checkpoint.parents[2] / "others")
    shutil.rmtree(checkpoint)
    shutil.copytree(other.checkpoints()[-1], checkpoint)
    return f"Checkpoint step-00000030 is another run's, not one of {checkpoint.parents[1].name}"


def take_an_earlier(checkpoint: Path) -> str:
    shutil.rmtree(checkpoint)
    shutil.copytree(checkpoint.with_name("step-00000020"), checkpoint)
    return "Checkpoint step-00000030 is one of step 20"


@pytest.mark.parametrize("harm", [cut_short, flip_a_bit, change_the_hash, lose_a_file, take_anothers, take_an_earlier])
def test_it_is_named_and_the_run_goes_on_from_the_one_before(
    harm: Callable[[Path], str], unfinished: Run, trained_once: Run
) -> None:
    last = unfinished.checkpoints()[-1]
    expected = harm(last)
    said = luthier("train", "--resume", unfinished.path, "--no-measure")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"error: {expected}")
    assert said.err.endswith(OFFER)
    assert str(last) in said.err
    shutil.rmtree(last)
    said = luthier("train", "--resume", unfinished.path, "--no-measure")
    assert said.code == 0
    assert "resumed at step 20" in said.err
    assert same_end(unfinished, trained_once)


def make_one_of_old(checkpoint: Path) -> None:
    """One that does not name its run, as those of the first version."""
    path = checkpoint / "progress.json"
    told = json.loads(path.read_bytes())
    del told["run"]
    bare = json.dumps(told | {"sha256": ""}, separators=(",", ":"), ensure_ascii=False).encode()
    told["sha256"] = hashlib.sha256(bare).hexdigest()
    path.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def test_one_of_more_steps_than_the_run_has_is_another_runs(unfinished: Run, tmp_path: Path) -> None:
    settings = ["record.histograms=false", "record.images=0", "strategy.steps=90", "checkpoint.every_steps=90"]
    foreign = train(load("lenet5-digits", settings), out=tmp_path / "longer").checkpoints()[-1]
    target = unfinished.path / "checkpoints" / foreign.name
    shutil.copytree(foreign, target)
    make_one_of_old(target)
    said = luthier("train", "--resume", unfinished.path)
    assert said.err.startswith("error: Checkpoint step-00000090 is of step 90, and the run has 30: it is another run's")


def test_another_networks_checkpoint_is_named_and_the_one_before_offered(unfinished: Run, tmp_path: Path) -> None:
    recipe = load("lenet5-digits", ["model.options={width = 2}", "strategy.steps=30", "checkpoint.every_steps=30"])
    [foreign] = train(recipe, out=tmp_path / "wider").checkpoints()
    last = unfinished.checkpoints()[-1]
    shutil.rmtree(last)
    shutil.copytree(foreign, last)
    make_one_of_old(last)
    said = luthier("train", "--resume", unfinished.path)
    assert said.code == 1
    assert said.err == (
        "error: These weights are another network's: conv1.weight is 12×1×5×5 in the file, 6×1×5×5 in the network "
        f"- at {last}\n{OFFER}"
    )


def test_one_of_another_run_of_the_same_network_does_not_fit_the_events(unfinished: Run, tmp_path: Path) -> None:
    other = train(load("lenet5-digits", ["strategy.steps=30", "record.every_steps=1"]), out=tmp_path / "other")
    last = unfinished.checkpoints()[-1]
    shutil.rmtree(last)
    shutil.copytree(other.checkpoints()[-1], last)
    make_one_of_old(last)
    said = luthier("train", "--resume", unfinished.path)
    assert said.code == 1
    assert "The event file is not the one that the checkpoint recorded" in said.err


def test_where_all_are_damaged_the_run_can_start_over(unfinished: Run, trained_once: Run) -> None:
    for checkpoint in unfinished.checkpoints():
        flip_a_bit(checkpoint)
    said = luthier("train", "--resume", unfinished.path)
    folder = unfinished.path / "checkpoints"
    assert said.code == 1
    assert said.err.endswith(f"  No whole one is before it: remove {folder}, and a resume starts over.\n")
    shutil.rmtree(folder)
    assert luthier("train", "--resume", unfinished.path, "--no-measure").code == 0
    assert same_end(unfinished, trained_once)


def test_two_damaged_ones_are_both_to_be_removed(unfinished: Run) -> None:
    for checkpoint in unfinished.checkpoints()[1:]:
        flip_a_bit(checkpoint)
    said = luthier("train", "--resume", unfinished.path)
    assert "step-00000010 before it is whole: remove step-00000020 and step-00000030, and" in said.err


def test_what_a_killed_writer_left_is_cleared_away(unfinished: Run, trained_once: Run) -> None:
    partial = unfinished.path / "checkpoints" / ".step-00000040.partial"
    shutil.copytree(unfinished.checkpoints()[-1], partial)
    (partial / "progress.json").unlink()
    assert luthier("train", "--resume", unfinished.path, "--no-measure").code == 0
    assert not partial.exists()
    assert same_end(unfinished, trained_once)
