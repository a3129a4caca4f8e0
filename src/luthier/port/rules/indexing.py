"""Slices, choices and scatters."""

from __future__ import annotations

from typing import Any

from luthier.port.emit import Call, Emit, Name, Unsupported, index
from luthier.port.graph import Value
from luthier.port.registry import ports

__all__: list[str] = []

ALL = slice(None)
END = 2**63 - 1


def before(call: Call, dim: int) -> tuple[slice, ...]:
    """The axes in front of the one that is cut."""
    return (ALL,) * int(dim % call["self"].rank)


@ports("aten.slice.Tensor")
def cut(call: Call) -> Emit:
    """The same range; the whole of it is nothing."""
    start = None if call["start"] in (None, 0) else call["start"]
    stop = None if call["end"] in (None, END) else call["end"]
    if start is None and stop is None and call["step"] == 1:
        return Emit("same", call["self"])
    return index(
        call["self"], *before(call, call["dim"]), slice(start, stop, None if call["step"] == 1 else call["step"])
    )


@ports("aten.diff.default")
def diff(call: Call) -> Emit:
    """MindSpore's has no kernel on a CPU for whole numbers: a difference of two windows."""
    if call["n"] != 1:
        raise Unsupported(f"A difference of order {call['n']} has no rule", at=call.at, hint="Take it step by step.")
    parts = [part for part in (call["prepend"], call["self"], call["append"]) if part is not None]
    x = parts[0] if len(parts) == 1 else Emit("ops.cat", tuple(parts), call["dim"])
    return Emit("difference", x, call["dim"], helpers=("difference",), composed=True)


@ports("aten.narrow.default")
def narrow(call: Call) -> Emit:
    """A range by its length."""
    return Emit("ops.narrow", call["self"], call["dim"], call["start"], call["length"])


@ports("aten.select.int")
def select(call: Call) -> Emit:
    """One place of an axis, which goes."""
    return index(call["self"], *before(call, call["dim"]), call["index"])


@ports("aten.index.Tensor")
def gathered(call: Call) -> Emit:
    """None takes the whole axis."""
    keys = [ALL if key is None else key for key in call["indices"]]
    return index(call["self"], *keys)


@ports("aten.index_select.default")
def index_select(call: Call) -> Emit:
    """A gather along one axis."""
    return Emit("ops.gather", call["self"], call["index"], call["dim"] % call["self"].rank)


@ports("aten.scatter.src")
def scatter(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.scatter", call["self"], call["dim"], call["index"], call["src"])


@ports("aten.scatter.value")
def scatter_value(call: Call) -> Emit:
    """MindSpore wants a tensor of the indices' shape."""
    filled = Emit("ops.full_like", call["index"], call["value"], dtype=Name(f"ms.{call['self'].dtype}"))
    return Emit("ops.scatter", call["self"], call["dim"], call["index"], filled, composed=True)


@ports("aten.scatter_add.default")
def scatter_add(call: Call) -> Emit:
    """MindSpore's own has no kernel for it on a CPU; the scatter of elements has one that adds."""
    return Emit(
        "ops.tensor_scatter_elements", call["self"], call["index"], call["src"], axis=call["dim"], reduction="add"
    )


@ports("aten.select_scatter.default")
def select_scatter(call: Call) -> Emit:
    """A new tensor in which one place of an axis is another."""
    return Emit(
        "replaced",
        call["self"],
        Emit("ops.unsqueeze", call["src"], call["dim"]),
        call["dim"] % call["self"].rank,
        call["index"],
        helpers=("replaced",),
        composed=True,
    )


@ports("aten.slice_scatter.default")
def slice_scatter(call: Call) -> Emit:
    """A new tensor in which a range of an axis is another."""
    if call["step"] != 1:
        raise Unsupported(
            "A slice with a step that is assigned to has no rule",
            at=call.at,
            hint="Write it with torch.where and a mask.",
        )
    start = call["start"] or 0
    if start == 0 and call["end"] in (None, END):
        return Emit("same", call["src"])
    return Emit(
        "replaced",
        call["self"],
        call["src"],
        call["dim"] % call["self"].rank,
        start,
        helpers=("replaced",),
        composed=True,
    )


@ports("aten.index_put.default")
def index_put(call: Call) -> Emit:
    """A mask alone: other places would have to be told apart as they run."""
    keys = call["indices"]
    if len(keys) != 1 or not isinstance(keys[0], Value) or keys[0].dtype != "bool_" or call["values"].rank > 0:
        raise Unsupported(
            "An assignment to places that are computed has no rule",
            at=call.at,
            hint="Write it with torch.where or scatter.",
        )
    return Emit("ops.where", masked(keys[0], call["self"]), call["values"], call["self"], composed=True)


def masked(mask: Value, like: Value) -> Any:
    """A mask of fewer axes, with the rest added behind."""
    keys = (ALL,) * mask.rank + (None,) * (like.rank - mask.rank)
    return mask if mask.rank == like.rank else index(mask, *keys)


@ports("aten.one_hot.default")
def one_hot(call: Call) -> Emit:
    """MindSpore wants the two values as tensors of the result's type."""
    if call["num_classes"] < 0:
        raise Unsupported(
            "one_hot without a number of classes depends on the data", at=call.at, hint="Give num_classes."
        )
    return Emit("ops.one_hot", call["self"], call["num_classes"])


def plain_embedding(call: Call) -> None:
    """Refuse what weighs the gradient of a row by how often it is taken."""
    if call["scale_grad_by_freq"]:
        raise Unsupported(
            f"{call.operator}(scale_grad_by_freq=True) has no MindSpore equivalent",
            at=call.at,
            hint="Leave scale_grad_by_freq out.",
        )


@ports("torch.nn.Embedding")
def embedding_layer(call: Call) -> Emit:
    """Another name of the weight; MindSpore trains the row of `padding_idx`, which the helper does not."""
    plain_embedding(call)
    if call["max_norm"] is not None:
        raise Unsupported(
            "Embedding(max_norm=…) changes its weights in the forward pass", at=call.at, hint="Leave max_norm out."
        )
    if call["padding_idx"] is not None:
        return Emit(
            "PaddedEmbedding",
            call["num_embeddings"],
            call["embedding_dim"],
            call["padding_idx"],
            weights={"weight": "embedding_table"},
            helpers=("PaddedEmbedding",),
            composed=True,
        )
    return Emit(
        "nn.Embedding",
        vocab_size=call["num_embeddings"],
        embedding_size=call["embedding_dim"],
        weights={"weight": "embedding_table"},
    )


@ports("aten.embedding.default")
def embedding(call: Call) -> Emit:
    """A gather of rows; that of `padding_idx` is not trained."""
    plain_embedding(call)
    if call["padding_idx"] >= 0:
        arguments = (call["weight"], call["indices"], call["padding_idx"])
        return Emit("padded_embedding", *arguments, helpers=("padded_embedding",), composed=True)
    return Emit("ops.gather", call["weight"], call["indices"], 0)
