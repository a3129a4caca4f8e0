"""A network and its optimizer on MindSpore."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, SupportsFloat

import mindspore
import numpy as np
from mindspore import Parameter, Tensor, amp, nn
from numpy.typing import NDArray

from luthier.data import Batch
from luthier.engines.group import Group, not_finite
from luthier.engines.matching import require_match
from luthier.engines.mindspore import logs
from luthier.engines.mindspore.device import device_of, require_parts
from luthier.engines.mindspore.draws import Draws
from luthier.engines.mindspore.dropout import replace_dropouts
from luthier.engines.mindspore.failures import telling_failures
from luthier.engines.mindspore.fast_path import cap_where_it_helps
from luthier.engines.mindspore.group import MindSporeGroup
from luthier.engines.mindspore.joining import join_batch_norms
from luthier.engines.mindspore.learner import Learner
from luthier.engines.mindspore.parameters import Named, parameter_infos, put
from luthier.engines.mindspore.probe import Probe
from luthier.engines.mindspore.step import NOT_LOGITS, Evaluation, Loss
from luthier.engines.mindspore.teaching import answers_of
from luthier.engines.mindspore.trial import NOT_REPEATABLE, random_batch, random_images
from luthier.engines.outputs import require_logits
from luthier.engines.protocol import Arrays, NonFinite
from luthier.engines.statistics import Statistics
from luthier.errors import CheckpointError, EngineError, ModelError
from luthier.recipe import Recipe
from luthier.strategy import generator_states, generators_kept, seed_generators, set_generator_states
from luthier.zoo.mindspore import build

__all__ = ["MindSporeSession"]

PRECISIONS = {"bfloat16": mindspore.bfloat16, "float16": mindspore.float16}
PARTS = ("model", "optimizer", "average", "rng")
OWN_DRAWS = "mindspore/ops"  # beside the names of layers, which have no slash


class MindSporeSession:
    """`eager` is PYNATIVE, `graph` is GRAPH_MODE: the mode is the process's, and is set before anything runs."""

    engine = "mindspore"

    def __init__(
        self,
        recipe: Recipe,
        *,
        shape: tuple[int, int, int],
        num_classes: int,
        training: bool = True,
        group: Group | None = None,
    ) -> None:
        logs.keep_from_working_folder()
        self._group = group if isinstance(group, MindSporeGroup) and group.ranks > 1 and training else None
        self.device = self._group.device if self._group else device_of(recipe.device)
        require_parts(recipe, self.device)
        self._found = mindspore.get_context("mode")
        self._mode = mindspore.GRAPH_MODE if recipe.mode == "graph" else mindspore.PYNATIVE_MODE
        if recipe.mode == "eager" and self.device == "cpu":
            mindspore.runtime.launch_blocking()  # half the time a step (31 ms to 16, LeNet-5 on two cores)
        self._recipe, self._shape, self._num_classes = recipe, shape, num_classes
        if training:
            seed_generators(recipe.strategy.seed)
        self.network = self._built()
        rank = self._group.rank if self._group else 0
        self._dropouts = replace_dropouts(self.network, recipe.strategy.seed + rank)
        self._draws = Draws(recipe.strategy.seed + rank) if ":" in recipe.model.name else None
        self._sums_within = bool(self._group) and recipe.strategy.sync_batch_norm  # over the ranks, on the way forward
        if self._group and self._sums_within:
            join_batch_norms(self.network, self._group)
        self._named = self._names(self.network)
        self.parameters = parameter_infos(self._named)
        if training and not self.parameters:
            raise ModelError(f"{recipe.model.name} has no parameter that can be trained", at="model.name")
        evaluation = Evaluation(self.network, recipe)
        self._probe = Probe(self.network, self._named, [self._draws.key] if self._draws else [])
        averaged = self._built() if training and recipe.strategy.average_decay else None
        self._average = self._names(averaged) if averaged else None
        for parameter in averaged.get_parameters() if averaged else ():
            parameter.name = f"luthier.average.{parameter.name}"  # a graph knows its parameters by name
        self._evaluation = Evaluation(averaged, recipe) if averaged else evaluation
        self._evaluation.set_train(False)
        mindspore.set_context(mode=self._mode)  # a gradient is of the mode that it is made in
        loss = Loss(evaluation, recipe, num_classes)
        parts = loss, self._named, self._average, self.parameters
        self._learner = Learner(recipe, *parts, self._group) if training else None
        path = cap_where_it_helps()
        told = [path.sentence] if training and path.worth_telling else []
        news = bool(told) and path.is_news()
        self.notes: tuple[str, ...] = tuple(told) if news else ()
        self._unsaid = [] if news else told  # which every run's log has
        if self._draws:
            self._try()

    def _try(self) -> None:
        """A user's own network, before a run begins: it evaluates, and takes one and the same step twice."""
        recipe, losses = self._recipe, []
        with generators_kept():
            self.logits(random_images(recipe, self._shape))
            if self._learner is None:
                return
            batch, state = random_batch(recipe, self._shape, self._num_classes), self.state()
            for _ in range(2):
                with suppress(NonFinite):  # of random pixels
                    losses.append(float(self._stepped(self._learner, batch, 0.0)))
                self.load(state)
        self._probe.gradients = None
        if len(set(losses)) > 1:
            self.notes = (*self.notes, NOT_REPEATABLE.format(recipe.model.name))

    def _built(self) -> nn.Cell:
        recipe = self._recipe
        with telling_failures(recipe.model.name), generators_kept():  # MindSpore draws from NumPy's
            cell = build(recipe.model, shape=self._shape, num_classes=self._num_classes, seed=recipe.strategy.seed)
        precision = PRECISIONS.get(recipe.strategy.precision)
        return amp.auto_mixed_precision(cell, "auto", precision) if precision else cell

    def _names(self, network: nn.Cell) -> Named:
        keys = [layer.key for layer in self._dropouts.values()]
        return Named(network, shipped=":" not in self._recipe.model.name, without=keys)

    def step(self, batch: Batch, learning_rate: float) -> SupportsFloat:
        """Change the weights once, by the mean gradient over the batch."""
        learner = self._learner
        if learner is None:
            raise EngineError("A session opened for evaluation cannot step")
        loss = self._stepped(learner, batch, learning_rate)
        learner.stepped()
        return loss

    def _stepped(self, learner: Learner, batch: Batch, learning_rate: float) -> SupportsFloat:
        self._enter(training=True)
        images, labels = Tensor(batch.images), Tensor(answers_of(batch, self._num_classes))
        joint = learner.look_was_asked if self._sums_within else None
        learner.asks_to_look = self._probe.is_asked
        with self._telling(batch), self._probe.watching(learner.loss.evaluation, images, self._mode, joint=joint):
            loss, gradients = learner.step(images, labels, learning_rate)
        self._probe.gradients = gradients
        if self.device == "cpu" and not math.isfinite(value := float(loss)):
            raise NonFinite(value, self._probe.first_non_finite(), not_finite(loss))
        return loss

    def logits(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The network's outputs in evaluation mode, from the averaged weights where there are any."""
        self._enter(training=False)
        with telling_failures(self._recipe.model.name, self.network), self._drawing(evaluating=True):
            outputs = self._evaluation(Tensor(images))
            require_logits(outputs, Tensor, len(images), self._num_classes)
            return np.asarray(outputs.asnumpy(), np.float32)

    @contextmanager
    def _telling(self, batch: Batch) -> Iterator[None]:
        """Outputs of a wrong shape are found while the step is compiled, where they cannot be told."""
        try:
            telling_losses = self._group.telling_losses() if self._group else nullcontext()
            with telling_losses, telling_failures(self._recipe.model.name, self.network), self._drawing():
                yield
        except ModelError as fault:
            if NOT_LOGITS not in fault.sentence:
                raise
            self.logits(batch.images)  # tells which
            raise

    def _drawing(self, *, evaluating: bool = False) -> AbstractContextManager[None]:
        return self._draws.in_place(kept=evaluating) if self._draws else nullcontext()

    def _enter(self, *, training: bool) -> None:
        if mindspore.get_context("mode") != self._mode:
            mindspore.set_context(mode=self._mode)
        if self.network.training != training:
            self.network.set_train(training)

    def state(self) -> Arrays:
        """A copy of everything that a continuation to the same bits needs."""
        found = {f"model/{name}": array for name, array in self._named.arrays().items()}
        found |= {f"optimizer/{key}": array for key, array in self._slots().items()}
        if self._learner:
            found |= {f"rng/{name}": np.array(key.asnumpy()) for name, key in self._keys().items()}
            found |= {f"rng/{name}": array for name, array in generator_states().items()}
        if self._average:
            found |= {f"average/{name}": array for name, array in self._average.arrays().items()}
        return found

    @property
    def evaluation(self) -> nn.Cell:
        """Pixels to logits, as a Cell."""
        return self._evaluation

    def own_parameters(self) -> list[Parameter]:
        """The network's, without the keys of our dropouts."""
        return self._named.buffers_and_parameters()

    def _slots(self) -> Arrays:
        return self._learner.slots() if self._learner else {}

    def _keys(self) -> dict[str, Parameter]:
        own = {OWN_DRAWS: self._draws.key} if self._draws else {}
        return {name: layer.key for name, layer in self._dropouts.items()} | own

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take a state, or whole parts of one: a part that is not there stays as it is; all is checked before."""
        parts = _parts(state)
        own: dict[str, Arrays] = {"model": self._named.arrays()}
        own |= {"optimizer": self._slots()} if self._learner else {}
        own |= {"average": self._average.arrays()} if self._average else {}
        taken = {part: arrays for part, arrays in parts.items() if part in own and arrays}
        for part, arrays in taken.items():
            require_match(part, own[part], arrays)
        if "model" in taken:
            self._named.load(taken["model"])
        if self._learner and "optimizer" in taken:
            self._learner.load(taken["optimizer"])
        if self._average and "average" in taken:
            self._average.load(taken["average"])
        for name, key in self._keys().items() if self._learner else ():
            if name in parts["rng"]:  # another engine's random numbers mean nothing here
                put(key, parts["rng"][name])
        if self._learner:
            set_generator_states(parts["rng"])

    def probe(self, names: Iterable[str]) -> dict[str, Statistics]:
        """Statistics of `weight/<name>`, `gradient/<name>` and `activation/<layer>` at the latest step."""
        return self._probe.statistics(names)

    def messages(self) -> list[str]:
        """MindSpore's warnings and errors, and what a person was told in an earlier run."""
        unsaid, self._unsaid = self._unsaid, []
        return [*unsaid, *logs.messages()]

    def close(self) -> None:
        """Put the process's mode back."""
        self._probe.close()
        mindspore.set_context(mode=self._found)


def _parts(state: Mapping[str, NDArray[Any]]) -> dict[str, Arrays]:
    parts: dict[str, Arrays] = {part: {} for part in PARTS}
    for key, array in state.items():
        part, _, name = key.partition("/")
        if part not in parts:
            raise CheckpointError(f"Expected a state's keys to begin with {', '.join(parts)}, got '{key}'")
        parts[part][name] = np.asarray(array)
    return parts
