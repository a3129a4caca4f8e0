"""The step with its optimizer's state under the names that both engines share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, SupportsFloat

import numpy as np
from mindspore import ParameterTuple, Tensor
from mindspore import dtype as mstype
from numpy.typing import NDArray

from luthier.engines.group import JointLoss
from luthier.engines.mindspore.group import MindSporeGroup
from luthier.engines.mindspore.joining import Joint, statistics_of_norms
from luthier.engines.mindspore.optimizers import build_update, rates_at, scalar
from luthier.engines.mindspore.parameters import Named, put
from luthier.engines.mindspore.step import JointStep, Loss, Step
from luthier.engines.splitting import group_ends
from luthier.recipe import Recipe
from luthier.strategy import LossScale, ParameterInfo, average_decay, groups

__all__ = ["Learner"]

Arrays = dict[str, NDArray[Any]]
LOOK_EVERY = 10  # steps


class Learner:
    """Counts on the host what a graph would have to count in float32."""

    def __init__(
        self,
        recipe: Recipe,
        loss: Loss,
        named: Named,
        average: Named | None,
        infos: Sequence[ParameterInfo],
        group: MindSporeGroup | None = None,
    ) -> None:
        strategy = recipe.strategy
        self.loss = loss
        self._named, self._average = named, average
        self._record = strategy.optimizer
        self._decay, self._passes = strategy.average_decay, strategy.accumulate
        self._update = build_update(self._record, groups(self._record, infos), named.trainable(), named.names)
        followed = [part.buffers_and_parameters() if average else [] for part in (average or named, named)]
        parts = ParameterTuple(followed[0]), ParameterTuple(followed[1])
        self._group, self._reads = group, 0
        self.asks_to_look = self.look_was_asked = (
            False  # at activations: by this rank, and by any as of the latest step
        )
        group_ends(strategy.allreduce_split, len(named.trainable()))  # on one process too: the recipe is the same
        if group:
            joint = Joint(group, named.trainable(), statistics_of_norms(named.cell), strategy.allreduce_split)
            self._step: Step = JointStep(loss, self._update, recipe, parts, joint)
        else:
            self._step = Step(loss, self._update, recipe, parts)
        self._step.set_train(True)
        self.steps = self.average_steps = 0
        self._scale = LossScale() if loss.dynamic else None

    def step(self, images: Tensor, labels: Tensor, learning_rate: float) -> tuple[SupportsFloat, Any]:
        """The loss, and the gradients in the network's order."""
        rates = rates_at(self._record, learning_rate, self.steps + 1)
        share = scalar(1.0 - average_decay(self._decay, self.average_steps))
        asks = [Tensor([self._group.asks_to_stop, self.asks_to_look], mstype.float32)] if self._group else []
        loss, gradients = self._step(images, labels, *rates, share, *asks)
        count = len(images)
        for _ in range(-(-count // -(-count // self._passes))):  # in which parts the images come
            self._named.count()
        return self._heard(loss) if self._group else loss, gradients

    def _heard(self, told: Tensor) -> JointLoss:
        """On an accelerator a look at every step would make it wait."""
        assert self._group is not None
        ranks = self._group.ranks
        self._reads += 1
        if self._group.device == "cpu" or self._reads % LOOK_EVERY == 0:
            stop, look = (told.asnumpy()[ranks:] > 0).tolist()
            self._group.stop_was_asked, self.look_was_asked = stop, look
        return JointLoss(lambda: np.asarray(told.asnumpy()[:ranks]))

    def stepped(self) -> None:
        """The weights did change, unless a gradient overflowed."""
        if self._scale is None or self._rescaled(self._scale):
            self.steps += 1
        if self._average:
            self.average_steps += 1
            self._average.counters = dict(self._named.counters)

    def _rescaled(self, scale: LossScale) -> bool:
        """Whether this step's gradients were finite; the next one's loss scale follows from it."""
        finite = bool(self._step.finite.asnumpy())
        self._scale = scale.updated(finite=finite)
        if self._scale.scale != scale.scale:
            put(self.loss.scale, np.array(self._scale.scale, np.float32))
        return finite

    def slots(self) -> Arrays:
        """`<slot>/<parameter>` to array."""
        found: Arrays = {}
        names = self._named.names
        for slot, clones in self._update.slots().items():
            arrays = self._named.to_state({name: clone.asnumpy() for name, clone in clones.items()}, linear=True)
            found |= {f"{slot}/{name}": np.array(array) for name, array in arrays.items()}
        found |= {f"step/{names[name]}": np.array(self.steps, np.float32) for name in self._update.counted()}
        if self._scale:
            found["loss_scale"] = np.array([self._scale.scale, self._scale.good_steps], np.float64)
        return found | ({"average_steps": np.array(self.average_steps)} if self._average else {})

    def load(self, slots: Mapping[str, NDArray[Any]]) -> None:
        """Go on from saved slots, which were found to match."""
        for slot, clones in self._update.slots().items():
            given = {self._named.names[name]: slots[f"{slot}/{self._named.names[name]}"] for name in clones}
            for name, array in self._named.to_cell(given).items():
                put(clones[name], array)
        if self._scale:
            scale, good_steps = slots["loss_scale"].tolist()
            self._scale = replace(self._scale, scale=scale, good_steps=int(good_steps))
            put(self.loss.scale, np.array(scale, np.float32))
        counts = [int(array) for key, array in slots.items() if key.startswith("step/")]
        self.steps = max(counts, default=self.steps)
        self.average_steps = int(slots.get("average_steps", self.average_steps))
