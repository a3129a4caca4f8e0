"""Signals, and what is seldom seen, for files ported from ONNX."""

from __future__ import annotations

__all__ = ["SIGNAL_HELPERS"]

SIGNAL_HELPERS: dict[str, str] = {}

SIGNAL_HELPERS["fourier"] = '''
def fourier(x: Tensor, axis: int, length: int | None, inverse: bool, onesided: bool) -> Tensor:
    """A discrete Fourier transform as products with cosines and sines; the two parts lie on the last axis."""
    axis = axis % x.ndim
    dtype = x.dtype
    before = x.shape[axis]
    real = x[..., 0].astype(ms.float32).movedim(axis, -1)
    imaginary = x[..., 1].astype(ms.float32).movedim(axis, -1) if x.shape[-1] == 2 else ops.zeros_like(real)
    if inverse and onesided:
        length = 2 * (before - 1) if length is None else int(length)
        rows = np.arange(length)
        source = np.where(rows < before, rows, length - rows) % max(before, 1)
        sign = Tensor(np.where(rows < before, 1.0, -1.0).astype(np.float32))
        real = ops.gather(real, Tensor(source), real.ndim - 1)
        imaginary = ops.gather(imaginary, Tensor(source), imaginary.ndim - 1) * sign
        before = length
    length = before if length is None else int(length)
    used = min(before, length)
    real, imaginary = real[..., :used], imaginary[..., :used]
    count = length // 2 + 1 if onesided and not inverse else length
    angles = 2 * np.pi * np.outer(np.arange(used), np.arange(count)) / length
    scale = 1.0 / length if inverse else 1.0
    cosines = Tensor((np.cos(angles) * scale).astype(np.float32))
    sines = Tensor((np.sin(angles) * scale * (1.0 if inverse else -1.0)).astype(np.float32))
    parts = [real @ cosines - imaginary @ sines, real @ sines + imaginary @ cosines]
    parts = parts[:1] if inverse and onesided else parts
    return ops.stack([part.movedim(-1, axis) for part in parts], -1).astype(dtype)
'''

SIGNAL_HELPERS["same_bits"] = '''
def same_bits(x: Tensor, dtype: str) -> Tensor:
    """The same bits, read as another type: in PYNATIVE mode alone."""
    return Tensor(x.asnumpy().view(dtype.strip("_")))
'''

SIGNAL_HELPERS["deformed_conv"] = '''
def deformed_conv(
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    bias: Tensor | None,
    mask: Tensor | None,
    strides: tuple[int, int],
    pads: tuple[int, ...],
    dilations: tuple[int, int],
    groups: int,
    offset_groups: int,
) -> Tensor:
    """Every number of the kernel is taken from a place of its own, between the pixels."""
    batch, channels, height, width = x.shape
    rows, columns = weight.shape[2:]
    tall, wide = offset.shape[2:]
    offset = offset.reshape(batch, offset_groups, rows * columns, 2, tall, wide)
    flat = x.reshape(batch, channels, height * width)
    taken = []
    for k in range(rows * columns):
        base_y = ops.arange(tall).astype(ms.float32) * strides[0] - pads[0] + k // columns * dilations[0]
        base_x = ops.arange(wide).astype(ms.float32) * strides[1] - pads[1] + k % columns * dilations[1]
        parts = []
        for g in range(offset_groups):
            places_y = base_y.reshape(1, -1, 1) + offset[:, g, k, 0]
            places_x = base_x.reshape(1, 1, -1) + offset[:, g, k, 1]
            each = channels // offset_groups
            part = between(flat[:, g * each : (g + 1) * each], places_y, places_x, height, width)
            if mask is not None:
                part = part * ops.unsqueeze(mask[:, g * rows * columns + k], 1)
            parts.append(part)
        taken.append(ops.cat(parts, 1) if len(parts) > 1 else parts[0])
    windows = ops.stack(taken, 2).reshape(batch, groups, -1, tall * wide)
    out = weight.reshape(1, groups, weight.shape[0] // groups, -1) @ windows
    out = out.reshape(batch, weight.shape[0], tall, wide)
    return out if bias is None else out + bias.reshape(1, -1, 1, 1)
'''

SIGNAL_HELPERS["between"] = '''
def between(flat: Tensor, places_y: Tensor, places_x: Tensor, height: int, width: int) -> Tensor:
    """Pixels at places between them; zero outside."""
    batch, channels = flat.shape[:2]
    low_y, low_x = ops.floor(places_y), ops.floor(places_x)
    total = 0.0
    for y, share_y in ((low_y, 1 - (places_y - low_y)), (low_y + 1, places_y - low_y)):
        for x, share_x in ((low_x, 1 - (places_x - low_x)), (low_x + 1, places_x - low_x)):
            inside = ops.logical_and(
                ops.logical_and(y >= 0, y <= height - 1), ops.logical_and(x >= 0, x <= width - 1)
            )
            share = ops.where(inside, share_y * share_x, ops.zeros_like(share_y * share_x))
            place = ops.clamp(y, 0, height - 1) * width + ops.clamp(x, 0, width - 1)
            index = ops.broadcast_to(place.astype(ms.int64).reshape(batch, 1, -1), (batch, channels, place[0].size))
            found = ops.gather_elements(flat, 2, index).reshape(batch, channels, *places_y.shape[1:2], -1)
            total = total + found * ops.unsqueeze(share, 1)
    return total
'''

SIGNAL_HELPERS["mel_weights"] = '''
def mel_weights(bins: int, length: int, rate: int, low: float, high: float) -> Tensor:
    """Triangles over the frequencies, as many as bins."""
    count = int(length) // 2 + 1
    edges = np.arange(int(bins) + 2)
    low_mel, high_mel = (2595 * np.log10(1 + edge / 700) for edge in (low, high))
    mels = edges * ((high_mel - low_mel) / edges.shape[0]) + low_mel
    places = (((length + 1) * (700 * (np.power(10, mels / 2595) - 1))) // rate).astype(int)
    weights = np.zeros((count, int(bins)), np.float32)
    for i in range(int(bins)):
        lower, center, upper = places[i], places[i + 1], places[i + 2]
        if center == lower:
            weights[center, i] = 1
        for j in range(lower, center + 1) if center != lower else ():
            weights[j, i] = (j - lower) / (center - lower)
        for j in range(center, upper) if upper != center else ():
            weights[j, i] = (upper - j) / (upper - center)
    return Tensor(weights)
'''
