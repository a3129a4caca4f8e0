"""How weights are changed, as numbers and names: no framework, so that every engine sees the same."""

from luthier.strategy import initializers
from luthier.strategy.averaging import average_decay
from luthier.strategy.drawing import Plan, draw_schedules
from luthier.strategy.generators import generator_states, generators_kept, seed_generators, set_generator_states
from luthier.strategy.groups import Group, ParameterInfo, groups
from luthier.strategy.labels import label_weights, uniform_smoothing
from luthier.strategy.loss_scale import LossScale
from luthier.strategy.schedules import learning_rates, total_steps

__all__ = [
    "Group",
    "LossScale",
    "ParameterInfo",
    "Plan",
    "average_decay",
    "draw_schedules",
    "generator_states",
    "generators_kept",
    "groups",
    "initializers",
    "label_weights",
    "learning_rates",
    "seed_generators",
    "set_generator_states",
    "total_steps",
    "uniform_smoothing",
]
