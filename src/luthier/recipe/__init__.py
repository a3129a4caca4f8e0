"""What to do, as typed data: read, override, check, write."""

from luthier.recipe.comparing import differences, flattened
from luthier.recipe.optimizers import Adam, AdamW, Momentum, Muon, Nesterov, Optimizer, ParameterGroup, Sgd
from luthier.recipe.overrides import override
from luthier.recipe.param_spec import ParamSpec, as_override
from luthier.recipe.ranges import Range
from luthier.recipe.reading import parse, read
from luthier.recipe.records import (
    Checkpoint,
    Compress,
    Data,
    Model,
    Normalize,
    Recipe,
    Record,
    Score,
    Start,
    Stop,
    Strategy,
)
from luthier.recipe.schedules import Constant, Cosine, Exponential, OneCycle, Polynomial, Schedule, Square, Stage
from luthier.recipe.schema import json_schema
from luthier.recipe.shipped import load, shipped, shipped_text
from luthier.recipe.transforms import (
    CenterCrop,
    ColorJitter,
    Cutout,
    RandomCrop,
    RandomFlip,
    RandomResizedCrop,
    Resize,
    Transform,
)
from luthier.recipe.writing import to_toml

__all__ = [
    "Adam",
    "AdamW",
    "CenterCrop",
    "Checkpoint",
    "ColorJitter",
    "Compress",
    "Constant",
    "Cosine",
    "Cutout",
    "Data",
    "Exponential",
    "Model",
    "Momentum",
    "Muon",
    "Nesterov",
    "Normalize",
    "OneCycle",
    "Optimizer",
    "ParamSpec",
    "ParameterGroup",
    "Polynomial",
    "RandomCrop",
    "RandomFlip",
    "RandomResizedCrop",
    "Range",
    "Recipe",
    "Record",
    "Resize",
    "Schedule",
    "Score",
    "Sgd",
    "Square",
    "Stage",
    "Start",
    "Stop",
    "Strategy",
    "Transform",
    "as_override",
    "differences",
    "flattened",
    "json_schema",
    "load",
    "override",
    "parse",
    "read",
    "shipped",
    "shipped_text",
    "to_toml",
]
