"""From a PyTorch network to an ONNX graph, or to the operator and the layer that stand in the way."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from luthier.compress.network import Network
from luthier.errors import ExportError

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["INPUT", "OUTPUT", "deployable", "example", "traced"]

INPUT, OUTPUT = "images", "logits"
DEPRECATIONS = (  # PyTorch's, of the exporter chosen here: the other one needs a further package and ten times as long
    "You are using the legacy TorchScript-based ONNX export",
    "The feature will be removed. Please remove usage of this function",
)


class FromPixels(nn.Module):
    """The network behind the normalisation that the session does otherwise."""

    scale: Tensor
    shift: Tensor

    def __init__(self, network: nn.Module, mean: tuple[float, ...], std: tuple[float, ...]) -> None:
        super().__init__()
        self.network = network
        means, deviations = torch.tensor(mean, dtype=torch.float64), torch.tensor(std, dtype=torch.float64)
        self.register_buffer("scale", (1 / (255 * deviations)).float().reshape(1, -1, 1, 1), persistent=False)
        self.register_buffer("shift", (-means / deviations).float().reshape(1, -1, 1, 1), persistent=False)

    def forward(self, images_BHWC: Tensor) -> Any:
        """Bytes to logits."""
        x_BCHW = images_BHWC.permute(0, 3, 1, 2).to(self.scale.dtype)
        return self.network(x_BCHW * self.scale + self.shift)


def deployable(network: Network, *, pixels: bool) -> nn.Module:
    """A copy on the CPU, in float32's usual memory order: what the graph holds does not depend on where it trained."""
    module = deepcopy(network.module).to("cpu", memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    normalize = network.recipe.data.normalize
    whole: nn.Module = FromPixels(module, normalize.mean, normalize.std) if pixels else module
    return whole.eval()


def example(count: int, shape: tuple[int, int, int], *, pixels: bool) -> Tensor:
    """The same random images each time: bytes, or floats as normalisation leaves them."""
    height, width, channels = shape
    generator = torch.Generator().manual_seed(count)
    if pixels:
        return torch.randint(0, 256, (count, height, width, channels), dtype=torch.uint8, generator=generator)
    return torch.randn(count, channels, height, width, generator=generator)


def traced(module: nn.Module, shape: tuple[int, int, int], *, pixels: bool, opset: int) -> ModelProto:
    """The graph, with a batch of any size."""
    import onnx

    file = BytesIO()
    try:
        with _quiet():
            torch.onnx.export(
                module,
                (example(2, shape, pixels=pixels),),  # with one image, an operation that drops axes of size one would
                file,  # type: ignore[arg-type] # drop the batch
                dynamo=False,
                input_names=[INPUT],
                output_names=[OUTPUT],
                dynamic_axes={INPUT: {0: "batch"}, OUTPUT: {0: "batch"}},
                opset_version=opset,
            )
        model = onnx.load_from_string(file.getvalue())
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # PyTorch's exporter and the user's network may raise anything
        raise _refused(error) from error
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """PyTorch 2.13 prints the whole graph to standard output, where data goes, before it raises."""
    log = torch._C._jit_onnx_log
    torch._C._jit_onnx_log = lambda *_: None
    try:
        with warnings.catch_warnings():
            for message in DEPRECATIONS:
                warnings.filterwarnings("ignore", re.escape(message), DeprecationWarning)
            yield
    finally:
        torch._C._jit_onnx_log = log


def _refused(error: Exception) -> ExportError:
    node = _failed_node(error.__traceback__)
    told = str(error).strip().split("\n")[0].partition("  [Caused by")[0] or type(error).__name__
    if node is None:
        return ExportError(f"The network cannot be written as ONNX: {told}")
    if isinstance(error, torch.onnx.errors.UnsupportedOperatorError):
        return ExportError(
            f"The operator {node.kind()} cannot be written as ONNX",
            at=_place(node),
            hint="Replace it in the network by operators that ONNX has.",
        )
    return ExportError(f"The operator {node.kind()} cannot be written as ONNX: {told}", at=_place(node))


def _failed_node(traceback: TracebackType | None) -> Any:
    """The exporter's errors name no layer; the frame that raised has the node, which knows where it came from."""
    found = None
    while traceback:
        node = traceback.tb_frame.f_locals.get("node")
        found = node if isinstance(node, torch.Node) else found
        traceback = traceback.tb_next
    return found


def _place(node: Any) -> str:
    """`net.py:35, in mix.0 (Fourier)`."""
    layer = node.scopeName().rpartition("/")[2]
    kind, _, name = layer.partition("::")
    name = name.removeprefix("network.") or "the network itself"
    source = re.match(r"(.+?)[(:](\d+)", node.sourceRange())
    line = f"{Path(source[1]).name}:{source[2]}, in " if source else ""
    return f"{line}{name} ({kind.rpartition('.')[2]})"
