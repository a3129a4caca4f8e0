"""The recipe's numbers as the project's configuration, and as what its templates ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from luthier.data import Description
from luthier.port.project.templates import Values
from luthier.recipe import (
    Adam,
    AdamW,
    Cosine,
    Exponential,
    Momentum,
    Nesterov,
    OneCycle,
    Polynomial,
    Recipe,
    Stage,
)

__all__ = ["Setup", "configuration", "values"]

ENCODED = ("folder", "mindrecord")
RESAMPLING = ("resize", "random-resized-crop")


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Everything that the texts depend on."""

    recipe: Recipe
    description: Description
    network: str  # its file below src
    class_name: str
    image_column: str  # of MindRecord files
    groups: tuple[tuple[str, float, float], ...]  # pattern, weight decay, factor; none where all are alike

    @property
    def encoded(self) -> bool:
        """Whether images are decoded as they come."""
        return self.recipe.data.name in ENCODED

    @property
    def factors(self) -> bool:
        """Whether learning rates differ."""
        return any(factor != 1.0 for _, _, factor in self.groups)

    @property
    def transforms(self) -> list[str]:
        """Each kind once."""
        records = (*self.recipe.data.train, *self.recipe.data.eval)
        return list(dict.fromkeys(str(record.__struct_config__.tag) for record in records))

    @property
    def resamples(self) -> bool:
        """Whether images are resized."""
        return any(name in RESAMPLING for name in self.transforms)


def configuration(setup: Setup) -> dict[str, Any]:
    """The fields of `src/config.py`, in their order."""
    recipe, strategy, data = setup.recipe, setup.recipe.strategy, setup.recipe.data
    found: dict[str, Any] = {
        "class_num": len(setup.description.classes),
        "batch_size": data.batch_size,
        "mean": data.normalize.mean,
        "std": data.normalize.std,
    }
    found |= {"steps": strategy.steps} if strategy.steps else {"epoch_size": strategy.epochs}
    optional = {
        "validation": data.validation,
        "eval_limit": data.eval_limit,
        "mixup": strategy.mixup,
        "cutmix": strategy.cutmix,
        "accumulate": strategy.accumulate if strategy.accumulate > 1 else 0,
        "loss_scale": strategy.loss_scale if strategy.loss_scale not in (1.0, "dynamic") else 0,
        "clip_norm": strategy.clip_norm,
        "average_decay": strategy.average_decay,
    }
    found |= {"seed": strategy.seed, "label_smooth_factor": strategy.label_smoothing}
    found |= {name: value for name, value in optional.items() if value}
    return found | _rates(recipe) | _optimizer(recipe) | _records(recipe)


def _rates(recipe: Recipe) -> dict[str, Any]:
    schedule = recipe.strategy.schedule
    found: dict[str, Any] = {"learning_rate": recipe.strategy.learning_rate}
    if schedule.warmup_epochs:
        found |= {"lr_init": schedule.lr_init}
    if _warms(recipe):
        found |= {"warmup_epochs": schedule.warmup_epochs}
    match schedule:
        case Cosine():
            found |= {"lr_end": schedule.end}
        case Polynomial():
            found |= {"lr_end": schedule.end, "power": schedule.power}
        case Exponential():
            found |= {"factor": schedule.factor, "every_epochs": schedule.every_epochs}
        case Stage():
            found |= {"milestones": tuple(sorted(schedule.milestones)), "factor": schedule.factor}
        case OneCycle():
            found |= {"rise": schedule.rise, "divide": schedule.divide, "divide_end": schedule.divide_end}
    return found


def _warms(recipe: Recipe) -> bool:
    schedule = recipe.strategy.schedule
    return bool(schedule.warmup_epochs) or (isinstance(schedule, Cosine) and schedule.start == "warmup")


def _optimizer(recipe: Recipe) -> dict[str, Any]:
    match recipe.strategy.optimizer:
        case Momentum() | Nesterov() as record:
            return {"momentum": record.momentum}
        case Adam() | AdamW() as record:
            return {"beta1": record.beta1, "beta2": record.beta2, "epsilon": record.epsilon}
    return {}


def _records(recipe: Recipe) -> dict[str, Any]:
    return {
        "print_steps": recipe.record.every_steps,
        "save_checkpoint_epochs": recipe.checkpoint.every_epochs or 1,
        "keep_checkpoint_max": recipe.checkpoint.keep,
    }


def values(setup: Setup) -> Values:
    """The templates' conditions and names."""
    recipe, strategy, data = setup.recipe, setup.recipe.strategy, setup.recipe.data
    schedule, optimizer = strategy.schedule, strategy.optimizer
    channels = setup.description.shape[2]
    scaled = strategy.loss_scale not in (1.0, "dynamic")
    step_size = "config.batch_size * config.accumulate" if strategy.accumulate > 1 else "config.batch_size"
    return {
        # of the data
        "encoded": setup.encoded,
        "image_column": setup.image_column,
        "grey": channels == 1,
        "channels_kept": "" if channels == 3 else f", ..., :{channels}",
        "validation": data.validation,
        "eval_limit": data.eval_limit,
        "drop_remainder": data.drop_remainder,
        "mixes": strategy.mixup or strategy.cutmix,
        "mixup": strategy.mixup,
        "cutmix": strategy.cutmix,
        "mixup_and_cutmix": strategy.mixup and strategy.cutmix,
        **_files(data.name),
        # of the schedule
        "steps": strategy.steps,
        "warmup": _warms(recipe),
        "warmup_epochs": schedule.warmup_epochs,
        "from_warmup": isinstance(schedule, Cosine) and schedule.start == "warmup",
        "staircase": getattr(schedule, "staircase", False),
        "one_cycle": isinstance(schedule, OneCycle),
        # of the optimizer
        "grouped": setup.groups,
        "factors": setup.factors,
        "decoupled": isinstance(optimizer, AdamW),
        "decays": isinstance(optimizer, AdamW) and setup.groups,
        "parameters": "param_groups(net, rates)" if setup.groups else "net.trainable_params()",
        "rate": "rate[i]" if setup.factors else "rate",
        "optimizer": type(optimizer).__name__,
        # of the step
        "smoothing_over_others": strategy.label_smoothing and strategy.smoothing_over == "others",
        "accumulates": strategy.accumulate > 1,
        "dynamic": strategy.loss_scale == "dynamic",
        "scaled": scaled,
        "any_scale": scaled or strategy.loss_scale == "dynamic",
        "clips": strategy.clip_norm,
        "averaged": strategy.average_decay,
        "mixed": strategy.precision != "float32",
        "precision": strategy.precision,
        "step_size": step_size,
        "fuses": strategy.allreduce_split,
        "fusion": list(strategy.allreduce_split),
        "mode": "GRAPH_MODE" if recipe.mode == "graph" else "PYNATIVE_MODE",
        # of the whole
        "class": setup.class_name,
        "class_num": len(setup.description.classes),
        "network": setup.network,
        "set": data.name if data.name in ("digits", "folder", "mindrecord") else data.name.upper(),
        "recipe": recipe.name,
    }


def _files(name: str) -> dict[str, object]:
    quoted = {"train": '("train", "training")', "eval": '("eval", "val", "validation", "test")'}
    return {
        "train_names": quoted["train"],
        "eval_names": quoted["eval"],
        "train_files": "data_batch_*.bin" if name == "cifar10" else "train.bin",
        "eval_files": "test_batch.bin" if name == "cifar10" else "test.bin",
        "label_at": 0 if name == "cifar10" else 1,
        "label_bytes": 1 if name == "cifar10" else 2,
    }
