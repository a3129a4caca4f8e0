"""A project's `train.py` gives the losses of `luthier train` with the MindSpore engine, step by step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from luthier.port import write_project
from tests.port.project.running import losses_of_luthier, losses_of_project, run

STEPS = 5
ONE_AFTER_ANOTHER = 5e-6  # of a loss; the sums stand in another order
OPTIMIZER, SCHEDULE, HALF = "strategy.optimizer=", "strategy.schedule=", "strategy.precision=float16"

FEW = {
    "as the course trains": (),
    "AdamW by groups, clipped and averaged": (
        "model.name=slim",
        "model.options={width=0.25}",
        OPTIMIZER + '{name="adamw",weight_decay=0.1,decay_norm_and_bias=false}',
        SCHEDULE + '{name="one-cycle"}',
        "strategy.learning_rate=0.001",
        "strategy.clip_norm=0.5",
        "strategy.average_decay=0.9",
    ),
    "images blended and cut": (
        "strategy.mixup=0.4",
        "strategy.cutmix=1.0",
        "strategy.label_smoothing=0.1",
        'data.train=[{name="random-crop"},{name="cutout"},{name="color-jitter",brightness=0.4,contrast=0.4,saturation=0.4}]',
    ),
}
MANY = {
    "plain steps at a constant rate": (OPTIMIZER + '{name="sgd"}', SCHEDULE + '{name="constant"}'),
    "momentum by groups": (
        "model.name=slim",
        OPTIMIZER + '{name="momentum",weight_decay=0.01,decay_norm_and_bias=false,'
        'groups=[{match="fc*.weight",weight_decay=0.1,learning_rate=0.5}]}',
        SCHEDULE + '{name="square",warmup_epochs=0.02,lr_init=0.001}',
    ),
    "Nesterov": (
        OPTIMIZER + '{name="nesterov",weight_decay=0.01}',
        SCHEDULE + '{name="cosine",warmup_epochs=0.02,start="warmup",end=0.001,staircase=true}',
        "strategy.clip_norm=0.5",
    ),
    "Nesterov by groups, in a graph": (
        "mode=graph",
        OPTIMIZER + '{name="nesterov",weight_decay=0.01,groups=[{match="*.bias",learning_rate=2.0}]}',
        SCHEDULE + '{name="stage",milestones=[0.02,0.04]}',
    ),
    "Adam": (
        OPTIMIZER + '{name="adam",weight_decay=0.01}',
        SCHEDULE + '{name="exponential",every_epochs=0.03,staircase=true}',
        "strategy.learning_rate=0.001",
        "strategy.label_smoothing=0.1",
        "strategy.smoothing_over=others",
    ),
    "AdamW without decay": (
        OPTIMIZER + '{name="adamw",weight_decay=0.0}',
        SCHEDULE + '{name="polynomial",power=2.0,end=0.0001,warmup_epochs=0.02}',
        "strategy.learning_rate=0.001",
    ),
    "a graph": ("mode=graph", "strategy.clip_norm=0.5", "strategy.average_decay=0.9"),
    "mixup alone": ("strategy.mixup=1.0",),
    "CutMix alone": ("strategy.cutmix=1.0",),
    "accumulated, with a part held back": (
        "strategy.accumulate=3",
        "data.drop_remainder=false",
        "data.validation=0.1",
        "strategy.loss_scale=128",
        HALF,
    ),
    "a dynamic loss scale": ("mode=graph", "strategy.loss_scale=dynamic", HALF, "strategy.accumulate=2"),
    "a fixed loss scale, averaged": ("strategy.loss_scale=1024", HALF, "strategy.average_decay=0.99"),
    "random windows": (
        'data.train=[{name="random-resized-crop",size=32},{name="random-flip"}]',
        'data.eval=[{name="resize",size=36},{name="center-crop",size=32}]',
    ),
    "resized": (
        'data.train=[{name="resize",size=40,stretch=true},{name="random-crop",size=32,padding=2}]',
        'data.eval=[{name="resize",size=30},{name="center-crop",size=32}]',
    ),
    "more epochs than one": ("strategy.steps=50", "data.batch_size=64", "strategy.seed=7"),
}


def check(settings: tuple[str, ...], folder: Path) -> None:
    chosen = [f"strategy.steps={STEPS}", "data.batch_size=16", *settings]
    expected = losses_of_luthier("lenet5-digits", chosen, folder / "runs")
    project = folder / "project"
    write_project("lenet5-digits", output=project, overrides=["record.every_steps=1", *chosen])
    np.testing.assert_allclose(losses_of_project(project, project), expected, rtol=ONE_AFTER_ANOTHER)
    assert len(expected) >= STEPS
    checkpoint = max((project / "checkpoints").iterdir())
    told = run(project, "eval.py", "--dataset_path", str(project), "--checkpoint_path", str(checkpoint))
    assert told.startswith("result: {'top_1_accuracy': ")
    assert "top_5_accuracy" in told


@pytest.mark.parametrize("settings", FEW.values(), ids=FEW)
def test_the_losses_are_the_recipe_s(settings: tuple[str, ...], tmp_path: Path) -> None:
    check(settings, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("settings", MANY.values(), ids=MANY)
def test_every_feature_goes_over(settings: tuple[str, ...], tmp_path: Path) -> None:
    check(settings, tmp_path)


def test_evaluation_is_the_run_s_too(tmp_path: Path) -> None:
    """The same images, counted alike: an epoch of training, and both accuracies."""
    import luthier

    settings = ["strategy.epochs=1", "data.batch_size=64", "engine=mindspore"]
    write_project("lenet5-digits", output=tmp_path / "project", overrides=settings)
    run(tmp_path / "project", "train.py", "--dataset_path", str(tmp_path / "project"))
    checkpoint = tmp_path / "project" / "checkpoints" / "lenet5-001.ckpt"
    options = ("--dataset_path", str(tmp_path / "project"), "--checkpoint_path", str(checkpoint))
    told = run(tmp_path / "project", "eval.py", *options)
    result = luthier.train("lenet5-digits", overrides=settings, out=tmp_path / "runs").result()
    assert result is not None
    assert result.accuracy is not None
    assert f"'top_1_accuracy': {result.accuracy / 100:.4f}"[:27] in told
