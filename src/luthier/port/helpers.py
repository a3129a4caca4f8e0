"""Functions that a ported file carries with it, where MindSpore has no operator of the same meaning."""

from __future__ import annotations

from collections.abc import Iterable

from luthier.port.onnx_helpers import ONNX_HELPERS
from luthier.port.onnx_signal_helpers import SIGNAL_HELPERS
from luthier.port.onnx_window_helpers import WINDOW_HELPERS

__all__ = ["HELPERS", "needed"]

HELPERS: dict[str, str] = {}

HELPERS["not_ported"] = '''
def not_ported(operator: str, **arguments: object) -> Tensor:
    """An operator that has no counterpart on MindSpore yet: put one here."""
    shapes = {name: value.shape if isinstance(value, Tensor) else value for name, value in arguments.items()}
    raise NotImplementedError(f"{operator} was not ported: {shapes}")
'''

HELPERS["NotPorted"] = '''
class NotPorted(nn.Cell):
    """A layer that has no counterpart on MindSpore yet: put one in its place."""

    def __init__(self, layer: str, **arguments: object) -> None:
        super().__init__()
        self.sentence = f"{layer} was not ported: {arguments}"

    def construct(self, *inputs: Tensor) -> Tensor:
        shapes = [value.shape for value in inputs]
        raise NotImplementedError(f"{self.sentence}, for inputs of {shapes}")
'''


HELPERS["tanh"] = '''
def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent to float32's last bits, which MindSpore 2.10's own on a CPU is not."""
    inner = ops.clamp(x, -9.0, 9.0)
    return ops.sinh(inner) / ops.cosh(inner)
'''

HELPERS["Tanh"] = '''
class Tanh(nn.Cell):
    """The hyperbolic tangent as a layer."""

    def construct(self, x: Tensor) -> Tensor:
        return tanh(x)
'''

HELPERS["elu"] = '''
def elu(x: Tensor, alpha: float, scale: float, input_scale: float) -> Tensor:
    """PyTorch's ELU with all of its factors."""
    below = alpha * (ops.exp(ops.minimum(x, ops.zeros_like(x)) * input_scale) - 1.0)
    return scale * ops.where(x > 0, x, below)
'''

HELPERS["roll"] = '''
def roll(x: Tensor, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Tensor:
    """What leaves an axis at one end comes in at the other."""
    if not axes:
        return roll(x.reshape(-1), shifts, (0,)).reshape(x.shape)
    for shift, axis in zip(shifts, axes):
        cut = -shift % x.shape[axis]
        if cut:
            before, after = ops.split(x, (cut, x.shape[axis] - cut), axis)
            x = ops.cat((after, before), axis)
    return x
'''

HELPERS["windows"] = '''
def windows(x: Tensor, axis: int, size: int, step: int) -> Tensor:
    """Every window of an axis, on a last axis of its own."""
    starts = range(0, x.shape[axis] - size + 1, step)
    return ops.stack([ops.narrow(x, axis, start, size).movedim(axis, -1) for start in starts], axis)
'''

HELPERS["fold"] = '''
def fold(
    x: Tensor,
    size: tuple[int, int],
    kernel: tuple[int, int],
    dilation: tuple[int, int],
    padding: tuple[int, int],
    stride: tuple[int, int],
) -> Tensor:
    """The sum of overlapping windows."""
    windows = x.reshape(x.shape[0], -1, kernel[0] * kernel[1], x.shape[-1])
    return ops.fold(windows, Tensor(size, ms.int32), kernel, dilation, padding, stride)
'''

HELPERS["channel_shuffle"] = '''
def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """Channels of every group in turn."""
    batch, channels, height, width = x.shape
    return x.reshape(batch, groups, channels // groups, height, width).swapaxes(1, 2).reshape(x.shape)
'''

HELPERS["replaced"] = '''
def replaced(x: Tensor, part: Tensor, axis: int, start: int) -> Tensor:
    """The tensor with a part of an axis exchanged."""
    start = start % x.shape[axis]
    stop = start + part.shape[axis]
    pieces = [part]
    if start > 0:
        pieces = [ops.narrow(x, axis, 0, start), part]
    if stop < x.shape[axis]:
        pieces = [*pieces, ops.narrow(x, axis, stop, x.shape[axis] - stop)]
    return ops.cat(pieces, axis) if len(pieces) > 1 else part
'''

HELPERS["scaled_dot_product_attention"] = '''
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    groups: int = 1,
) -> Tensor:
    """Attention, written out; a mask of truth values says what may be seen."""
    if groups > 1:
        key, value = ops.repeat_interleave(key, groups, -3), ops.repeat_interleave(value, groups, -3)
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    scores = (query * factor) @ key.swapaxes(-2, -1)
    if is_causal:
        mask = ops.tril(ops.ones((query.shape[-2], key.shape[-2]), ms.int32)) > 0
    if mask is not None:
        scores = ops.where(mask, scores, float("-inf")) if mask.dtype == ms.bool_ else scores + mask
    return ops.softmax(scores, -1) @ value
'''

HELPERS["layer_norm"] = '''
def layer_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, axes: int | tuple[int, ...], eps: float
) -> Tensor:
    """A normalisation over the last axes, with either parameter or none."""
    centered = x - ops.mean(x, axes, True)
    out = centered * ops.rsqrt(ops.mean(ops.square(centered), axes, True) + eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias
'''

HELPERS["rms_norm"] = '''
def rms_norm(x: Tensor, weight: Tensor | None, axes: int | tuple[int, ...], eps: float) -> Tensor:
    """A normalisation by the root of the mean square."""
    out = x * ops.rsqrt(ops.mean(ops.square(x), axes, True) + eps)
    return out if weight is None else out * weight
'''

HELPERS["conv_transpose2d"] = '''
def conv_transpose2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, int],
    padding: tuple[int, int],
    output_padding: tuple[int, int],
    groups: int,
    dilation: tuple[int, int],
) -> Tensor:
    """Zeros between the pixels, then a convolution with the kernel turned round."""
    batch, channels, height, width = x.shape
    x = ops.pad(x.reshape(batch, channels, height, 1, width, 1), (0, stride[1] - 1, 0, 0, 0, stride[0] - 1))
    x = x.reshape(batch, channels, height * stride[0], width * stride[1])
    rows, columns = weight.shape[2:]
    top, left = dilation[0] * (rows - 1) - padding[0], dilation[1] * (columns - 1) - padding[1]
    bottom, right = top + output_padding[0] - stride[0] + 1, left + output_padding[1] - stride[1] + 1
    x = ops.pad(x, (left, right, top, bottom))
    kernel = ops.flip(weight, (2, 3)).reshape(groups, channels // groups, -1, rows, columns).swapaxes(1, 2)
    kernel = kernel.reshape(-1, channels // groups, rows, columns)
    return ops.conv2d(x, kernel, bias, dilation=dilation, groups=groups)
'''

HELPERS["resize_weights"] = '''
@constexpr
def resize_weights(before: int, after: int, kind: str, align_corners: bool, antialias: bool) -> Tensor:
    """What each old pixel gives to each new one, along one axis."""
    ratio = (before - 1) / max(after - 1, 1) if align_corners else before / after
    reach = max(ratio, 1.0) if antialias else 1.0
    a = -0.5 if antialias else -0.75
    weights = np.zeros((after, before))
    for i in range(after):
        place = i * ratio if align_corners else (i + 0.5) * ratio - 0.5
        span = (2 if kind == "cubic" else 1) * reach
        near = np.arange(math.floor(place - span), math.ceil(place + span) + 1)
        d = np.abs(near - place) / reach
        if kind == "linear":
            share = np.maximum(1 - d, 0)
        else:
            inner, outer = ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a
            share = np.where(d < 1, inner, np.where(d < 2, outer, 0))
        if antialias:
            share = np.where((near < 0) | (near >= before), 0, share)
        np.add.at(weights[i], np.clip(near, 0, before - 1), share / share.sum())
    return Tensor(weights.astype(np.float32))
'''

HELPERS["resize"] = '''
def resize(
    x: Tensor, size: tuple[int, int], kind: str = "cubic", align_corners: bool = False, antialias: bool = False
) -> Tensor:
    """An image of another size: a matrix of weights for each axis."""
    rows = resize_weights(x.shape[-2], size[0], kind, align_corners, antialias)
    columns = resize_weights(x.shape[-1], size[1], kind, align_corners, antialias)
    return rows @ x @ columns.swapaxes(0, 1)
'''


HELPERS["difference"] = '''
def difference(x: Tensor, axis: int) -> Tensor:
    """Each value less the one before it."""
    length = x.shape[axis] - 1
    return ops.narrow(x, axis, 1, length) - ops.narrow(x, axis, 0, length)
'''

HELPERS["padded_embedding"] = '''
def padded_embedding(table: Tensor, indices: Tensor, padding_idx: int) -> Tensor:
    """Rows of a table, of which one is never trained."""
    rows = ops.gather(table, indices, 0)
    return ops.where((indices == padding_idx).expand_dims(-1), ops.stop_gradient(rows), rows)
'''

HELPERS["PaddedEmbedding"] = '''
class PaddedEmbedding(nn.Cell):
    """A table of which one row is never trained."""

    def __init__(self, vocab_size: int, embedding_size: int, padding_idx: int) -> None:
        super().__init__()
        self.padding_idx = padding_idx
        self.embedding_table = Parameter(ops.zeros((vocab_size, embedding_size)))

    def construct(self, indices: Tensor) -> Tensor:
        return padded_embedding(self.embedding_table, indices, self.padding_idx)
'''

HELPERS["lstm_outputs"] = '''
def lstm_outputs(given: tuple[Tensor, tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    """What every step gives, the last hidden state and the last cell state."""
    output, (hidden, state) = given
    return output, hidden, state
'''


HELPERS |= ONNX_HELPERS | WINDOW_HELPERS | SIGNAL_HELPERS


def needed(names: Iterable[str]) -> list[str]:
    """Each once, after those that it uses itself."""
    found: list[str] = []

    def add(name: str) -> None:
        for other in HELPERS:
            if other != name and f"{other}(" in HELPERS[name]:
                add(other)
        if name not in found:
            found.append(name)

    for name in names:
        add(name)
    return found
