"""torch.compile, whose failure is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from torch._dynamo.exc import TorchDynamoException

from luthier.errors import EngineError

__all__ = ["explained"]

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def explained(run: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """What runs compiled code: it is compiled at the first call, and again for other shapes."""

    @wraps(run)
    def attempt(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned:
        try:
            return run(*args, **kwargs)
        except TorchDynamoException as error:
            told = str(error).strip().split("\n")[0] or type(error).__name__
            raise EngineError(
                f"torch.compile cannot compile the training: {told}",
                at="mode",
                hint="It needs a C++ compiler on the path. Or: --set mode=eager",
            ) from error

    return attempt
