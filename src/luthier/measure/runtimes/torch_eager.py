"""PyTorch as it is: its latency follows the number of operators more than their work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from luthier.measure.registry import runs
from luthier.measure.subject import Prepared, Subject

__all__ = ["on_torch", "torch_eager"]


@runs("torch-eager", needs="torch")
@contextmanager
def torch_eager(subject: Subject, images: NDArray[np.float32], *, threads: int) -> Iterator[Prepared]:
    """The network as the engine evaluates it, on the recipe's device."""
    module = subject.network.module
    with on_torch(subject, module, images, threads=threads) as prepared:
        yield prepared


@contextmanager
def on_torch(
    subject: Subject, infer: Callable[..., Any], images: NDArray[np.float32], *, threads: int
) -> Iterator[Prepared]:
    """`infer` may be the compiled form of the network, which says where it is; images lie as in evaluation."""
    import torch

    from luthier.engines.torch import TorchSession

    session = subject.network.on("torch")
    assert isinstance(session, TorchSession)
    tensor = next(iter(session.module.state_dict().values()), torch.empty(0))
    x = torch.from_numpy(images).to(tensor.device, memory_format=session.layout)

    def waited() -> object:
        outputs = infer(x)
        torch.cuda.synchronize(tensor.device)
        return outputs

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.inference_mode():
            yield Prepared(infer=waited if x.is_cuda else lambda: infer(x), device=str(tensor.device))
    finally:
        torch.set_num_threads(before)
