"""A PyTorch module as the reference of a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd

from luthier.proof.network import Array, Arrays, Call, Graded, Layer, LayerRun, ParameterFact, Trace, leaves_of
from luthier.proof.places import place_of
from luthier.proof.torch.arrays import array_of, arrays_in, copied, tensors_of
from luthier.proof.torch.calm import Calm, Variant
from luthier.proof.torch.disturbing import disturbed
from luthier.proof.torch.losses import loss_of
from luthier.proof.torch.steppers import OwnStepper, SettledStepper
from luthier.proof.trainer import Settled

__all__ = ["TorchReference"]

Run = TypeVar("Run")

PLAIN = (bool, int, float, str, tuple, type(None))
ONES = 200_000
SPATIAL = {1: nn.Dropout1d, 2: nn.Dropout2d, 3: nn.Dropout3d}


class TorchReference:
    """Works on a copy without dropout; a second copy in float64 says what is exact."""

    framework = "torch"
    trains = True

    def __init__(self, module: nn.Module, name: str) -> None:
        self.name = name
        self.notes: list[str] = []
        self.module = deepcopy(module).cpu()
        self._dropouts = {path: deepcopy(part) for path, part in self.module.named_modules() if _is_dropout(part)}
        self._silence()
        self.dtype = next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)
        self.unit = float(torch.finfo(self.dtype).eps) / 2
        self._precise: nn.Module | None = None
        self._inexact: set[str] = set()

    def _exactly(self, run: Callable[[bool], Run], *, exact: bool, part: str = "network") -> Run:
        """In float64 where that is possible: a network or a loss may hold constants of another dtype."""
        if exact and part not in self._inexact:
            try:
                return run(True)
            except (RuntimeError, TypeError) as fault:
                self._inexact.add(part)
                said = next(iter(str(fault).strip().splitlines()), "")[:100]
                self.notes.append(f"The reference's {part} has no float64: its own dtype is the measure ({said}).")
        return run(False)

    def _silence(self) -> None:
        found = []
        for path, part in self.module.named_modules():
            if _is_dropout(part) and part.p:
                part.p = 0.0
                found.append(path)
            elif isinstance(part, nn.MultiheadAttention | nn.RNNBase) and part.dropout:
                part.dropout = 0.0
                found.append(path)
        if found:
            self.notes.append(f"Dropout is off while numbers are compared: {', '.join(found[:4])}{_more(found, 4)}.")

    def _exact(self) -> nn.Module:
        if self._precise is None:
            self._precise = deepcopy(self.module).double()
        return self._precise

    def refresh(self) -> None:
        """Forget the float64 copy: the weights have changed."""
        self._precise = None

    def layers(self) -> list[Layer]:
        """In the order of construction."""
        parts = dict(self.module.named_modules())
        return [
            Layer(
                path=path,
                kind=type(part).__name__,
                place=place_of(part, parts.get(path.rpartition(".")[0]) if path else None, path.rpartition(".")[2]),
                settings=_settings(self._dropouts.get(path) or part),
                is_dropout=_is_dropout(part),
            )
            for path, part in parts.items()
        ]

    def parameters(self) -> list[ParameterFact]:
        """Parameters and buffers as a state dict has them."""
        trainable = {name for name, value in self.module.named_parameters() if value.requires_grad}
        return [
            ParameterFact(
                name=name,
                shape=tuple(value.shape),
                dtype=str(value.dtype).removeprefix("torch."),
                trainable=name in trainable,
                owner=name.rpartition(".")[0],
            )
            for name, value in self.module.state_dict().items()
        ]

    def arrays(self) -> Arrays:
        """Copies."""
        return {name: array_of(value) for name, value in self.module.state_dict().items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Some or all."""
        own = self.module.state_dict()
        with torch.no_grad():
            for name in own.keys() & arrays.keys():
                own[name].copy_(torch.from_numpy(np.array(arrays[name])))
        self.refresh()

    def statistics(self, module: nn.Module) -> Arrays:
        """The running statistics, which a training pass moves."""
        return {
            f"{path}.{leaf}" if path else leaf: array_of(value)
            for path, part in module.named_modules()
            if isinstance(part, _NormBase) and part.track_running_stats
            for leaf, value in part.named_buffers(recurse=False)
            if value.is_floating_point()
        }

    @contextmanager
    def _at(
        self, module: nn.Module, *, training: bool, disturb: float = 0.0, seed: int = 0, keep: bool = False
    ) -> Iterator[None]:
        """In a mode, without dropout, disturbed; buffers are put back."""
        buffers = [(value, value.detach().clone()) for value in module.buffers()]
        module.train(training)
        with torch.random.fork_rng(devices=[]), Calm(), disturbed(module, disturb * self.unit, seed):
            torch.manual_seed(seed)
            yield
        if not keep:
            for value, before in buffers:
                value.copy_(before)

    def _inputs(self, inputs: Sequence[Array], dtype: torch.dtype) -> list[Any]:
        return [tensors_of(array, dtype) for array in inputs]

    def trace(
        self, inputs: Sequence[Array], *, training: bool, exact: bool = False, disturb: float = 0.0, seed: int = 0
    ) -> Trace:
        """Run freely, and keep every layer's outputs; its inputs too where the pass is in its own dtype."""

        def run(exactly: bool) -> Trace:
            return self._trace(inputs, training=training, exact=exactly, disturb=disturb, seed=seed)

        return self._exactly(run, exact=exact)

    @torch.no_grad()
    def _trace(self, inputs: Sequence[Array], *, training: bool, exact: bool, disturb: float, seed: int) -> Trace:
        module, dtype = (self._exact(), torch.float64) if exact else (self.module, self.dtype)
        calls: list[Call] = []
        begun: list[tuple[Any, Any]] = []

        def begin(_part: nn.Module, args: Any, kwargs: Any) -> None:
            begun.append((copied(args), copied(kwargs)) if not exact else ((), {}))

        def end(path: str) -> Any:
            def keep(_part: nn.Module, _args: Any, _kwargs: Any, output: Any) -> None:
                args, kwargs = begun.pop()
                calls.append(Call(path=path, args=args, kwargs=kwargs, outputs=arrays_in(output)))

            return keep

        with self._at(module, training=training, disturb=disturb, seed=seed):
            hooks = [part.register_forward_pre_hook(begin, with_kwargs=True) for part in module.modules()]
            hooks += [part.register_forward_hook(end(path), with_kwargs=True) for path, part in module.named_modules()]
            try:
                outputs = module(*self._inputs(inputs, dtype))
            finally:
                for hook in hooks:
                    hook.remove()
            statistics = self.statistics(module)
        return Trace(calls=tuple(calls), outputs=arrays_in(outputs), statistics=statistics)

    def layer(
        self,
        path: str,
        call: Call,
        *,
        training: bool,
        exact: bool = False,
        disturb: float = 0.0,
        cotangents: Sequence[Array | None] | None = None,
        variant: Any = None,
    ) -> LayerRun:
        """Run one layer on given inputs."""

        def run(exactly: bool) -> LayerRun:
            return self._layer(
                path, call, training=training, exact=exactly, disturb=disturb, cotangents=cotangents, variant=variant
            )

        return self._exactly(run, exact=exact) if variant is None else run("network" not in self._inexact)

    def _layer(
        self,
        path: str,
        call: Call,
        *,
        training: bool,
        exact: bool,
        disturb: float,
        cotangents: Sequence[Array | None] | None,
        variant: Any,
    ) -> LayerRun:
        module, dtype = (self._exact(), torch.float64) if exact else (self.module, self.dtype)
        part = module.get_submodule(path)
        args, kwargs = tensors_of(call.args, dtype), tensors_of(call.kwargs, dtype)
        given = [leaf for leaf in leaves_of((args, kwargs)) if isinstance(leaf, Tensor) and leaf.is_floating_point()]
        if disturb:
            generator = torch.Generator().manual_seed(1)
            for leaf in given:
                leaf.mul_(1.0 + disturb * self.unit * torch.randn(leaf.shape, generator=generator, dtype=leaf.dtype))
        mode = variant if isinstance(variant, Variant) else nullcontext()
        back = cotangents is not None
        parameters = {f"{path}.{n}" if path else n: p for n, p in part.named_parameters() if p.requires_grad}
        with self._at(part, training=training, disturb=disturb), torch.set_grad_enabled(back), mode:
            for leaf in given:
                leaf.requires_grad_(back)
            outputs = part(*_cloned(args), **_cloned(kwargs))
            statistics = {f"{path}.{name}" if path else name: v for name, v in self.statistics(part).items()}
            tensors = [leaf for leaf in leaves_of(outputs) if isinstance(leaf, Tensor)]
            arrays = tuple(array_of(tensor) for tensor in tensors)
            if not back:
                return LayerRun(outputs=arrays, statistics=statistics)
            found = _gradients(tensors, cotangents or (), [*given, *parameters.values()])
        return LayerRun(
            outputs=arrays,
            statistics=statistics,
            input_gradients=tuple(found[: len(given)]),
            gradients={
                name: np.zeros(tuple(p.shape)) if g is None else g
                for (name, p), g in zip(parameters.items(), found[len(given) :], strict=True)
            },
        )

    def graded(
        self,
        inputs: Sequence[Array],
        labels: Array | None,
        trainer: Any,
        *,
        exact: bool = False,
        disturb: float = 0.0,
        seed: int = 0,
        keep: bool = False,
    ) -> Graded:
        """One training pass."""

        def run(exactly: bool) -> Graded:
            return self._graded(inputs, labels, trainer, exact=exactly, disturb=disturb, seed=seed, keep=keep)

        return self._exactly(run, exact=exact, part="loss")

    def _graded(
        self,
        inputs: Sequence[Array],
        labels: Array | None,
        trainer: Any,
        *,
        exact: bool,
        disturb: float,
        seed: int,
        keep: bool,
    ) -> Graded:
        module, dtype = (self._exact(), torch.float64) if exact else (self.module, self.dtype)
        parameters = {name: p for name, p in module.named_parameters() if p.requires_grad}
        with self._at(module, training=True, disturb=disturb, seed=seed, keep=keep):
            given = self._inputs(inputs, dtype)
            wanted = None if labels is None else tensors_of(labels, dtype)
            if hasattr(trainer, "gradients"):
                loss, gradients = trainer.gradients(module, *given, wanted)
            else:
                loss = loss_of(module(*given), wanted, trainer)
                gradients = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True)
            statistics = self.statistics(module)
        found = zip(parameters.items(), gradients, strict=True)
        return Graded(
            loss=float(loss.detach()),
            gradients={n: np.zeros(tuple(p.shape)) if g is None else array_of(g) for (n, p), g in found},
            statistics=statistics,
        )

    @torch.no_grad()
    def loss(self, outputs: Sequence[Array], labels: Array | None, trainer: Any, *, exact: bool = False) -> float:
        """Of given outputs."""

        def run(exactly: bool) -> float:
            dtype = torch.float64 if exactly else self.dtype
            given = [tensors_of(array, dtype) for array in outputs]
            wanted = None if labels is None else tensors_of(labels, dtype)
            return float(loss_of(given[0] if len(given) == 1 else tuple(given), wanted, trainer))

        return self._exactly(run, exact=exact, part="loss")

    @torch.no_grad()
    def dropped(self, path: str, *, training: bool) -> float:
        """Of many ones."""
        layer = deepcopy(self._dropouts[path]).train(training)
        shape = (1, ONES, *(1,) * _dimensions(layer))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return float((layer(torch.ones(shape)) == 0).float().mean())

    @torch.no_grad()
    def outputs(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """In evaluation."""
        with self._at(self.module, training=False):
            return arrays_in(self.module(*self._inputs(inputs, self.dtype)))

    def largest_index(self) -> int:
        """Below it every whole number is an index that any embedding has."""
        sizes = [part.num_embeddings for part in self.module.modules() if isinstance(part, nn.Embedding)]
        return min([*sizes, 256])

    def stepper(self, optimizer: Any, *, exact: bool = False) -> Any:
        """Works on the module itself, or on a copy in float64: whoever steps puts the weights back."""
        module = deepcopy(self.module).double() if exact else self.module
        if isinstance(optimizer, Settled):
            return SettledStepper(module, optimizer)
        return OwnStepper(module, optimizer(module))


def _is_dropout(part: nn.Module) -> bool:
    return isinstance(part, _DropoutNd)


def _dimensions(layer: nn.Module) -> int:
    return next((count for count, kind in SPATIAL.items() if isinstance(layer, kind)), 0)


def _settings(part: nn.Module) -> dict[str, Any]:
    return {name: value for name, value in vars(part).items() if not name.startswith("_") and isinstance(value, PLAIN)}


def _cloned(value: Any) -> Any:
    """A layer that works in place may not change a leaf."""
    from luthier.proof.network import mapped

    return mapped(value, lambda leaf: leaf.clone() if isinstance(leaf, Tensor) else leaf)


def _gradients(
    outputs: list[Tensor], cotangents: Sequence[Array | None], wanted: Sequence[Tensor]
) -> list[Array | None]:
    """Of the sum of outputs times cotangents; none where nothing flows."""
    pairs = [
        (output, torch.from_numpy(np.array(cotangent)).to(output.dtype))
        for output, cotangent in zip(outputs, cotangents, strict=True)
        if cotangent is not None and output.requires_grad
    ]
    if not pairs or not wanted:
        return [None] * len(wanted)
    found = torch.autograd.grad([o for o, _ in pairs], wanted, [c for _, c in pairs], allow_unused=True)
    return [None if gradient is None else array_of(gradient) for gradient in found]


def _more(found: Sequence[str], shown: int) -> str:
    return f" and {len(found) - shown} more" if len(found) > shown else ""
