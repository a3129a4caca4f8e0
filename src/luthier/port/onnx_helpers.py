"""Functions that a file ported from ONNX carries with it, where MindSpore has no operator of the same meaning."""

from __future__ import annotations

__all__ = ["ONNX_HELPERS"]

ONNX_HELPERS: dict[str, str] = {}

ONNX_HELPERS["ints"] = '''
def ints(x: Tensor) -> tuple[int, ...]:
    """Lengths or axes that come as the network runs: in PYNATIVE mode alone."""
    return tuple(int(item) for item in x.asnumpy().reshape(-1))
'''

ONNX_HELPERS["number"] = '''
def number(x: Tensor) -> int | float:
    """A number that comes as the network runs: in PYNATIVE mode alone."""
    return x.asnumpy().reshape(-1)[0].item()
'''

ONNX_HELPERS["divided"] = '''
def divided(a: Tensor | int, b: Tensor | int) -> Tensor:
    """Whole numbers, cut towards zero."""
    quotient = ops.floor_divide(a, b)
    rest = a - quotient * b
    return ops.where(ops.logical_and(rest != 0, (rest < 0) != (a < 0)), quotient + 1, quotient)
'''

ONNX_HELPERS["hardmax"] = '''
def hardmax(x: Tensor, axis: int) -> Tensor:
    """A one where the greatest number of an axis stands first."""
    places = ops.argmax(x, dim=axis, keepdim=True)
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return (places == ops.arange(x.shape[axis]).reshape(tuple(shape))).astype(x.dtype)
'''

ONNX_HELPERS["cumulated"] = '''
def cumulated(x: Tensor, axis: int, one: int, exclusive: bool, backwards: bool) -> Tensor:
    """Sums or products from either end, with or without the number itself."""
    dtype, axis = x.dtype, axis % x.ndim
    x = ops.flip(x, (axis,)) if backwards else x
    if exclusive:
        first = ops.full_like(ops.narrow(x, axis, 0, 1), one)
        x = ops.cat((first, ops.narrow(x, axis, 0, x.shape[axis] - 1)), axis)
    x = ops.cumprod(x, axis) if one else ops.cumsum(x, axis)
    return (ops.flip(x, (axis,)) if backwards else x).astype(dtype)
'''

ONNX_HELPERS["reshaped"] = '''
def reshaped(x: Tensor, shape: tuple[int, ...], allow_zero: bool) -> Tensor:
    """A zero keeps the length that was there."""
    if not allow_zero:
        shape = tuple(x.shape[i] if length == 0 else length for i, length in enumerate(shape))
    return x.reshape(shape)
'''

ONNX_HELPERS["unsqueezed"] = '''
def unsqueezed(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Axes of length one."""
    rank = x.ndim + len(axes)
    for axis in sorted(axis % rank for axis in axes):
        x = ops.unsqueeze(x, axis)
    return x
'''

ONNX_HELPERS["expanded"] = '''
def expanded(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Spread to a common shape: either may be the longer."""
    rank = max(x.ndim, len(shape))
    own = (1,) * (rank - x.ndim) + x.shape
    wanted = (1,) * (rank - len(shape)) + tuple(shape)
    return ops.broadcast_to(x, tuple(o if w == 1 else w for o, w in zip(own, wanted)))
'''

ONNX_HELPERS["sliced"] = '''
def sliced(
    x: Tensor,
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    axes: tuple[int, ...] | None,
    steps: tuple[int, ...] | None,
) -> Tensor:
    """Ranges with steps, which may go backwards."""
    axes = tuple(range(len(starts))) if axes is None else axes
    steps = (1,) * len(starts) if steps is None else steps
    for start, end, axis, step in zip(starts, ends, axes, steps):
        axis = axis % x.ndim
        length = x.shape[axis]
        end = None if step < 0 and end < -length else end
        rows = tuple(range(length)[start:end:step])
        if len(rows) == 0:
            return ops.zeros((*x.shape[:axis], 0, *x.shape[axis + 1 :]), x.dtype)
        elif rows != tuple(range(length)):
            x = ops.gather(x, Tensor(rows, ms.int64), axis)
    return x
'''

ONNX_HELPERS["padded"] = '''
def padded(
    x: Tensor, pads: tuple[int, ...], mode: str, value: float = 0, axes: tuple[int, ...] | None = None
) -> Tensor:
    """Beginnings and ends of every axis, in any mode; a negative one cuts."""
    axes = tuple(range(x.ndim)) if axes is None else axes
    for i, axis in enumerate(axes):
        before, after, axis = pads[i], pads[len(axes) + i], axis % x.ndim
        length = x.shape[axis]
        if before < 0 or after < 0:
            start, stop = max(-before, 0), length - max(-after, 0)
            x, before, after = ops.narrow(x, axis, start, stop - start), max(before, 0), max(after, 0)
            length = stop - start
        if before == 0 and after == 0:
            continue
        if mode == "constant":
            sides = (0, 0) * (x.ndim - 1 - axis) + (before, after)
            x = ops.pad(x, sides, value=value)
            continue
        rows = range(-before, length + after)
        if mode == "edge":
            rows = [min(max(row, 0), length - 1) for row in rows]
        elif mode == "wrap":
            rows = [row % length for row in rows]
        else:
            span = max(2 * (length - 1), 1)
            rows = [min(row % span, span - row % span) for row in rows]
        x = ops.gather(x, Tensor(tuple(rows), ms.int64), axis)
    return x
'''

ONNX_HELPERS["depth_to_space"] = '''
def depth_to_space(x: Tensor, size: int) -> Tensor:
    """Blocks of channels become blocks of pixels."""
    batch, channels, height, width = x.shape
    x = x.reshape(batch, size, size, channels // size**2, height, width).permute(0, 3, 4, 1, 5, 2)
    return x.reshape(batch, channels // size**2, height * size, width * size)
'''

ONNX_HELPERS["space_to_depth"] = '''
def space_to_depth(x: Tensor, size: int) -> Tensor:
    """Blocks of pixels become blocks of channels."""
    batch, channels, height, width = x.shape
    x = x.reshape(batch, channels, height // size, size, width // size, size).permute(0, 3, 5, 1, 2, 4)
    return x.reshape(batch, channels * size**2, height // size, width // size)
'''

ONNX_HELPERS["shifted_eye"] = '''
def shifted_eye(rows: int, columns: int, shift: int, dtype: ms.Type) -> Tensor:
    """Ones on a diagonal beside the main one."""
    return (ops.arange(columns).reshape(1, -1) - ops.arange(rows).reshape(-1, 1) == shift).astype(dtype)
'''

ONNX_HELPERS["one_hot_of"] = '''
def one_hot_of(indices: Tensor, depth: int, values: Tensor, axis: int) -> Tensor:
    """Two values, one where the place is; negative places count from behind."""
    indices = indices.astype(ms.int64)
    indices = ops.where(indices < 0, indices + int(depth), indices)
    axis = axis % (indices.ndim + 1)
    shape = (1,) * axis + (int(depth),) + (1,) * (indices.ndim - axis)
    hot = ops.unsqueeze(indices, axis) == ops.arange(int(depth)).reshape(shape)
    return ops.where(hot, values[1], values[0])
'''

ONNX_HELPERS["reversed_sequences"] = '''
def reversed_sequences(x: Tensor, lengths: Tensor, time_axis: int, batch_axis: int) -> Tensor:
    """Each sample up to its own length."""
    x = x if batch_axis == 0 else x.swapaxes(0, 1)
    steps = ops.arange(x.shape[1]).reshape(1, -1)
    lengths = lengths.astype(ms.int64).reshape(-1, 1)
    places = ops.where(steps < lengths, lengths - 1 - steps, steps)
    places = places.reshape(places.shape + (1,) * (x.ndim - 2))
    x = ops.gather_elements(x, 1, ops.broadcast_to(places, x.shape))
    return x if batch_axis == 0 else x.swapaxes(0, 1)
'''

ONNX_HELPERS["top_k"] = '''
def top_k(x: Tensor, k: int, axis: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The greatest or the smallest in order, of equals the first, with their places."""
    if axis % x.ndim == x.ndim - 1 and largest:
        values, places = ops.topk(x, k)
        return values, places.astype(ms.int64)
    x = x.swapaxes(axis, -1)
    values, places = ops.topk(x, k) if largest else ops.topk(-x, k)
    values = values if largest else -values
    return values.swapaxes(axis, -1), places.swapaxes(axis, -1).astype(ms.int64)
'''

ONNX_HELPERS["lp_normalised"] = '''
def lp_normalised(x: Tensor, axis: int, p: int) -> Tensor:
    """By the norm along an axis; where that is zero, zero."""
    norm = ops.sum(ops.abs(x), dim=axis, keepdim=True) if p == 1 else ops.sqrt(ops.sum(x * x, dim=axis, keepdim=True))
    return ops.where(norm == 0, ops.zeros_like(x), x / ops.where(norm == 0, ops.ones_like(norm), norm))
'''

ONNX_HELPERS["unique"] = '''
def unique(x: Tensor, axis: int | None, in_order: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What is there, its first place, its number for each, and how often: in PYNATIVE mode alone."""
    found, first, inverse, counts = np.unique(x.asnumpy(), True, True, True, axis)
    if not in_order:
        order = np.argsort(first)
        found = np.take(found, order, 0 if axis is None else axis)
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    places = (Tensor(item.reshape(-1).astype(np.int64)) for item in (first, inverse, counts))
    return Tensor(found), *places
'''
ONNX_HELPERS["gathered"] = '''
def gathered(x: Tensor, places: Tensor, axis: int) -> Tensor:
    """Rows by their places; negative ones count from behind."""
    return ops.gather(x, ops.where(places < 0, places + x.shape[axis], places), axis)
'''

ONNX_HELPERS["gathered_nd"] = '''
def gathered_nd(x: Tensor, places: Tensor, batch_axes: int) -> Tensor:
    """By places of several axes, after those of a batch; negative ones count from behind."""
    depth = places.shape[-1]
    lengths = Tensor(x.shape[batch_axes : batch_axes + depth], places.dtype)
    places = ops.where(places < 0, places + lengths, places)
    if batch_axes:
        shape = places.shape[:batch_axes]
        grids = [
            ops.broadcast_to(
                ops.arange(n).astype(places.dtype).reshape((1,) * i + (n,) + (1,) * (places.ndim - i - 1)),
                places.shape[:-1] + (1,),
            )
            for i, n in enumerate(shape)
        ]
        places = ops.cat((*grids, places), -1)
    return ops.gather_nd(x, places)
'''

ONNX_HELPERS["scattered"] = '''
def scattered(x: Tensor, places: Tensor, updates: Tensor, axis: int, kind: str) -> Tensor:
    """Put, or added, multiplied, the greater or the smaller kept; negative places count from behind."""
    axis = axis % x.ndim
    places = ops.where(places < 0, places + x.shape[axis], places)
    if kind == "none":
        return ops.tensor_scatter_elements(x, places, updates, axis=axis)
    if kind == "add":
        return ops.tensor_scatter_elements(x, places, updates, axis=axis, reduction="add")
    grids = [
        ops.broadcast_to(
            ops.arange(n).astype(places.dtype).reshape((1,) * i + (n,) + (1,) * (x.ndim - i - 1)), places.shape
        )
        for i, n in enumerate(places.shape)
    ]
    grids[axis] = places
    return scattered_nd(x, ops.stack(grids, -1), updates, kind)
'''

ONNX_HELPERS["scattered_nd"] = '''
def scattered_nd(x: Tensor, places: Tensor, updates: Tensor, kind: str) -> Tensor:
    """By places of several axes; negative ones count from behind."""
    places = ops.where(places < 0, places + Tensor(x.shape[: places.shape[-1]], places.dtype), places)
    if kind == "none":
        return ops.tensor_scatter_update(x, places, updates)
    if kind == "add":
        return ops.tensor_scatter_add(x, places, updates)
    if kind == "mul":
        return ops.tensor_scatter_mul(x, places, updates)
    return ops.tensor_scatter_max(x, places, updates) if kind == "max" else ops.tensor_scatter_min(x, places, updates)
'''

ONNX_HELPERS["compressed"] = '''
def compressed(x: Tensor, condition: Tensor, axis: int | None) -> Tensor:
    """Those places of an axis for which the condition holds: how many is known as the network runs."""
    x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
    return ops.gather(x, ops.nonzero(condition).reshape(-1), axis)
'''

ONNX_HELPERS["recurrent_outputs"] = '''
def recurrent_outputs(given: tuple[Tensor, tuple[Tensor, ...] | Tensor], directions: int) -> tuple[Tensor, ...]:
    """Every step's output, with an axis for the directions where that is asked for, and the last states."""
    output, states = given
    if directions:
        output = output.reshape(output.shape[0], output.shape[1], directions, -1).swapaxes(1, 2)
    if isinstance(states, tuple):
        return output, states[0], states[1]
    return output, states
'''

ONNX_HELPERS["axis_weights"] = '''
@constexpr
def axis_weights(
    before: int,
    after: int,
    scale: float,
    kind: str,
    places: str,
    rounding: str,
    a: float,
    exclude_outside: bool,
    antialias: bool,
    region: tuple[float, float],
    outside: float,
) -> tuple[Tensor, Tensor]:
    """What each old pixel gives to each new one, along one axis, and what comes from outside."""
    weights, extra, length = np.zeros((after, before)), np.zeros(after), before * scale
    for i in range(after):
        place = (i + 0.5) / scale - 0.5
        if places == "pytorch_half_pixel" and length <= 1:
            place = 0.0
        elif places == "asymmetric":
            place = i / scale
        elif places == "align_corners":
            place = 0.0 if length == 1 else i * (before - 1) / (length - 1)
        elif places == "half_pixel_symmetric":
            place += before / 2 * (1 - after / length)
        elif places == "tf_crop_and_resize":
            start, end = (part * (before - 1) for part in region)
            place = start + i * (end - start) / (after - 1) if after > 1 else (start + end) / 2
            if place < 0 or place > before - 1:
                extra[i] = outside
                continue
        if kind == "nearest":
            rounded = {"floor": math.floor(place), "ceil": math.ceil(place)}
            rounded |= {"round_prefer_floor": math.ceil(place - 0.5), "round_prefer_ceil": math.floor(place + 0.5)}
            weights[i, min(max(rounded[rounding], 0), before - 1)] = 1
            continue
        reach = max(1 / scale, 1.0) if antialias else 1.0
        span = (2 if kind == "cubic" else 1) * reach
        near = np.arange(math.floor(place - span), math.ceil(place + span) + 1)
        d = np.abs(near - place) / reach
        if kind == "linear":
            share = np.maximum(1 - d, 0)
        else:
            inner, outer = ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a
            share = np.where(d < 1, inner, np.where(d < 2, outer, 0))
        if exclude_outside:
            share = np.where((near < 0) | (near >= before), 0, share)
        np.add.at(weights[i], np.clip(near, 0, before - 1), share / share.sum())
    return Tensor(weights.astype(np.float32)), Tensor(extra.astype(np.float32))
'''

ONNX_HELPERS["resized"] = '''
def resized(
    x: Tensor,
    axis: int,
    after: int,
    scale: float,
    kind: str = "nearest",
    places: str = "half_pixel",
    rounding: str = "round_prefer_floor",
    a: float = -0.75,
    exclude_outside: bool = False,
    antialias: bool = False,
    region: tuple[float, float] = (0.0, 1.0),
    outside: float = 0.0,
) -> Tensor:
    """One axis of another length: a product with a matrix of weights."""
    weights, extra = axis_weights(
        x.shape[axis], after, scale, kind, places, rounding, a, exclude_outside, antialias, region, outside
    )
    turned = x.swapaxes(axis, -1)
    return ((turned.astype(ms.float32) @ weights.swapaxes(0, 1)) + extra).astype(x.dtype).swapaxes(axis, -1)
'''

ONNX_HELPERS["numbers"] = '''
def numbers(x: Tensor) -> tuple[float, ...]:
    """Factors that come as the network runs: in PYNATIVE mode alone."""
    return tuple(float(item) for item in x.asnumpy().reshape(-1))
'''

ONNX_HELPERS["resized_by"] = '''
def resized_by(
    x: Tensor,
    given: tuple[float, ...],
    sized: bool,
    axes: tuple[int, ...] | None,
    policy: str = "stretch",
    region: tuple[float, ...] = (),
    **settings: object,
) -> Tensor:
    """By factors or to sizes that come as the network runs."""
    axes = tuple(range(x.ndim)) if axes is None else tuple(axis % x.ndim for axis in axes)
    scales = tuple(size / x.shape[axis] for size, axis in zip(given, axes)) if sized else given
    sizes = given if sized else tuple(int(x.shape[axis] * scale) for axis, scale in zip(axes, scales))
    if policy != "stretch":
        scales = ((min if policy == "not_larger" else max)(scales),) * len(axes)
        sizes = tuple(int(x.shape[axis] * scale + 0.5) for axis, scale in zip(axes, scales))
    for i, (axis, size, scale) in enumerate(zip(axes, sizes, scales)):
        if region:
            settings["region"] = (region[i], region[len(axes) + i])
        if size != x.shape[axis] or region:
            x = resized(x, axis, int(size), scale, **settings)
    return x
'''

ONNX_HELPERS["shifted"] = '''
def shifted(x: Tensor, y: Tensor, to_the_left: bool) -> Tensor:
    """Of numbers with a sign: by their width or more, or by less than nothing, all bits go."""
    width = {"Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64}[str(x.dtype)]
    inside = ops.logical_and(y >= 0, y < width)
    by = ops.where(inside, y, ops.zeros_like(y))
    found = ops.bitwise_left_shift(x, by) if to_the_left else ops.bitwise_right_shift(x, by)
    gone = ops.zeros_like(x) if to_the_left else ops.where(x < 0, ops.full_like(x, -1), ops.zeros_like(x))
    return ops.where(inside, found, gone)
'''

ONNX_HELPERS["non_max_suppression"] = '''
def non_max_suppression(
    boxes: Tensor, scores: Tensor, most: int, overlap: float, least: float | None, centered: bool
) -> Tensor:
    """Image, class and number of every box that is kept: in PYNATIVE mode alone."""
    found = []
    every, marks = boxes.asnumpy(), scores.asnumpy()
    for image in range(marks.shape[0]):
        a, b, c, d = every[image].T
        if centered:
            a, b, c, d = b - d / 2, a - c / 2, b + d / 2, a + c / 2
        top, bottom, left, right = np.minimum(a, c), np.maximum(a, c), np.minimum(b, d), np.maximum(b, d)
        area = (bottom - top) * (right - left)
        for kind in range(marks.shape[1]):
            kept = []
            for i in np.argsort(-marks[image, kind], kind="stable"):
                if len(kept) >= int(most) or (least is not None and marks[image, kind, i] <= least):
                    break
                tall = np.minimum(bottom[i], bottom[kept]) - np.maximum(top[i], top[kept])
                wide = np.minimum(right[i], right[kept]) - np.maximum(left[i], left[kept])
                shared = np.maximum(tall, 0) * np.maximum(wide, 0)
                if not np.any(shared > overlap * (area[i] + area[kept] - shared)):
                    kept.append(i)
            found += [(image, kind, i) for i in kept]
    return Tensor(np.array(found, np.int64).reshape(-1, 3))
'''

ONNX_HELPERS["grid_sampled"] = '''
def grid_sampled(x: Tensor, grid: Tensor, mode: str, padding: str, align_corners: bool) -> Tensor:
    """An image of any rank at places between its pixels: the nearest, or a few around each in every direction."""
    lengths, dtype = x.shape[2:], x.dtype
    batch, channels, rank = x.shape[0], x.shape[1], len(lengths)
    flat = x.reshape(batch, channels, -1)
    count = 1
    for length in grid.shape[1:-1]:
        count = count * length
    parts = [(ops.zeros((batch, count), ms.int64), ops.ones((batch, count), ms.float32))]
    for i in range(rank):
        length = lengths[i]
        place = grid[..., rank - 1 - i].reshape(batch, count).astype(ms.float32)
        place = (place + 1) / 2 * (length - 1) if align_corners else ((place + 1) * length - 1) / 2
        if padding == "border":
            place = place if mode == "bicubic" else ops.clamp(place, 0.0, length - 1.0)
        elif padding == "reflection" and mode != "bicubic":
            place = mirrored(place, length, align_corners)
        pairs = around(place, mode)
        found = []
        for near, share in pairs:
            if padding == "reflection":
                near = ops.round(mirrored(near, length, align_corners))
            inside = ops.logical_and(near >= 0, near <= length - 1)
            share = share if padding == "border" else ops.where(inside, share, ops.zeros_like(share))
            found.append((ops.clamp(near, 0.0, length - 1.0).astype(ms.int64), share))
        parts = [(before * length + near, weight * share) for before, weight in parts for near, share in found]
    total = 0.0
    for places, weight in parts:
        index = ops.broadcast_to(ops.unsqueeze(places, 1), (batch, channels, count))
        total = total + ops.gather_elements(flat, 2, index) * ops.unsqueeze(weight, 1)
    return total.astype(dtype).reshape(batch, channels, *grid.shape[1:-1])
'''

ONNX_HELPERS["around"] = '''
def around(place: Tensor, mode: str) -> list[tuple[Tensor, Tensor]]:
    """The pixels on a line that a place takes from, and each one's share."""
    if mode == "nearest":
        return [(ops.round(place), ops.ones_like(place))]
    low = ops.floor(place)
    rest = place - low
    if mode == "bilinear":
        return [(low, 1 - rest), (low + 1, rest)]
    a, found = -0.75, []
    for k in range(-1, 3):
        d = ops.abs(rest - k)
        inner, outer = ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a
        found.append((low + k, inner if k in (0, 1) else outer))
    return found
'''

ONNX_HELPERS["mirrored"] = '''
def mirrored(place: Tensor, length: int, align_corners: bool) -> Tensor:
    """What lies outside, reflected at the middle or at the edge of the last pixel."""
    low, span = (0.0, length - 1.0) if align_corners else (-0.5, float(length))
    if span == 0:
        return ops.zeros_like(place)
    beyond = ops.abs(place - low)
    turns = ops.floor(beyond / span)
    rest = beyond - turns * span
    even = turns - 2 * ops.floor(turns / 2) == 0
    return ops.clamp(ops.where(even, rest + low, span - rest + low), 0.0, length - 1.0) if align_corners else ops.where(
        even, rest + low, span - rest + low
    )
'''
