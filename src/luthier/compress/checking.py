"""Whether an exported file answers as the network does, as far as float32 can tell."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from luthier.compress.network import Network
from luthier.compress.tracing import INPUT, deployable, example
from luthier.errors import ExportError

__all__ = ["Answers", "answers_of", "max_error", "on_onnx_runtime"]

BATCHES = (1, 3)  # a batch size that the trace took for a constant fails in one of them
NOISE = 16  # times what float32 costs the network itself, which rounds in another order than the runtime
RELATIVE = 1e-5  # of the greatest output, where the network's own noise happens to be small
RELATIVE_OF_CELLS = 1e-4  # where no float64 tells what float32 costs

Array = NDArray[Any]
Run = Callable[[Array], Array]


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The network's own, and how far from them rounding may take another program."""

    of: Run
    limit: Callable[[Array, Array], float]  # by the images and the answers


def answers_of(network: Network, *, pixels: bool) -> Answers:
    """From the network where it was trained: a file that came by way of the other engine is held to that."""
    if network.session.engine == "torch":
        module = deployable(network, pixels=pixels)
        return Answers(of=lambda images: _outputs(module, images), limit=lambda images, _: _limit(module, images))
    from luthier.compress.cells import answering

    run = answering(network, pixels=pixels)
    if network.is_own:
        return Answers(of=run, limit=lambda _, expected: RELATIVE_OF_CELLS * float(np.abs(expected).max()))
    module = deployable(network, pixels=pixels)
    return Answers(of=run, limit=lambda images, _: _limit(module, images))


def max_error(run: Run, answers: Answers, network: Network, *, pixels: bool) -> float:
    """The greatest difference on random images; refuses one that rounding does not explain."""
    images = (example(count, network.shape, pixels=pixels).numpy() for count in BATCHES)
    return max(_error(run, answers, batch, num_classes=len(network.classes)) for batch in images)


def _error(run: Run, answers: Answers, images: Array, *, num_classes: int) -> float:
    expected = _expected(answers, images, num_classes=num_classes)
    given = run(images)
    if given.shape != expected.shape:
        raise ExportError(
            f"The exported graph gives outputs of shape {given.shape}, the network {expected.shape}",
            hint="The network takes a size for a constant when it is traced: use x.flatten(1) or x.shape[0].",
        )
    error, limit = float(np.abs(given - expected).max()), answers.limit(images, expected)
    if error <= limit:
        return error
    raise ExportError(
        f"The exported graph answers otherwise than the network: by up to {error:.3g}, rounding explains {limit:.3g}"
    )


def _expected(answers: Answers, images: Array, *, num_classes: int) -> Array:
    """The network's own answers, where they are such that another program can be held to them."""
    outputs, shape = answers.of(images), (len(images), num_classes)
    if outputs.shape != shape:
        raise ExportError(f"Expected outputs of shape {shape} from the network, got {outputs.shape}")
    if not np.isfinite(outputs).all():
        raise ExportError("The network's outputs on random images are not finite, so that nothing can be compared")
    if np.abs(outputs - answers.of(images)).max() > RELATIVE * np.abs(outputs).max():
        raise ExportError("The network answers the same images differently each time, which no graph can repeat")
    return outputs


def on_onnx_runtime(data: bytes) -> Run:
    """The graph in ONNX Runtime on the CPU."""

    def run(images: Array) -> Array:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what it would print is in the error that it raises
        try:
            session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            outputs: Array = session.run(None, {INPUT: images})[0]
        except Exception as error:  # ONNX Runtime has a dozen kinds, none of which it makes public
            told = str(error).strip().split("\n")[0]
            raise ExportError(f"ONNX Runtime does not run the exported graph: {told}") from error
        return outputs

    return run


@torch.no_grad()
def _outputs(module: nn.Module, images: Array, dtype: torch.dtype = torch.float32) -> Array:
    given = torch.from_numpy(images)
    outputs = module(given.clone() if given.dtype == torch.uint8 else given.to(dtype, copy=True))
    if not isinstance(outputs, torch.Tensor):
        raise ExportError(f"Expected one tensor of logits from the network, got a {type(outputs).__name__}")
    array: Array = outputs.numpy()
    return array


def _limit(module: nn.Module, images: Array) -> float:
    """From the same network in float64; one that insists on float32 is judged by the size of its outputs alone."""
    expected = _outputs(module, images)
    relative = RELATIVE * float(np.abs(expected).max())
    try:
        exact = _outputs(deepcopy(module).double(), images, torch.float64)
    except RuntimeError:
        return relative
    return relative + NOISE * float(np.abs(expected - exact).max())
