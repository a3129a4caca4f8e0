"""From what a person names to a PyTorch module: a file's factory, a run, a recipe, or the module itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from msgspec import to_builtins
from torch import nn

from luthier.compress import open_network
from luthier.errors import PortError, nearest
from luthier.port.fitting import listed
from luthier.port.manifest import Input, Source
from luthier.port.sources.constructing import Arguments, recorded
from luthier.weights import read_weights
from luthier.zoo import load_object

__all__ = ["Opened", "build_source", "opened"]

WRAPPED = "module."  # DistributedDataParallel's prefix


@dataclass(kw_only=True)
class Opened:
    """The module with its weights, and what must be known to open it again."""

    module: nn.Module
    source: Source
    name: str
    arguments: Arguments = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()


@contextmanager
def opened(
    spec: str,
    *,
    weights: Path | None = None,
    options: Mapping[str, Any] | None = None,
    checkpoint: str = "last",
    data_root: Path | None = None,
) -> Iterator[Opened]:
    """Open `file.py:factory`, a run's folder or a recipe."""
    with recorded() as arguments:
        if ":" in spec and spec.rpartition(":")[0].endswith(".py"):
            yield _factory(spec, arguments, weights, dict(options or {}))
            return
        if options:
            raise PortError("Options go to a factory, and a run or a recipe has its own", at="--set")
        with open_network(spec, checkpoint=checkpoint, data_root=data_root) as network:
            height, width, channels = network.shape
            module = network.module
            source = Source(
                kind="torch",
                spec=str(network.run.path.resolve()) if network.run else _resolved(spec),
                checkpoint=str(network.step) if network.step is not None else None,
                recipe=to_builtins(network.recipe),
                **_loaded(module, weights),
            )
            image = Input(name="", shape=(1, channels, height, width))
            name = network.recipe.model.name.rpartition(":")[2]
            yield Opened(module=module, source=source, name=name, arguments=arguments, inputs=(image,))


def build_source(source: Source) -> nn.Module:
    """The source's module with its weights, in evaluation mode, as it was when it was ported."""
    weights = Path(source.weights) if source.weights else None
    with opened(source.spec, weights=weights, options=source.options, checkpoint=source.checkpoint or "last") as found:
        return found.module.eval()


def _resolved(spec: str) -> str:
    return str(Path(spec).resolve()) if Path(spec).exists() else spec


def _factory(spec: str, arguments: Arguments, weights: Path | None, options: dict[str, Any]) -> Opened:
    """First weights are drawn from seed 1, so that two openings give the same."""
    path, _, name = spec.rpartition(":")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        found = load_object(spec, at="SOURCE", error=PortError)
        module = found if isinstance(found, nn.Module) else _called(found, spec, options)
    source = Source(kind="torch", spec=f"{Path(path).resolve()}:{name}", options=options, **_loaded(module, weights))
    return Opened(module=module, source=source, name=name, arguments=arguments)


def _called(factory: Any, spec: str, options: Mapping[str, Any]) -> nn.Module:
    if not callable(factory):
        raise PortError(f"Expected a torch.nn.Module or a factory of one, '{spec}' is a {type(factory).__name__}")
    try:
        module = factory(**options)
    except Exception as fault:  # whatever the user's code raises
        raise PortError(
            f"{spec} raised {type(fault).__name__}: {fault}",
            at="SOURCE",
            hint="Its arguments are given as --set name=value.",
        ) from fault
    if not isinstance(module, nn.Module):
        raise PortError(f"{spec} gave a {type(module).__name__}, expected a torch.nn.Module", at="SOURCE")
    return module


def _loaded(module: nn.Module, weights: Path | None) -> dict[str, Any]:
    """Put the file's weights into the module; names that are missing or extra are both told."""
    if weights is None:
        return {}
    arrays = read_weights(weights)
    if all(name.startswith(WRAPPED) for name in arrays):
        arrays = {name.removeprefix(WRAPPED): array for name, array in arrays.items()}
    own = module.state_dict()
    missing = [name for name in own if name not in arrays and not name.endswith("num_batches_tracked")]
    extra = [name for name in arrays if name not in own]
    if missing or extra:
        near = nearest(missing[0], extra) if missing and extra else None
        raise PortError(
            f"The weights do not fit: {listed('missing', missing)}; {listed('extra', extra)}",
            at=str(weights),
            hint=f"'{missing[0]}' is perhaps '{near}' there." if near else None,
        )
    for name, array in arrays.items():
        if tuple(own[name].shape) != array.shape:
            raise PortError(
                f"'{name}' has the shape {array.shape} in the file, {tuple(own[name].shape)} in the network",
                at=str(weights),
            )
    with torch.no_grad():
        for name, array in arrays.items():
            own[name].copy_(torch.from_numpy(array))
    return {"weights": str(weights.resolve()), "weights_sha256": _sha256(weights)}


def _sha256(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
