"""What each field of a recipe means, in one sentence: for the schema that editors read, and for the manual."""

from __future__ import annotations

import ast
import inspect
import textwrap
import tokenize
from collections.abc import Mapping
from io import StringIO
from typing import Any

__all__ = ["comments", "meanings", "own_bases"]

FURTHER: Mapping[str, str] = {  # of fields whose names say enough beside the code
    "Recipe.name": "the run's folder is named for it; by default the recipe file's name",
    "Recipe.engine": "`auto` takes MindSpore where an Ascend device answers, PyTorch elsewhere",
    "Recipe.mode": "`graph` compiles the step: `torch.compile`, or MindSpore's GRAPH_MODE",
    "Recipe.data": "the images",
    "Recipe.model": "the network",
    "Recipe.start": "where its first weights come from",
    "Recipe.strategy": "how it learns",
    "Recipe.checkpoint": "what is kept",
    "Recipe.record": "what is recorded",
    "Recipe.stop": "when to stop early",
    "Recipe.score": "what counts",
    "Recipe.compress": "how it is made smaller",
    "Data.validation": "share of the training part that is held back, the same share of every class, drawn by the seed",
    "Data.normalize": "see [data.normalize]",
    "Data.train": "transforms in training, in this order",
    "Data.eval": "transforms in evaluation",
    "Data.on_error": "`skip` counts image files that cannot be read, and goes on",
    "Data.pipeline": "`minddata` is MindSpore's own, in C++",
    "Normalize.mean": "one a channel",
    "Normalize.std": "one a channel",
    "Model.name": "one of the zoo's, or file.py:factory",
    "Model.init": "how convolutions and dense layers begin; `default` leaves them as PyTorch builds them",
    "Model.options": "the network's own",
    "Strategy.epochs": "passes over the training part",
    "Strategy.learning_rate": "the schedule's highest",
    "Strategy.label_smoothing": "what is taken from the true class",
    "Strategy.cutmix": "the Beta distribution's parameter; with mixup too, each batch takes one of the two",
    "Strategy.precision": "of the forward pass; weights and loss stay float32",
    "Strategy.loss_scale": "for float16 alone",
    "Strategy.seed": "first weights, order, augmentation and dropout follow from it",
    "Strategy.optimizer": "see [strategy.optimizer]",
    "Strategy.schedule": "see [strategy.schedule]",
    "Checkpoint.every_epochs": "0 for the last and the best alone",
    "Checkpoint.keep": "the last so many; the best is kept besides",
    "Record.every_steps": "loss, learning rate and speed",
    "Stop.min_delta": "a smaller gain does not count",
    "Score.accuracy": "weight of a percentage point",
    "Score.size": "weight of a megabyte of 10⁶ bytes",
    "Score.latency": "weight of a millisecond",
    "Score.runtime": "what latency is taken in",
    "Score.threads": "of the runtime",
    "Score.warmup": "runs before those that count",
    "Score.runs": "runs that count",
    "ScheduleRecord.warmup_epochs": "length of the linear warm-up; a fraction is allowed",
    "ScheduleRecord.lr_init": "where the warm-up begins",
    "OptimizerRecord.weight_decay": "of every parameter, unless a group says otherwise",
    "OptimizerRecord.decay_norm_and_bias": "whether normalisations and biases decay too",
    "OptimizerRecord.groups": "what differs for some parameters",
    "ParameterGroup.match": "a shell pattern, such as `fc.*`",
    "ParameterGroup.weight_decay": "in place of the optimizer's",
}


def meanings(kind: type) -> dict[str, str]:
    """By field: the comment behind it, or what stands above."""
    further = {
        name.partition(".")[2]: sentence
        for owner in own_bases(kind)
        for name, sentence in FURTHER.items()
        if name.partition(".")[0] == owner.__name__
    }
    return further | comments(kind)


def comments(kind: type) -> dict[str, str]:
    """By field, the inherited ones first: a comment stands behind the field's last line."""
    found: dict[str, str] = {}
    for owner in own_bases(kind):
        source = textwrap.dedent(inspect.getsource(owner))
        behind = {
            token.start[0]: token.string.lstrip("# ")
            for token in tokenize.generate_tokens(StringIO(source).readline)
            if token.type == tokenize.COMMENT
        }
        body = ast.parse(source).body[0]
        assert isinstance(body, ast.ClassDef)
        for item in body.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.end_lineno in behind:
                found[item.target.id] = behind[item.end_lineno]
    return found


def own_bases(kind: type) -> list[Any]:
    """The class and those of ours that it derives from, the most general first."""
    return [base for base in reversed(kind.__mro__) if base.__module__.startswith("luthier.")]
