"""MindSpore 2.10's convolutions fall to oneDNN's reference kernels on AVX-512; capped at AVX2 they do not.

LeNet-5 at batch 32 takes 62 ms a step as installed and 6 capped (AMD EPYC, two cores, MindSpore 2.10.0, least of 50).
The cap is set on MindSpore's own library, so that PyTorch in the same process keeps its instruction set; it must come
before the first convolution, and cannot be taken back.
"""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

__all__ = ["FastPath", "Timings", "cap_where_it_helps", "library", "measured", "memory", "override"]

AVX2 = 0x7  # oneDNN's dnnl_cpu_isa_avx2
GAIN = 1.5  # the cap costs pooling some speed, and a smaller gain is a busy machine's noise
OVERRIDES = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")
PROBE = Path(__file__).with_name("convolution_probe.py")
PROBE_TIMEOUT_S = 20.0

Outcome = Literal["capped", "not needed", "left to the user", "not known", "too late"]


class Timing(Struct, frozen=True, kw_only=True):
    """The kernel that oneDNN takes for a small convolution, and its least time."""

    kernel: str
    ms: float


class Timings(Struct, frozen=True, kw_only=True):
    """The same convolution as installed and with the cap."""

    as_installed: Timing
    capped: Timing

    @property
    def gain(self) -> float:
        """How many times faster the cap makes it."""
        return self.as_installed.ms / max(self.capped.ms, 1e-6)

    @property
    def helps(self) -> bool:
        """Whether the gain is beyond what pooling loses."""
        return self.gain >= GAIN


class Answer(Struct, frozen=True, kw_only=True):
    """What is remembered of a processor."""

    timings: Timings
    told: bool = False  # to a person, by a training


class FastPath(Struct, frozen=True, kw_only=True):
    """What was done, in one sentence that a run's log can carry."""

    outcome: Outcome
    sentence: str
    timings: Timings | None = None

    @property
    def worth_telling(self) -> bool:
        """Whether something was changed, or left slow."""
        return self.outcome not in ("not needed", "left to the user")

    def is_news(self) -> bool:
        """Whether nobody was told yet on this machine; asked once, since somebody then is. What is slow stays news."""
        if self.outcome != "capped" or (place := library()) is None:
            return self.worth_telling
        key, known = _key(place), _read(memory())
        answer = known.get(key)
        if answer is not None and not answer.told:
            _write(memory(), known | {key: replace(answer, told=True)})
        return answer is None or not answer.told


@cache
def cap_where_it_helps() -> FastPath:
    """Cap MindSpore's convolutions at AVX2 if a measurement on this processor says that it helps; once a process."""
    setting = override()
    if setting:
        return FastPath(outcome="left to the user", sentence=f"{setting} decides MindSpore's convolutions.")
    place = library()
    if place is None:
        return FastPath(outcome="not needed", sentence="MindSpore's convolutions do not run on oneDNN for x86 here.")
    timings = measured(place, remembered=memory())
    if timings is None:
        return FastPath(
            outcome="not known", sentence="MindSpore's convolutions could not be timed, and stay as they are."
        )
    if not timings.helps:
        return FastPath(
            outcome="not needed", sentence="MindSpore's convolutions are as fast as installed.", timings=timings
        )
    gained = f"a small one takes {timings.capped.ms:.2g} ms in place of {timings.as_installed.ms:.2g}"
    if ctypes.CDLL(str(place)).dnnl_set_max_cpu_isa(AVX2):
        return FastPath(
            outcome="too late",
            sentence=f"MindSpore's convolutions would be faster at AVX2 ({gained}), but one ran already: "
            "open the session before them, or set ONEDNN_MAX_CPU_ISA=AVX2, which slows PyTorch too.",
            timings=timings,
        )
    return FastPath(
        outcome="capped",
        sentence=f"MindSpore's convolutions are capped at AVX2, where {gained}; "
        "set ONEDNN_MAX_CPU_ISA=ALL to leave them.",
        timings=timings,
    )


def override() -> str | None:
    """The user's own cap, as NAME=VALUE."""
    return next((f"{name}={os.environ[name]}" for name in OVERRIDES if name in os.environ), None)


def library() -> Path | None:
    """MindSpore's oneDNN, found without importing MindSpore; none where it has none for x86."""
    found = find_spec("mindspore")
    if found is None or not found.submodule_search_locations or platform.machine() not in ("x86_64", "AMD64"):
        return None
    place = Path(found.submodule_search_locations[0]) / "lib" / "libdnnl.so.3"
    return place if place.is_file() else None


def measured(place: Path, *, remembered: Path | None = None, anew: bool = False) -> Timings | None:
    """Time one convolution both ways, each in a short process of its own; none where that is not possible.

    `remembered` is a file that keeps the answer for this processor and this library; `anew` replaces it.
    """
    key = _key(place)
    known = _read(remembered)
    if anew or key not in known:
        as_installed, capped = (_timed(place, cap) for cap in (0, AVX2))
        if as_installed is None or capped is None:
            return None
        told = key in known and known[key].told
        known[key] = Answer(timings=Timings(as_installed=as_installed, capped=capped), told=told)
        _write(remembered, known)
    return known[key].timings


def memory() -> Path:
    """Where the answers are kept: the user's cache."""
    import pooch

    return Path(pooch.os_cache("luthier")) / "convolutions.json"


def _timed(place: Path, cap: int) -> Timing | None:
    environment = {name: value for name, value in os.environ.items() if name not in OVERRIDES}
    command = [sys.executable, "-I", "-S", str(PROBE), str(place), str(cap)]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=PROBE_TIMEOUT_S, check=True, stdin=subprocess.DEVNULL
        )
        return msgspec.json.decode(done.stdout, type=Timing)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError):
        return None  # a library or a processor that the probe does not know: the run goes on as installed


def _key(place: Path) -> str:
    """This processor, and this build of the library."""
    stat = place.stat()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").split("\n\n")[0].splitlines()
        processor = "".join(line for line in lines if line.startswith(("model name", "flags", "cpu family")))
    except OSError:
        processor = platform.processor()
    return sha256(f"{processor} {stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()


def _read(remembered: Path | None) -> dict[str, Answer]:
    try:
        return msgspec.json.decode(remembered.read_bytes(), type=dict[str, Answer]) if remembered else {}
    except (OSError, msgspec.DecodeError):
        return {}


def _write(remembered: Path | None, known: Mapping[str, Answer]) -> None:
    """Aside and renamed; a cache that cannot be written costs a tenth of a second a process, no more."""
    if remembered is None:
        return
    aside = remembered.with_suffix(f".{os.getpid()}")
    try:
        remembered.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(msgspec.json.encode(known))
        aside.replace(remembered)
    except OSError:
        aside.unlink(missing_ok=True)
