"""Activations whose defaults or formulas differ."""

from __future__ import annotations

from luthier.port.emit import Call, Emit, Name, infix
from luthier.port.registry import ports

__all__: list[str] = []


@ports("torch.nn.GELU")
def gelu_layer(call: Call) -> Emit:
    """MindSpore's default is the tanh approximation, PyTorch's the error function."""
    return Emit("nn.GELU", approximate=call["approximate"] == "tanh")


@ports("aten.gelu.default")
def gelu(call: Call) -> Emit:
    """The function, unlike the layer, has PyTorch's default."""
    return Emit("ops.gelu", call["self"], approximate=call["approximate"])


@ports("torch.nn.LeakyReLU")
def leaky_relu_layer(call: Call) -> Emit:
    """MindSpore's default slope is 0.2."""
    return Emit("nn.LeakyReLU", alpha=call["negative_slope"])


@ports("aten.leaky_relu.default")
def leaky_relu(call: Call) -> Emit:
    """MindSpore's default slope is 0.2."""
    return Emit("ops.leaky_relu", call["self"], alpha=call["negative_slope"])


@ports("torch.nn.Softmax")
def softmax_layer(call: Call) -> Emit:
    """Without an axis PyTorch takes one by the rank."""
    if call["dim"] is None:
        return Emit("forward")
    return Emit("nn.Softmax", axis=call["dim"])


@ports("aten.softmax.int")
def softmax(call: Call) -> Emit:
    """The same function; an axis of its own name."""
    value = call["self"] if call["dtype"] is None else Emit(".astype", call["self"], Name(f"ms.{call['dtype']}"))
    return Emit("ops.softmax", value, axis=call["dim"])


@ports("torch.nn.LogSoftmax")
def log_softmax_layer(call: Call) -> Emit:
    """Without an axis PyTorch takes one by the rank."""
    return Emit("forward") if call["dim"] is None else Emit("nn.LogSoftmax", axis=call["dim"])


@ports("aten.log_softmax.int")
def log_softmax(call: Call) -> Emit:
    """The same function; an axis of its own name."""
    return Emit("ops.log_softmax", call["self"], axis=call["dim"])


@ports("aten.log_sigmoid.default")
def log_sigmoid(call: Call) -> Emit:
    """MindSpore has it as a layer alone."""
    return Emit("unary -", Emit("ops.softplus", Emit("unary -", call["self"])), composed=True)


@ports("torch.nn.Tanh")
def tanh_layer(call: Call) -> Emit:
    """MindSpore 2.10's own is off by 1e-4 near ±5 on a CPU."""
    return Emit("Tanh", helpers=("Tanh",), composed=True)


@ports("aten.tanh.default")
def tanh(call: Call) -> Emit:
    """MindSpore 2.10's own is off by 1e-4 near ±5 on a CPU."""
    return Emit("tanh", call["self"], helpers=("tanh",), composed=True)


@ports("torch.nn.ELU")
def elu_layer(call: Call) -> Emit:
    """MindSpore's operator on a CPU knows alpha 1 alone; any other is composed in the forward pass."""
    return Emit("nn.ELU") if call["alpha"] == 1 else Emit("forward")


@ports("aten.elu.default")
def elu(call: Call) -> Emit:
    """`scale` and `input_scale` are there for SELU."""
    x = call["self"]
    if (call["alpha"], call["scale"], call["input_scale"]) == (1, 1, 1):
        return Emit("ops.elu", x)
    return Emit("elu", x, call["alpha"], call["scale"], call["input_scale"], helpers=("elu",), composed=True)


@ports("aten.selu.default")
def selu(call: Call) -> Emit:
    """MindSpore 2.10's own has a wrong gradient on a CPU."""
    return Emit("elu", call["self"], 1.6732632423543772, 1.0507009873554805, 1.0, helpers=("elu",), composed=True)


@ports("torch.nn.PReLU")
def prelu_layer(call: Call) -> Emit:
    """The parameter is called w."""
    return Emit("nn.PReLU", channel=call["num_parameters"], weights={"weight": "w"})


@ports("aten.hardtanh.default")
def hardtanh(call: Call) -> Emit:
    """A clamp."""
    return Emit("ops.clamp", call["self"], call["min_val"], call["max_val"])


@ports("torch.nn.Hardtanh")
def hardtanh_layer(call: Call) -> Emit:
    """The same defaults."""
    return Emit("nn.Hardtanh", min_val=float(call["min_val"]), max_val=float(call["max_val"]))


@ports("aten.hardshrink.default")
def hardshrink(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.hardshrink", call["self"], lambd=call["lambd"])


@ports("aten.softshrink.default")
def softshrink(call: Call) -> Emit:
    """The same function."""
    return Emit("ops.softshrink", call["self"], lambd=call["lambd"])


@ports("aten.logit.default")
def logit(call: Call) -> Emit:
    """As a difference of logarithms."""
    x = call["self"]
    if call["eps"] is not None:
        x = Emit("ops.clamp", x, call["eps"], 1.0 - call["eps"])
    return Emit("ops.log", infix("/", x, infix("-", 1.0, x)), composed=True)
