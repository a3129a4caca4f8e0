"""Recurrent layers that MindSpore's are not: step by step, in the open."""

from __future__ import annotations

from luthier.port.emit import Call, Emit, Unsupported, index
from luthier.port.registry import ports

__all__: list[str] = []

KNOWN = ("sigmoid", "tanh", "relu")


@ports("onnx.LSTM", "onnx.GRU", "onnx.RNN")
def recurrent(call: Call) -> Emit:
    """Any direction, first state, peepholes, clipping, and lengths of the samples."""
    kind = call.operator.rpartition(".")[2]
    usual = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}[kind]
    count = 2 if call["direction"] == "bidirectional" else 1
    names = tuple(name.lower() for name in call["activations"] or usual * count)
    if any(name not in KNOWN for name in names) or call.arguments.get("input_forget"):
        raise Unsupported(
            f"{kind} with the activations {', '.join(names)} has no rule", at=call.at, hint="Use sigmoid, tanh or relu."
        )
    given = {
        "first": call["initial_h"],
        "cell": call.arguments.get("initial_c"),
        "peepholes": call.arguments.get("P"),
        "lengths": call["sequence_lens"],
        "direction": call["direction"] if call["direction"] != "forward" else None,
        "activations": names if names != usual * count else None,
        "clip": call["clip"],
        "reset_after": bool(call.arguments.get("linear_before_reset")) or None,
        "batch_first": bool(call.arguments.get("layout")) or None,
    }
    keywords = {name: value for name, value in given.items() if value is not None}
    made = Emit(
        "recurrent",
        kind,
        call["X"],
        call["W"],
        call["R"],
        call["B"],
        helpers=("recurrent",),
        composed=True,
        **keywords,
    )
    if len(call.outputs) == 1:
        return index(made, 0)
    return index(made, slice(None, len(call.outputs))) if len(call.outputs) < 3 else made
