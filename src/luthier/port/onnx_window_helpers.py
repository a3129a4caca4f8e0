"""Windows, normalisations, quantised numbers and recurrences that a file ported from ONNX carries with it."""

from __future__ import annotations

__all__ = ["WINDOW_HELPERS"]

WINDOW_HELPERS: dict[str, str] = {}

WINDOW_HELPERS["image_windows"] = '''
def image_windows(
    x: Tensor,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    after: tuple[int, ...] | None,
    fill: float,
) -> Tensor:
    """Every window of an image of any rank, its numbers on a last axis; `after` says how many where they round up."""
    rank = len(kernel)
    lengths = []
    for i in range(rank):
        span = dilations[i] * (kernel[i] - 1) + 1
        length = x.shape[2 + i] + pads[i] + pads[rank + i]
        lengths.append((length - span) // strides[i] + 1 if after is None else after[i])
        missing = max((lengths[i] - 1) * strides[i] + span - length, 0)
        sides = (0, 0) * (rank - 1 - i) + (pads[i], pads[rank + i] + missing)
        if max(sides) > 0:
            x = ops.pad(x, sides, value=fill)
    for i in range(rank):
        rows = tuple(w * strides[i] + k * dilations[i] for w in range(lengths[i]) for k in range(kernel[i]))
        x = ops.gather(x, Tensor(rows, ms.int64), 2 + i)
    shape = tuple(size for i in range(rank) for size in (lengths[i], kernel[i]))
    x = x.reshape(x.shape[0], x.shape[1], *shape)
    order = (0, 1, *(2 + 2 * i for i in range(rank)), *(3 + 2 * i for i in range(rank)))
    return x.permute(*order).reshape(x.shape[0], x.shape[1], *lengths, -1)
'''

WINDOW_HELPERS["max_pooled"] = '''
def max_pooled(
    x: Tensor,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    after: tuple[int, ...] | None,
    column_first: bool,
) -> tuple[Tensor, Tensor]:
    """The greatest of every window, and its place in the whole image."""
    rank, dtype, shape = len(kernel), x.dtype, x.shape
    x = x.astype(ms.float32)
    windows = image_windows(x, kernel, strides, pads, dilations, after, -3.4e38)
    order = range(rank) if column_first else range(rank - 1, -1, -1)
    numbers, step = ops.zeros(shape[2:], ms.float32), 1
    for i in order:
        numbers = numbers + step * ops.arange(shape[2 + i]).astype(ms.float32).reshape(
            (1,) * i + (-1,) + (1,) * (rank - 1 - i)
        )
        step = step * shape[2 + i]
    places = image_windows(numbers.reshape(1, 1, *shape[2:]), kernel, strides, pads, dilations, after, -1.0)
    places = ops.broadcast_to(places, windows.shape)
    best = ops.argmax(windows, dim=-1, keepdim=True)
    values = ops.gather_elements(windows, -1, best)[..., 0].astype(dtype)
    found = ops.gather_elements(places, -1, best)[..., 0].astype(ms.int64)
    offsets = ops.arange(shape[0] * shape[1]).reshape(shape[0], shape[1], *(1,) * rank) * step
    return values, found + offsets
'''

WINDOW_HELPERS["average_pooled"] = '''
def average_pooled(
    x: Tensor,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    after: tuple[int, ...] | None,
    counts_padding: bool,
) -> Tensor:
    """The mean of every window, by what it counts; what a rounding upwards adds never does."""
    windows = image_windows(x, kernel, strides, pads, dilations, after, 0.0)
    ones = ops.ones((1, 1, *x.shape[2:]), x.dtype)
    if counts_padding:
        rank = len(kernel)
        for i in range(rank):
            ones = ops.pad(ones, (0, 0) * (rank - 1 - i) + (pads[i], pads[rank + i]), value=1.0)
        pads = (0,) * 2 * rank
    counts = image_windows(ones, kernel, strides, pads, dilations, windows.shape[2:-1], 0.0)
    return ops.sum(windows, dim=-1) / ops.sum(counts, dim=-1)
'''

WINDOW_HELPERS["lp_pooled"] = '''
def lp_pooled(
    x: Tensor,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    after: tuple[int, ...] | None,
    p: int,
) -> Tensor:
    """The root of the sum of powers of every window."""
    windows = image_windows(ops.abs(x), kernel, strides, pads, dilations, after, 0.0)
    return ops.pow(ops.sum(ops.pow(windows, p), dim=-1), 1.0 / p)
'''

WINDOW_HELPERS["transposed_conv"] = '''
def transposed_conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    extra: tuple[int, ...],
    groups: int,
    dilations: tuple[int, ...],
) -> Tensor:
    """Zeros between the pixels, then a convolution with the kernel turned round, of any rank."""
    rank = len(strides)
    for i in range(rank):
        axis = 2 + i
        if strides[i] > 1:
            shape = x.shape
            x = ops.unsqueeze(x, axis + 1)
            x = ops.cat((x, *(ops.zeros_like(x) for _ in range(strides[i] - 1))), axis + 1)
            x = x.reshape(*shape[:axis], shape[axis] * strides[i], *shape[axis + 1 :])
        reach = dilations[i] * (weight.shape[axis] - 1)
        before, after = reach - pads[i], reach - pads[rank + i] + extra[i] - strides[i] + 1
        x = ops.pad(x, (0, 0) * (rank - 1 - i) + (before, after)) if before or after else x
    kernel = ops.flip(weight, tuple(range(2, 2 + rank)))
    channels, out = weight.shape[:2]
    kernel = kernel.reshape(groups, channels // groups, out, *weight.shape[2:]).swapaxes(1, 2)
    kernel = kernel.reshape(groups * out, channels // groups, *weight.shape[2:])
    if rank == 1:
        return ops.conv1d(x, kernel, bias, dilation=dilations[0], groups=groups)
    conv = ops.conv2d if rank == 2 else ops.conv3d
    return conv(x, kernel, bias, dilation=dilations, groups=groups)
'''

WINDOW_HELPERS["folded"] = '''
def folded(
    x: Tensor,
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    pads: tuple[int, ...],
) -> Tensor:
    """The sum of overlapping windows, of any rank."""
    rank, batch = len(kernel), x.shape[0]
    full = [size[i] + pads[i] + pads[rank + i] for i in range(rank)]
    lengths = [(full[i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(rank)]
    rows = np.zeros((1, 1), np.int64)
    for i in range(rank):
        places = np.arange(kernel[i])[:, None] * dilations[i] + np.arange(lengths[i])[None] * strides[i]
        rows = rows[:, None, :, None] * full[i] + places[None, :, None, :]
        rows = rows.reshape(rows.shape[0] * rows.shape[1], -1)
    total = int(np.prod(full))
    x = x.reshape(batch, -1, int(np.prod(kernel)) * int(np.prod(lengths)))
    found = ops.zeros((batch, x.shape[1], total), x.dtype)
    places = ops.broadcast_to(Tensor(rows.reshape(1, 1, -1)), x.shape)
    found = ops.tensor_scatter_elements(found, places, x, axis=2, reduction="add").reshape(batch, -1, *full)
    for i in range(rank):
        found = ops.narrow(found, 2 + i, pads[i], size[i])
    return found
'''

WINDOW_HELPERS["unpooled"] = '''
def unpooled(x: Tensor, places: Tensor, natural: tuple[int, ...], size: tuple[int, ...]) -> Tensor:
    """Every number back to its place in an image of the pooling's own size, which is then made larger."""
    total = 1
    for length in natural:
        total = total * length
    flat = ops.zeros((x.shape[0] * x.shape[1] * total,), x.dtype)
    flat = ops.tensor_scatter_elements(flat, places.reshape(-1), x.reshape(-1), axis=0)
    found = flat.reshape(x.shape[0], x.shape[1], *natural)
    for i, length in enumerate(natural):
        wanted = size[-len(natural) + i]
        if wanted != length:
            found = ops.pad(found, (0, 0) * (len(natural) - 1 - i) + (0, wanted - length))
    return found
'''

WINDOW_HELPERS["local_response_norm"] = '''
def local_response_norm(x: Tensor, size: int, alpha: float, beta: float, bias: float) -> Tensor:
    """By the squares of neighbouring channels, one more behind where their number is even."""
    squares = ops.pad(x * x, (0, 0) * (x.ndim - 2) + ((size - 1) // 2, size // 2))
    total = ops.narrow(squares, 1, 0, x.shape[1])
    for i in range(1, size):
        total = total + ops.narrow(squares, 1, i, x.shape[1])
    return x / ops.pow(bias + alpha / size * total, beta)
'''

WINDOW_HELPERS["batch_norm_moved"] = '''
def batch_norm_moved(x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, eps: float) -> Tensor:
    """By moving statistics."""
    shape = (1, -1) + (1,) * (x.ndim - 2)
    scale, bias, mean, variance = (item.reshape(shape) for item in (scale, bias, mean, variance))
    return scale * (x - mean) / ops.sqrt(variance + eps) + bias
'''

WINDOW_HELPERS["batch_norm_trained"] = '''
def batch_norm_trained(
    x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, eps: float, momentum: float
) -> tuple[Tensor, Tensor, Tensor]:
    """By the batch's own statistics, which then move the others."""
    axes = (0, *range(2, x.ndim))
    own_mean = ops.mean(x, axes)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    own_variance = ops.mean(ops.square(x - own_mean.reshape(shape)), axes)
    out = batch_norm_moved(x, scale, bias, own_mean, own_variance, eps)
    return out, mean * momentum + own_mean * (1 - momentum), variance * momentum + own_variance * (1 - momentum)
'''

WINDOW_HELPERS["layer_norm_from"] = '''
def layer_norm_from(
    x: Tensor, scale: Tensor | None, bias: Tensor | None, axis: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Over every axis from one on; with the mean and the inverse of the deviation."""
    axes, dtype = tuple(range(axis, x.ndim)), x.dtype
    x = x.astype(ms.float32)
    mean = ops.mean(x, axes, True)
    centered = x - mean
    inverse = ops.rsqrt(ops.mean(ops.square(centered), axes, True) + eps)
    out = (centered * inverse).astype(dtype)
    out = out if scale is None else out * scale
    return out if bias is None else out + bias, mean, inverse
'''

WINDOW_HELPERS["group_norm_of"] = '''
def group_norm_of(x: Tensor, groups: int, scale: Tensor, bias: Tensor, eps: float) -> Tensor:
    """Over the channels of a group; the factors are the channels' or the groups' own."""
    parts = x.reshape(x.shape[0], groups, -1)
    centered = parts - ops.mean(parts, -1, True)
    out = centered * ops.rsqrt(ops.mean(ops.square(centered), -1, True) + eps)
    if scale.shape[0] == groups and groups != x.shape[1]:
        return (out * scale.reshape(1, -1, 1) + bias.reshape(1, -1, 1)).reshape(x.shape)
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return out.reshape(x.shape) * scale.reshape(shape) + bias.reshape(shape)
'''

WINDOW_HELPERS["roi_aligned"] = '''
def roi_aligned(
    x: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    size: tuple[int, int],
    ratio: int,
    scale: float,
    half_pixel: bool,
) -> Tensor:
    """Means of bilinear samples of every region: in PYNATIVE mode alone."""
    found = []
    for region, image in zip(rois.asnumpy() * scale - (0.5 if half_pixel else 0.0), batch_indices.asnumpy()):
        left, top, right, bottom = (float(side) for side in region)
        height, width = (bottom - top, right - left)
        if not half_pixel:
            height, width = max(height, 1.0), max(width, 1.0)
        tall, wide = height / size[0], width / size[1]
        rows, columns = (ratio or math.ceil(tall)), (ratio or math.ceil(wide))
        ys = np.array([top + i * tall + (k + 0.5) * tall / rows for i in range(size[0]) for k in range(rows)])
        xs = np.array([left + i * wide + (k + 0.5) * wide / columns for i in range(size[1]) for k in range(columns)])
        part = sampling(ys, x.shape[2]) @ x[int(image)] @ sampling(xs, x.shape[3]).swapaxes(0, 1)
        found.append(ops.mean(part.reshape(x.shape[1], size[0], rows, size[1], columns), (2, 4)))
    return ops.stack(found, 0)
'''

WINDOW_HELPERS["sampling"] = '''
def sampling(places: np.ndarray, length: int) -> Tensor:
    """What each pixel of an axis gives to each place between them; nothing from farther outside than one."""
    weights = np.zeros((len(places), length), np.float32)
    for i, place in enumerate(places):
        if -1.0 <= place <= length:
            place = min(max(place, 0.0), length - 1.0)
            low = int(place)
            high = min(low + 1, length - 1)
            weights[i, low] += 1 - (place - low)
            weights[i, high] += place - low
    return Tensor(weights)
'''

WINDOW_HELPERS["quantised"] = '''
def quantised(x: Tensor, scale: Tensor, zero: Tensor | None, low: int, high: int, dtype: ms.Type) -> Tensor:
    """Rounded to even, moved, and held within the type."""
    out = ops.round((x / scale).astype(ms.float32))
    out = out if zero is None else out + zero.astype(ms.float32)
    return ops.clamp(out, low, high).astype(ms.int32).astype(dtype)
'''

WINDOW_HELPERS["conv_of_integers"] = '''
def conv_of_integers(
    x: Tensor,
    weight: Tensor,
    x_zero: Tensor | None,
    weight_zero: Tensor | None,
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    groups: int,
) -> Tensor:
    """Real numbers in between, whose sums below 2**24 are exact."""
    x, weight = x.astype(ms.float32), weight.astype(ms.float32)
    x = x if x_zero is None else x - x_zero.astype(ms.float32)
    if weight_zero is not None:
        weight = weight - weight_zero.astype(ms.float32).reshape((-1,) + (1,) * (weight.ndim - 1))
    rank = len(strides)
    for i in range(rank):
        x = ops.pad(x, (0, 0) * (rank - 1 - i) + (pads[i], pads[rank + i])) if pads[i] or pads[rank + i] else x
    conv = ops.conv2d if rank == 2 else ops.conv3d
    out = conv(x, weight, stride=strides, dilation=dilations, groups=groups)
    return ops.round(out).astype(ms.int32)
'''

WINDOW_HELPERS["qlinear_conv"] = '''
def qlinear_conv(
    x: Tensor,
    weight: Tensor,
    x_zero: Tensor,
    weight_zero: Tensor,
    strides: tuple[int, ...],
    pads: tuple[int, ...],
    dilations: tuple[int, ...],
    groups: int,
    bias: Tensor | None,
    x_scale: Tensor,
    weight_scale: Tensor,
    scale: Tensor,
    zero: Tensor,
    low: int,
    high: int,
) -> Tensor:
    """A convolution of whole numbers, scaled and rounded."""
    out = conv_of_integers(x, weight, x_zero, weight_zero, strides, pads, dilations, groups)
    shape = (1, -1) + (1,) * (out.ndim - 2)
    out = out if bias is None else out + bias.reshape(shape)
    out = out.astype(ms.float32) * (x_scale * weight_scale / scale).reshape(shape)
    return quantised(out, Tensor(1.0, ms.float32), zero, low, high, zero.dtype)
'''

WINDOW_HELPERS["qlinear_matmul"] = '''
def qlinear_matmul(
    a: Tensor,
    a_scale: Tensor,
    a_zero: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero: Tensor,
    scale: Tensor,
    zero: Tensor,
    low: int,
    high: int,
) -> Tensor:
    """A product of whole numbers, scaled and rounded."""
    out = (a.astype(ms.int32) - a_zero.astype(ms.int32)) @ (b.astype(ms.int32) - b_zero.astype(ms.int32))
    factor = a_scale.astype(ms.float32) * b_scale.astype(ms.float32) / scale.astype(ms.float32)
    return quantised(out.astype(ms.float32) * factor, Tensor(1.0, ms.float32), zero, low, high, zero.dtype)
'''

WINDOW_HELPERS["recurrent"] = '''
def recurrent(
    kind: str,
    x: Tensor,
    weight: Tensor,
    state_weight: Tensor,
    bias: Tensor | None,
    first: Tensor | None = None,
    cell: Tensor | None = None,
    peepholes: Tensor | None = None,
    lengths: Tensor | None = None,
    direction: str = "forward",
    activations: tuple[str, ...] = (),
    clip: float | None = None,
    reset_after: bool = False,
    batch_first: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """A recurrent layer step by step: its outputs, its last state, and an LSTM's last cell state."""
    x = x.swapaxes(0, 1) if batch_first else x
    steps, batch, size = x.shape[0], x.shape[1], state_weight.shape[2]
    usual = {"LSTM": ("sigmoid", "tanh", "tanh"), "GRU": ("sigmoid", "tanh"), "RNN": ("tanh",)}[kind]
    functions = activations or usual * weight.shape[0]
    outputs, hiddens, cells = [], [], []
    for d in range(weight.shape[0]):
        backwards = direction == "reverse" or d == 1
        own = functions[d * len(usual) : (d + 1) * len(usual)]
        zeros = ops.zeros((batch, size), x.dtype)
        h = zeros if first is None else (first[:, d] if batch_first else first[d])
        c = zeros if cell is None else (cell[:, d] if batch_first else cell[d])
        w_bias, r_bias = (0.0, 0.0) if bias is None else (bias[d, : bias.shape[1] // 2], bias[d, bias.shape[1] // 2 :])
        found = [zeros] * steps
        for t in range(steps):
            t = steps - 1 - t if backwards else t
            given = x[t] @ weight[d].swapaxes(0, 1) + w_bias
            p = None if peepholes is None else peepholes[d]
            new_h, new_c = recurrent_step(kind, given, h, c, state_weight[d], r_bias, p, own, clip, reset_after)
            if lengths is not None:
                inside = (t < lengths).reshape(-1, 1)
                found[t] = ops.where(inside, new_h, zeros)
                new_h, new_c = ops.where(inside, new_h, h), ops.where(inside, new_c, c)
            else:
                found[t] = new_h
            h, c = new_h, new_c
        outputs.append(ops.stack(found, 0))
        hiddens.append(h)
        cells.append(c)
    axis = 1 if batch_first else 0
    output = ops.stack(outputs, 1)
    output = output.permute(2, 0, 1, 3) if batch_first else output
    return output, ops.stack(hiddens, axis), ops.stack(cells, axis)
'''

WINDOW_HELPERS["recurrent_step"] = '''
def recurrent_step(
    kind: str,
    given: Tensor,
    h: Tensor,
    c: Tensor,
    weight: Tensor,
    bias: Tensor | float,
    peepholes: Tensor | None,
    functions: tuple[str, ...],
    clip: float | None,
    reset_after: bool,
) -> tuple[Tensor, Tensor]:
    """One step, gates in ONNX's order: i o f c, z r h."""
    known = {"sigmoid": ops.sigmoid, "tanh": ops.tanh, "relu": ops.relu}
    f, *others = (
        (lambda x, name=name: known[name](x if clip is None else ops.clamp(x, -clip, clip))) for name in functions
    )
    size, turned = h.shape[1], weight.swapaxes(0, 1)
    if kind == "RNN":
        return f(given + h @ turned + bias), c
    if kind == "GRU":
        gates = given[:, : 2 * size] + h @ turned[:, : 2 * size]
        gates = gates if isinstance(bias, float) else gates + bias[: 2 * size]
        z, r = f(gates[:, :size]), f(gates[:, size:])
        own = 0.0 if isinstance(bias, float) else bias[2 * size :]
        if reset_after:
            new = others[0](given[:, 2 * size :] + r * (h @ turned[:, 2 * size :] + own))
        else:
            new = others[0](given[:, 2 * size :] + (r * h) @ turned[:, 2 * size :] + own)
        return (1 - z) * new + z * h, c
    gates = given + h @ turned + bias
    i, o, forget, new = (gates[:, k * size : (k + 1) * size] for k in range(4))
    if peepholes is not None:
        i, forget = i + peepholes[:size] * c, forget + peepholes[2 * size :] * c
    c = f(forget) * c + f(i) * others[0](new)
    o = o if peepholes is None else o + peepholes[size : 2 * size] * c
    return f(o) * others[1](c), c
'''
