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
            x = ops.narrow(x, axis, 0, 0) if length else x
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
