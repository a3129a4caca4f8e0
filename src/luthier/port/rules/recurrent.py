"""Recurrent layers: the same names and gates; a state that is handed in has another form."""

from __future__ import annotations

from luthier.port.emit import Call, Emit, Unsupported
from luthier.port.registry import ports

__all__: list[str] = []


def layer(call: Call, target: str) -> Emit:
    """What the kinds have in common."""
    if call.arguments.get("proj_size"):
        raise Unsupported(
            f"{call.operator}(proj_size={call['proj_size']}) has no MindSpore equivalent",
            at=call.at,
            hint="Put a Linear layer behind it.",
        )
    defaults = {"num_layers": 1, "has_bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False}
    given = {
        "num_layers": call["num_layers"],
        "has_bias": call["bias"],
        "batch_first": call["batch_first"],
        "dropout": float(call["dropout"]),
        "bidirectional": call["bidirectional"],
    }
    differing = {name: value for name, value in given.items() if value != defaults[name]}
    return Emit(target, call["input_size"], call["hidden_size"], **differing)


@ports("torch.nn.LSTM")
def lstm(call: Call) -> Emit:
    """The gates stand in the same order."""
    return layer(call, "nn.LSTM")


@ports("torch.nn.GRU")
def gru(call: Call) -> Emit:
    """The gates stand in the same order."""
    return layer(call, "nn.GRU")
