"""What follows from the facts: each rule looks at one thing, and gives one line of remedy for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from luthier.doctor.report import Ailment, Package, Report
from luthier.engines import Checkup

__all__ = ["ailments"]

Rule = Callable[[Report], Iterator[Ailment]]

ENOUGH_MEMORY_MB = 2000  # both frameworks take 600 of them, CIFAR-10 200
ENOUGH_DISK_MB = 2000  # CIFAR-10 takes 360 while it is unpacked
FEW_CORES = 4
CAPS_EVERYTHING = ("SSE41", "AVX", "AVX2", "AVX2_VNNI")
ENGINES = ("torch", "mindspore")


def ailments(report: Report) -> tuple[Ailment, ...]:
    """In the order of the rules, what is broken first."""
    found = [ailment for rule in RULES for ailment in rule(report)]
    return tuple(sorted(found, key=lambda ailment: ailment.kind != "broken"))


def frameworks_that_fail(report: Report) -> Iterator[Ailment]:
    """A framework that is here and does not compute."""
    for checkup in report.frameworks:
        if checkup.state == "broken":
            numpy = _other_numpy(report, checkup)
            beside = f" with numpy {numpy.version}" if numpy else ""
            what = f"{checkup.name} {checkup.version or ''}".strip() + f" does not work{beside}: {checkup.failure}"
            remedy = f"pip install 'numpy{numpy.needed}'" if numpy else _mended(report, checkup)
            yield Ailment(kind="broken", what=what, remedy=remedy)


def _other_numpy(report: Report, checkup: Checkup) -> Package | None:
    """The one that is installed beside a framework that wants another."""
    return next((p for p in report.packages if p.name == "numpy" and p.extra == checkup.name and not p.fits), None)


def _mended(report: Report, checkup: Checkup) -> str:
    if checkup.failure.startswith("no answer"):
        return "Run luthier doctor --timeout 120 when nothing else runs; then install it again"
    own = next((p for p in report.packages if p.name == checkup.name), None)
    return f"{own.install} --force-reinstall" if own else f"pip install --force-reinstall {checkup.name}"


def packages_that_are_missing(report: Report) -> Iterator[Ailment]:
    """One line for an extra, whichever of its packages is missing."""
    told = set()
    for package in report.packages:
        if package.version is None and (package.extra or package.name) not in told:
            told.add(package.extra or package.name)
            yield Ailment(kind="missing", what=f"{package.name} is not installed", remedy=package.install)


def versions_that_were_not_tested(report: Report) -> Iterator[Ailment]:
    """Whatever is not within the versions asked for, where all of its extra is installed."""
    absent = {package.extra for package in report.packages if package.extra and package.version is None}
    broken = {checkup.name for checkup in report.frameworks if checkup.state == "broken"}
    for package in report.packages:
        if package.version is None or package.fits or package.extra in absent | broken:
            continue
        asker = f"luthier[{package.extra}]" if package.extra else "luthier"
        what = f"{package.name} {package.version} is installed, {asker} is tested with {package.name}{package.needed}"
        yield Ailment(kind="untested", what=what, remedy=f"pip install '{package.name}{package.needed}'")


def cards_that_no_framework_sees(report: Report) -> Iterator[Ailment]:
    """An accelerator in the machine and none in the framework that would use it."""
    for kind, name, prefix, remedy in (
        ("NVIDIA", "torch", "cuda", "Install PyTorch's build for CUDA, and a driver that fits it"),
        ("Ascend", "mindspore", "ascend", "Install CANN for MindSpore's version, and source its set_env.sh"),
    ):
        checkup = report.framework(name)
        if checkup is None or checkup.state != "works" or not report.machine.cards.get(kind):
            continue
        if not any(device.name.startswith(prefix) for device in checkup.devices):
            yield Ailment(kind="missing", what=f"{name} does not see this machine's {kind} card", remedy=remedy)


def a_compiler_that_is_missing(report: Report) -> Iterator[Ailment]:
    """PyTorch compiles its graphs by C++."""
    torch = report.framework("torch")
    if torch is not None and torch.state == "works" and torch.compiler is None:
        what = "No C++ compiler: mode=graph on torch and score.runtime=torch-compiled need one"
        yield Ailment(kind="missing", what=what, remedy="Install g++, or set CXX to a compiler")


def convolutions_that_are_slow(report: Report) -> Iterator[Ailment]:
    """A user's own cap, or none where none could be tried."""
    convolutions, timings = report.convolutions, report.convolutions.timings
    if convolutions.library is None:
        return
    if timings is None:
        what = "MindSpore's convolutions could not be timed: they run as installed"
        yield Ailment(kind="slow", what=what, remedy="If a step is slow, set ONEDNN_MAX_CPU_ISA=AVX2 and compare")
    if convolutions.override is None:
        return
    variable, _, value = convolutions.override.partition("=")
    if value.upper() in CAPS_EVERYTHING:
        if "avx512f" in report.machine.instructions:
            what = f"{convolutions.override} keeps PyTorch from AVX-512 too"
            yield Ailment(kind="slow", what=what, remedy=f"unset {variable}: Luthier caps MindSpore's own library")
    elif timings is not None and timings.helps:
        what = f"{convolutions.override} leaves MindSpore's convolutions {timings.gain:.0f} times slower than at AVX2"
        yield Ailment(kind="slow", what=what, remedy=f"unset {variable}")


def threads_that_stand_in_each_other_s_way(report: Report) -> Iterator[Ailment]:
    """More threads than cores, and threads that spin while they wait."""
    machine = report.machine
    cores = min(machine.usable_cores, machine.core_quota or machine.usable_cores)
    asked = machine.threads.get("OMP_NUM_THREADS", "").partition(",")[0]
    if asked.isdigit() and int(asked) > max(1, cores):
        what = f"OMP_NUM_THREADS={asked} for {cores:g} cores"
        yield Ailment(kind="slow", what=what, remedy=f"export OMP_NUM_THREADS={max(1, int(cores))}")
    elif not asked and cores < machine.usable_cores:
        what = f"This container grants the time of {cores:g} cores, and threads start for {machine.usable_cores}"
        yield Ailment(kind="slow", what=what, remedy=f"export OMP_NUM_THREADS={max(1, int(cores))}")
    both = all((found := report.framework(name)) is not None and found.state == "works" for name in ENGINES)
    sleeps = machine.threads.get("OMP_WAIT_POLICY", "").upper() == "PASSIVE" or "GOMP_SPINCOUNT" in machine.threads
    if both and not sleeps and asked != "1" and 1 < machine.usable_cores <= FEW_CORES:
        what = f"PyTorch and MindSpore in one process spin against each other on {machine.usable_cores} cores"
        yield Ailment(kind="slow", what=what, remedy="export OMP_WAIT_POLICY=PASSIVE where both run at once")


def memory_and_disks_that_are_scarce(report: Report) -> Iterator[Ailment]:
    """Or that cannot be written to."""
    free = report.machine.memory_free_mb
    if free is not None and free < ENOUGH_MEMORY_MB:
        what = f"{free:,} MB of memory are free"
        yield Ailment(kind="scarce", what=what, remedy="End other programs, or set a smaller data.batch_size")
    for space in report.spaces:
        if not space.writable:
            remedy = {"runs": "Start elsewhere, or give --out", "data sets": "Set LUTHIER_DATA, or give --data-root"}
            what = f"{space.path} for {space.use} cannot be written to"
            yield Ailment(kind="missing", what=what, remedy=remedy.get(space.use, "Set TMPDIR to a folder that can"))
        elif space.free_mb < ENOUGH_DISK_MB:
            what = f"{space.free_mb:,} MB are free for {space.use} in {space.path}"
            remedy = {"runs": "Free some, give --out, or set checkpoint.keep=1"}
            yield Ailment(kind="scarce", what=what, remedy=remedy.get(space.use, "Free some, or choose another disk"))


def data_sets_that_are_missing(report: Report) -> Iterator[Ailment]:
    """Or damaged; and the root that nobody named."""
    missing = [data for data in report.data_sets if data.state == "missing"]
    for data in report.data_sets:
        if data.state == "damaged":
            place = f" - at {data.place}" if data.place else ""
            what = f"{data.name} is damaged: {data.fault}{place}"
            yield Ailment(kind="broken", what=what, remedy=f"Remove it, and luthier data get {data.name}")
    if missing and not report.data_root_is_named:
        what = f"No data root is set: data sets are looked for in {report.data_roots[0]}"
        yield Ailment(kind="missing", what=what, remedy="export LUTHIER_DATA=DIR where you keep them, or --data-root")
    for data in missing:
        what = f"{data.name} is not in {' or '.join(report.data_roots)}"
        yield Ailment(kind="missing", what=what, remedy=f"luthier data get {data.name}")


RULES: tuple[Rule, ...] = (
    frameworks_that_fail,
    packages_that_are_missing,
    versions_that_were_not_tested,
    cards_that_no_framework_sees,
    a_compiler_that_is_missing,
    convolutions_that_are_slow,
    threads_that_stand_in_each_other_s_way,
    memory_and_disks_that_are_scarce,
    data_sets_that_are_missing,
)
