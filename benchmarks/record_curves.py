"""Record every trial of a grid, epoch by epoch, for `benchmarks.replay`: the curves lie beside it as data.

`python -m benchmarks.record_curves digits` or `mnist` (needs LUTHIER_DATA); it goes on where it was broken off. A
task has 288 trials of LeNet-5: eight learning rates, four widths, three batch sizes, three momenta.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.peers import machine
from luthier.data import arrays, open_source
from luthier.data.source import Source
from luthier.recipe import Recipe, parse
from luthier.tuning import Study, open_study, resume_study, tune
from luthier.tuning.folder import open_folder
from luthier.tuning.records import Reported

CURVES = Path(__file__).parent / "curves"
WORK = Path(__file__).resolve().parent.parent / ".cache" / "curves"
RATES = [0.001, 0.0025, 0.006, 0.015, 0.04, 0.1, 0.25, 0.6]
SPACE = f"""
[space]
"strategy.learning_rate" = {{ choice = {RATES} }}
"model.options.width" = {{ choice = [0.25, 0.5, 1.0, 2.0] }}
"data.batch_size" = {{ choice = [16, 32, 64] }}
"strategy.optimizer.momentum" = {{ choice = [0.0, 0.9, 0.97] }}
"""
TASKS = {
    "digits": """
[data]
name = "digits"
validation = 0.25
normalize = { mean = [0.3058], std = [0.3761] }
train = []
[strategy]
epochs = 9
""",
    "mnist": f"""
[data]
name = "{__file__}:small_mnist"
validation = 0.4
normalize = {{ mean = [0.1307], std = [0.3081] }}
train = []
[strategy]
epochs = 9
""",
}
SCORE = "[score]\nruns = 20\n"


def small_mnist() -> Source:
    """The first 2,500 training images at 32×32: 1,500 to train on and 1,000 to judge by."""
    whole = open_source("mnist")
    images = whole.train.images
    assert isinstance(images, np.ndarray)
    padded = np.pad(images[:2500], ((0, 0), (2, 2), (2, 2), (0, 0)))
    labels = whole.train.labels[:2500]
    return arrays(padded, labels, padded[:100], labels[:100], classes=whole.classes, name="mnist-2500")


def recipe(task: str) -> Recipe:
    return parse(TASKS[task] + SCORE + SPACE, place=task, name=f"lenet5-{task}")


def recorded(study: Study) -> list[dict[str, object]]:
    """What was drawn, what it costs, and the validation accuracy and the seconds of every epoch."""
    curves: dict[int, list[float]] = {}
    seconds: dict[int, list[float]] = {}
    for entry in open_folder(study.path).entries():
        if isinstance(entry, Reported):
            curves.setdefault(entry.trial, []).append(round(entry.accuracy, 3))
            seconds.setdefault(entry.trial, []).append(round(entry.seconds, 4))
    return [
        {
            "values": trial.values,
            "size_mb": trial.cost.size_mb if trial.cost else None,
            "latency_ms": round(trial.cost.latency_ms, 4) if trial.cost else None,
            "accuracy": curves.get(trial.number, []),
            "seconds": seconds.get(trial.number, []),
            "failed": trial.reason if trial.state == "failed" else "",
        }
        for trial in study.trials
        if trial.number > 0 and trial.state in ("finished", "failed")
    ]


def main(task: str = "digits", limit: str = "") -> None:
    out = WORK / task
    # The study would leave out what cannot win by its size alone: here every trial counts, so no bound applies.
    if (out / "study.json").exists():
        resume_study(out, trials=int(limit or 1000), say=print)
    else:
        unbounded = {"searcher": "grid", "scheduler": "none", "seeds": 0, "ablate": False, "accuracy_cap": 1e6}
        tune(recipe(task), out=out, trials=int(limit or 1000), say=print, **unbounded)  # type: ignore[arg-type]
    trials = recorded(open_study(out))
    CURVES.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(trial) for trial in trials)
    told = f"{len(trials)} trials of {recipe(task).strategy.epochs} epochs"
    source = f"python -m benchmarks.record_curves {task}: {told}; {machine()}"
    (CURVES / f"{task}.json").write_text(f'{{"source": {json.dumps(source)},\n"trials": [\n{lines}\n]}}\n')
    print(f"{len(trials)} trials in {CURVES / f'{task}.json'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
