"""One convolution by a oneDNN library, timed: a program of its own, since the library takes its cap only once.

`python convolution_probe.py LIBRARY CAP` prints JSON: the kernel's name and the least of five times. CAP is one of
oneDNN's `dnnl_cpu_isa` values, 0 for none. It uses the standard library alone and starts in a few hundredths of a
second.
"""

from __future__ import annotations

import ctypes
import json
import sys
from time import perf_counter

IMAGES, CHANNELS, SIZE, KERNEL = 8, 16, 16, 3
FLOAT32, FORWARD_TRAINING, DIRECT, KERNEL_NAME = 3, 64, 1, 8  # oneDNN 3's enumerations
SOURCE, RESULT, WEIGHTS = 1, 17, 33
REPEATS = 5

Handle = ctypes.c_void_p
Sizes = ctypes.c_int64


class Argument(ctypes.Structure):
    """`dnnl_exec_arg_t`."""

    _fields_ = (("index", ctypes.c_int), ("memory", Handle))


class Library:
    """A oneDNN library whose every call must succeed."""

    def __init__(self, path: str, cap: int) -> None:
        self.calls = ctypes.CDLL(path)
        if cap:
            self.call("set_max_cpu_isa", cap)
        self.engine, self.stream = Handle(), Handle()
        self.call("engine_create", ctypes.byref(self.engine), 1, ctypes.c_size_t(0))
        self.call("stream_create", ctypes.byref(self.stream), self.engine, 1)

    def call(self, name: str, *arguments: object) -> None:
        """Every function of the library gives 0 where it succeeds."""
        status = getattr(self.calls, f"dnnl_{name}")(*arguments)
        if status:
            raise SystemExit(f"dnnl_{name} gave {status}")

    def described(self, *sizes: int) -> Handle:
        """A plain row-major array, as MindSpore passes it."""
        strides = [1] * len(sizes)
        for i in range(len(sizes) - 2, -1, -1):
            strides[i] = strides[i + 1] * sizes[i + 1]
        count, found = len(sizes), Handle()
        lists = (Sizes * count)(*sizes), (Sizes * count)(*strides)
        self.call("memory_desc_create_with_strides", ctypes.byref(found), count, lists[0], FLOAT32, lists[1])
        return found

    def held(self, index: int, description: Handle) -> Argument:
        """Memory of the library's own for one argument."""
        memory = Handle()
        self.call("memory_create", ctypes.byref(memory), description, self.engine, Handle(-1))
        return Argument(index, memory)


def convolution(library: Library) -> tuple[str, float]:
    """The kernel that the library takes, and its least time in milliseconds."""
    images = library.described(IMAGES, CHANNELS, SIZE, SIZE)
    weights = library.described(CHANNELS, CHANNELS, KERNEL, KERNEL)
    result = library.described(IMAGES, CHANNELS, SIZE, SIZE)
    once, none = (Sizes * 2)(1, 1), (Sizes * 2)(0, 0)
    plan, primitive, name = Handle(), Handle(), ctypes.c_char_p()
    library.call(
        "convolution_forward_primitive_desc_create",
        *(ctypes.byref(plan), library.engine, FORWARD_TRAINING, DIRECT, images, weights, None, result),
        *(once, none, once, once, None),
    )
    library.call("primitive_desc_query", plan, KERNEL_NAME, 0, ctypes.byref(name))
    library.call("primitive_create", ctypes.byref(primitive), plan)
    given = (library.held(SOURCE, images), library.held(WEIGHTS, weights), library.held(RESULT, result))
    arguments = (Argument * len(given))(*given)
    times = []
    for _ in range(REPEATS):
        start = perf_counter()
        library.call("primitive_execute", primitive, library.stream, len(given), arguments)
        library.call("stream_wait", library.stream)
        times.append(perf_counter() - start)
    return (name.value or b"").decode(), min(times) * 1e3


if __name__ == "__main__":
    kernel, least_ms = convolution(Library(sys.argv[1], int(sys.argv[2])))
    print(json.dumps({"kernel": kernel, "ms": least_ms}))
