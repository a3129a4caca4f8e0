"""A network and its optimizer on PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import repeat
from typing import Any, SupportsFloat

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from luthier import zoo
from luthier.data import Batch
from luthier.engines.group import Alone, Group, not_finite
from luthier.engines.matching import require_match
from luthier.engines.outputs import require_logits
from luthier.engines.protocol import Arrays, NonFinite
from luthier.engines.splitting import group_ends
from luthier.engines.statistics import Statistics
from luthier.engines.torch.average import Average
from luthier.engines.torch.device import device_of
from luthier.engines.torch.group import TorchGroup
from luthier.engines.torch.joint_batch_norm import join_batch_norms
from luthier.engines.torch.learner import Learner
from luthier.engines.torch.parameters import parameter_infos, require_storable
from luthier.engines.torch.probe import Probe
from luthier.engines.torch.reducing import Reducer
from luthier.engines.torch.teaching import Teaching
from luthier.engines.torch.trial import tell_fault, usable_layout
from luthier.errors import CheckpointError, EngineError, ModelError
from luthier.recipe import Recipe
from luthier.strategy import generator_states, seed_generators, set_generator_states, uniform_smoothing

__all__ = ["TorchSession"]

RANKS_APART = 0x9E3779B97F4A7C15  # between the seeds of two ranks: each drops other units
PRECISIONS = {"bfloat16": torch.bfloat16, "float16": torch.float16}


class TorchSession:
    """Images come as the data set has them; normalisation, and everything after it, is done on the device."""

    engine = "torch"
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        recipe: Recipe,
        *,
        shape: tuple[int, int, int],
        num_classes: int,
        training: bool = True,
        group: Group | None = None,
    ) -> None:
        strategy = recipe.strategy
        together = group if isinstance(group, TorchGroup) and training else None
        self._device = together.device if together else device_of(recipe.device)
        self.device = str(self._device)
        rank = (group or Alone()).rank
        if training:
            torch.manual_seed((strategy.seed + rank * RANKS_APART) % 2**63)
            seed_generators((strategy.seed + rank * RANKS_APART) % 2**32)
        self.module = zoo.build(recipe.model, shape=shape, num_classes=num_classes, seed=strategy.seed)
        self.module.to(self._device)
        require_storable(self.module, recipe.model.name)
        self.parameters = parameter_infos(self.module)
        if training and not self.parameters:
            raise ModelError(f"{recipe.model.name} has no parameter that can be trained", at="model.name")
        self._scale, self._shift = _normalisation(recipe, self._device)
        self._row = self._scale.repeat(shape[1]), self._shift.repeat(shape[1])
        self._name, self._shape, self._num_classes = recipe.model.name, shape, num_classes
        self._smoothing = uniform_smoothing(num_classes, strategy.label_smoothing, strategy.smoothing_over)
        self._teaching = Teaching(weight=strategy.teacher_weight, temperature=strategy.teacher_temperature)
        self._precision = PRECISIONS.get(strategy.precision)
        # Images lie channels-last in memory already; on a CPU a LeNet-5 step then takes 0.7 to 0.9 of the time.
        self.layout = torch.channels_last
        self._own = ":" in recipe.model.name
        if self._own:
            attempt = partial(self._attempt, training=training)
            self.layout, note = usable_layout(self.module, attempt, self._name)
            self.notes = (note,) if note else ()
        if together and strategy.sync_batch_norm:
            self.module = join_batch_norms(self.module, together)
        self.module.to(memory_format=self.layout)  # type: ignore[call-overload]
        self._accumulate = strategy.accumulate
        self._average = Average(self.module, strategy.average_decay) if training and strategy.average_decay else None
        self._probe = Probe(self.module)
        self._loss_of: Any = self._loss
        self._learner = Learner(recipe, self.module, self.parameters) if training else None
        if training:
            group_ends(strategy.allreduce_split, len(self.parameters))  # on one process too: the recipe is the same
        self._reducer = Reducer(together, self.module, strategy.allreduce_split) if together else None
        self._gradients: Callable[[Batch, Learner], Tensor] = self._backward
        if training and recipe.mode == "graph":
            from luthier.engines.torch.compiling import explained

            self._loss_of = torch.compile(self._loss)
            self._gradients = explained(self._backward)

    def step(self, batch: Batch, learning_rate: float) -> SupportsFloat:
        """Change the weights once, by the mean gradient over the batch."""
        learner = self._learner
        if learner is None:
            raise EngineError("A session opened for evaluation cannot step")
        if not self.module.training:
            self.module.train()
        learner.zero_grad()
        try:
            total = self._gradients(batch, learner)
        except zoo.FAULTS as fault:
            self._tell(fault)
            raise
        loss = self._reducer.reduce(total) if self._reducer else total
        # Reading a loss on a CPU costs a microsecond; elsewhere it would wait for the device, and the loop reads it.
        if self._device.type == "cpu" and not math.isfinite(value := float(loss)):
            raise NonFinite(value, learner.first_non_finite(), not_finite(loss))
        learner.update(learning_rate)
        if self._average:
            self._average.update()
        return loss

    def _backward(self, batch: Batch, learner: Learner) -> Tensor:
        images = torch.from_numpy(batch.images).to(self._device, non_blocking=True)
        labels = torch.from_numpy(batch.labels).to(self._device, non_blocking=True)
        if labels.ndim == 1:
            labels = labels.long()
        given = None if batch.teacher is None else torch.from_numpy(batch.teacher).to(self._device, non_blocking=True)
        if self._accumulate == 1:
            loss = self._loss_of(images, labels, given)
            learner.scaled(loss).backward()  # type: ignore[no-untyped-call]
            return loss.detach()  # type: ignore[no-any-return]
        total = torch.zeros((), device=self._device)
        taught = repeat(None) if given is None else given.chunk(self._accumulate)
        for part, answers, taught_part in zip(
            images.chunk(self._accumulate), labels.chunk(self._accumulate), taught, strict=given is not None
        ):
            loss = self._loss_of(part, answers, taught_part)
            share = len(part) / len(images)
            learner.scaled(loss * share if share < 1 else loss).backward()  # type: ignore[no-untyped-call]
            total = total + loss.detach() * share if share < 1 else loss.detach()
        return total

    def _loss(self, images: Tensor, labels: Tensor, taught: Tensor | None = None) -> Tensor:
        with self._autocast():
            logits = self.module(self._normalised(images))
            require_logits(logits, Tensor, len(images), self._num_classes)
        loss = cross_entropy(logits.float(), labels, label_smoothing=self._smoothing)
        return loss if taught is None else self._teaching(loss, logits.float(), taught)

    def _attempt(self, module: nn.Module, layout: torch.memory_format, *, training: bool) -> None:
        """A step and an evaluation of two images without an update, which is all that a run asks of a network."""
        images = np.random.default_rng(0).integers(0, 256, (2, *self._shape), np.uint8)
        self.layout = layout
        x = self._normalised(torch.from_numpy(images).to(self._device))
        if training:
            with self._autocast():
                logits = module.train()(x.clone())
            require_logits(logits, Tensor, 2, self._num_classes)
            cross_entropy(logits.float(), torch.zeros(2, dtype=torch.long, device=self._device)).backward()  # type: ignore[no-untyped-call]
        with torch.no_grad(), self._autocast():
            require_logits(module.eval()(x), Tensor, 2, self._num_classes)

    def _tell(self, fault: BaseException) -> None:
        if self._own:
            tell_fault(fault, self.module, self._name)

    def _autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast(self._device.type, self._precision) if self._precision else nullcontext()

    def _normalised(self, images_BHWC: Tensor) -> Tensor:
        """Row by row: over the three channels alone, which lie innermost, PyTorch takes six times as long."""
        batch, height, width, channels = images_BHWC.shape
        x_BHWC = images_BHWC.to(torch.float32, memory_format=torch.contiguous_format)
        rows = x_BHWC.view(batch, height, width * channels)
        known = width == self._shape[1]
        scale, shift = self._row if known else (self._scale.repeat(width), self._shift.repeat(width))
        rows.mul_(scale).add_(shift)
        x_BCHW = x_BHWC.permute(0, 3, 1, 2)
        # Strides of a single channel fit both layouts: only a copy says which is meant.
        return x_BCHW if self.layout is torch.channels_last else x_BCHW.clone(memory_format=self.layout)

    @torch.no_grad()
    def logits(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """The network's outputs in evaluation mode, from the averaged weights where there are any."""
        if self.module.training:
            self.module.eval()
        x = self._normalised(torch.from_numpy(images).to(self._device))
        with self._autocast():
            average = self._average.tensors if self._average else {}
            try:
                outputs = torch.func.functional_call(self.module, average, (x,)) if average else self.module(x)
            except zoo.FAULTS as fault:
                self._tell(fault)
                raise
        require_logits(outputs, Tensor, len(images), self._num_classes)
        return np.asarray(outputs.float().cpu().numpy(), np.float32)

    def state(self) -> Arrays:
        """A copy of everything that a continuation to the same bits needs."""
        tensors = {f"model/{name}": value for name, value in self.module.state_dict().items()}
        tensors |= {f"optimizer/{key}": value for key, value in self._slots().items()}
        if self._learner:
            tensors |= {"rng/torch": torch.get_rng_state()}
            if self._device.type == "cuda":
                tensors |= {"rng/cuda": torch.cuda.get_rng_state(self._device)}
        if self._average:
            tensors |= {f"average/{name}": value for name, value in self._average.tensors.items()}
        found = {key: np.array(value.detach().cpu().numpy()) for key, value in tensors.items()}
        own = generator_states() if self._learner else {}
        return found | {f"rng/{name}": state for name, state in own.items()}

    def _slots(self) -> dict[str, Tensor]:
        slots = self._learner.slots() if self._learner else {}
        return slots | ({"average_steps": torch.tensor(self._average.steps)} if self._average else {})

    def load(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take a state, or whole parts of one: a part that is not there stays as it is; all is checked before."""
        parts = _parts(state)
        own = {"model": self.module.state_dict()}
        own |= {"optimizer": self._slots()} if self._learner else {}
        own |= {"average": self._average.tensors} if self._average else {}
        taken = {part: tensors for part, tensors in parts.items() if part in own and tensors}
        for part, tensors in taken.items():
            require_match(part, own[part], tensors)
        if "model" in taken:
            self.module.load_state_dict(taken["model"])
        if self._learner and "optimizer" in taken:
            self._learner.load(taken["optimizer"])
        if self._average and "average" in taken:
            self._average.load(taken["average"], int(parts["optimizer"].get("average_steps", self._average.steps)))
        if self._learner:
            self._set_rng(parts["rng"])

    def _set_rng(self, states: Mapping[str, Tensor]) -> None:
        """Another engine's numbers, or another device's, mean nothing here."""
        if "torch" in states:
            torch.set_rng_state(states["torch"])
        if "cuda" in states and self._device.type == "cuda":
            torch.cuda.set_rng_state(states["cuda"], self._device)
        set_generator_states({name: value.numpy() for name, value in states.items()})

    def probe(self, names: Iterable[str]) -> dict[str, Statistics]:
        """Statistics of `weight/<name>`, `gradient/<name>` and `activation/<layer>` at the latest step."""
        return self._probe.statistics(names)

    def messages(self) -> list[str]:
        """PyTorch speaks through Python's warnings."""
        return []

    def close(self) -> None:
        """Let go of the hooks on the network."""
        self._probe.close()


def _parts(state: Mapping[str, NDArray[Any]]) -> dict[str, dict[str, Tensor]]:
    parts: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "average": {}, "rng": {}}
    for key, array in state.items():
        part, _, name = key.partition("/")
        if part not in parts:
            raise CheckpointError(f"Expected a state's keys to begin with {', '.join(parts)}, got '{key}'")
        parts[part][name] = torch.from_numpy(np.array(array))
    return parts


def _normalisation(recipe: Recipe, device: torch.device) -> tuple[Tensor, Tensor]:
    """(x/255 − mean)/std as one product and one sum."""
    mean = torch.tensor(recipe.data.normalize.mean, dtype=torch.float64)
    std = torch.tensor(recipe.data.normalize.std, dtype=torch.float64)
    return (1 / (255 * std)).float().to(device), (-mean / std).float().to(device)
