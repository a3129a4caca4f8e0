"""PyTorch functions on their way: dropout taken out, and a trap built in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

__all__ = ["Calm", "FunctionCall", "Variant"]

IDENTITIES = {
    functional.dropout,
    functional.dropout1d,
    functional.dropout2d,
    functional.dropout3d,
    functional.alpha_dropout,
    functional.feature_alpha_dropout,
    torch.dropout,
    torch.feature_dropout,
    torch.alpha_dropout,
}


class Calm(TorchFunctionMode):
    """Takes dropout out of a pass, wherever it is called."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """An identity in the place of every dropout."""
        if func in IDENTITIES:
            return args[0] if args else kwargs["input"]
        if func is functional.scaled_dot_product_attention and kwargs and kwargs.get("dropout_p"):
            kwargs = {**kwargs, "dropout_p": 0.0}
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True, kw_only=True)
class FunctionCall:
    """A call with its arguments by name, defaults filled in."""

    function: Callable[..., Any]
    arguments: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def again(self, **changed: Any) -> Any:
        """The same call with some arguments changed."""
        arguments = {**self.arguments, **changed}
        if self.function in POSITIONAL:
            return self.function(*arguments.values())
        places = [value for name, value in arguments.items() if name.isdigit()]
        return self.function(*places, **{name: value for name, value in arguments.items() if not name.isdigit()})


Change = Callable[[FunctionCall], Any]

CONV = "input weight bias=None stride=1 padding=0 dilation=1 groups=1"
TRANSPOSED = "input weight bias=None stride=1 padding=0 output_padding=0 groups=1 dilation=1"
POOL = "input kernel_size stride=None padding=0 ceil_mode=False count_include_pad=True divisor_override=None"
MAX_POOL = "input kernel_size stride=None padding=0 dilation=1 ceil_mode=False return_indices=False"
SIGNATURES: dict[Any, str] = {  # of functions that are compiled, and have none that Python can read
    torch.conv1d: CONV,
    torch.conv2d: CONV,
    torch.conv3d: CONV,
    torch.conv_transpose1d: TRANSPOSED,
    torch.conv_transpose2d: TRANSPOSED,
    torch.conv_transpose3d: TRANSPOSED,
    functional.linear: "input weight bias=None",
    functional.gelu: "input approximate='none'",
    functional.avg_pool1d: POOL.rpartition(" ")[0],
    functional.avg_pool2d: POOL,
    functional.avg_pool3d: POOL,
    torch.flatten: "input start_dim=0 end_dim=-1",
    functional.scaled_dot_product_attention: (
        "query key value attn_mask=None dropout_p=0.0 is_causal=False scale=None enable_gqa=False"
    ),
    functional.max_pool1d: MAX_POOL,
    functional.max_pool2d: MAX_POOL,
    functional.max_pool3d: MAX_POOL,
    functional.softplus: "input beta=1.0 threshold=20.0",
    torch.prelu: "input weight",
    torch.lstm: "input hx params has_biases num_layers dropout train bidirectional batch_first",
    torch.gru: "input hx params has_biases num_layers dropout train bidirectional batch_first",
}
POSITIONAL = {torch.lstm, torch.gru}


@cache
def _signature(function: Any) -> inspect.Signature | None:
    if function in SIGNATURES:
        parts = [part.partition("=") for part in SIGNATURES[function].split(" ")]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature(
            [
                inspect.Parameter(name, kind, default=_value(default) if default else inspect.Parameter.empty)
                for name, _, default in parts
            ]
        )
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _value(text: str) -> Any:
    import ast

    return ast.literal_eval(text)


class Variant(TorchFunctionMode):
    """Calls of some functions go through a change; the mode is off while the change itself runs."""

    def __init__(self, changes: Mapping[Any, Change]) -> None:
        super().__init__()
        self.changes = changes
        self.used = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """A change that gives NotImplemented leaves the call as it is."""
        change = self.changes.get(func)
        if change is not None:
            call = self._bound(func, args, kwargs or {})
            result = NotImplemented if call is None else change(call)
            if result is not NotImplemented:
                self.used += 1
                return result
        return func(*args, **(kwargs or {}))

    @staticmethod
    def _bound(func: Any, args: Any, kwargs: Any) -> FunctionCall | None:
        signature = _signature(func)
        if signature is None:
            arguments = {str(place): value for place, value in enumerate(args)} | kwargs
            return FunctionCall(function=func, arguments=arguments)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError:  # another overload, such as a GRU's over packed sequences
            return None
        bound.apply_defaults()
        return FunctionCall(function=func, arguments=bound.arguments)
