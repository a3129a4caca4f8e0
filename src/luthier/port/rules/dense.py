"""Dense layers and products of matrices."""

from __future__ import annotations

from luthier.port.emit import Call, Emit, infix
from luthier.port.registry import ports
from luthier.port.rules.einsum import einsum_of

__all__: list[str] = []


@ports("torch.nn.Linear")
def linear_layer(call: Call) -> Emit:
    """The weight has the same layout; the third positional argument is another one."""
    return Emit("nn.Dense", in_channels=call["in_features"], out_channels=call["out_features"], has_bias=call["bias"])


@ports("aten.linear.default")
def linear(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.dense", call["input"], call["weight"], bias=call["bias"])


@ports("aten.addmm.default", "aten.baddbmm.default")
def addmm(call: Call) -> Emit:
    """Written out, since either factor may be one."""
    first, second = (call["mat1"], call["mat2"]) if "mat1" in call.arguments else (call["batch1"], call["batch2"])
    product = infix("@", first, second)
    if call["alpha"] != 1:
        product = infix("*", call["alpha"], product)
    own = call["self"] if call["beta"] == 1 else infix("*", call["beta"], call["self"])
    return infix("+", own, product, composed=True)


@ports("aten.dot.default")
def dot(call: Call) -> Emit:
    """The sum of products."""
    return Emit("ops.sum", infix("*", call["self"], call["tensor"]), composed=True)


@ports("aten.einsum.default")
def einsum(call: Call) -> Emit:
    """MindSpore's has no kernel on a CPU: a product of matrices where it is one, else a sum of products."""
    return einsum_of(call)


@ports("aten.scaled_dot_product_attention.default")
def attention(call: Call) -> Emit:
    """MindSpore's fused attention has no kernel on a CPU: written out."""
    keywords = {
        "mask": call["attn_mask"],
        "is_causal": call["is_causal"] or None,
        "scale": call["scale"],
        "groups": call["query"].shape[-3] // call["key"].shape[-3] if call["enable_gqa"] else None,
    }
    given = {name: value for name, value in keywords.items() if value is not None}
    return Emit(
        "scaled_dot_product_attention",
        call["query"],
        call["key"],
        call["value"],
        helpers=("scaled_dot_product_attention",),
        composed=True,
        **given,
    )
