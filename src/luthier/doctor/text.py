"""A report as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator

from luthier.doctor.report import Convolutions, DataSet, Report
from luthier.engines import Checkup

__all__ = ["report_text"]

WIDTH = 14


def report_text(report: Report) -> str:
    """The facts in rows, then what to do."""
    parts = [f"luthier {report.luthier}, Python {report.python}, {report.platform}"]
    sections = (
        ("machine", _machine(report)),
        ("frameworks", (_framework(checkup) for checkup in report.frameworks)),
        ("packages", _packages(report)),
        ("MindSpore's convolutions", _convolutions(report.convolutions)),
        (f"data sets in {' or '.join(report.data_roots)}", (_data_set(data) for data in report.data_sets)),
    )
    for title, rows in sections:
        parts.append("\n".join([title, *(f"  {name:{WIDTH}}{told}".rstrip() for name, told in rows)]))
    if not report.ailments:
        return "\n\n".join([*parts, "Nothing is amiss."])
    todo = [f"  {ailment.kind:{WIDTH}}{ailment.what}\n  {'':{WIDTH}}{ailment.remedy}" for ailment in report.ailments]
    return "\n\n".join([*parts, "\n".join(["to do", *todo])])


def _machine(report: Report) -> Iterator[tuple[str, str]]:
    machine = report.machine
    usable = "" if machine.usable_cores == machine.cores else f", {machine.usable_cores} of them for this process"
    quota = f", the time of {machine.core_quota:g}" if machine.core_quota is not None else ""
    yield "processor", f"{machine.processor}, {machine.cores} cores{usable}{quota}"
    yield "instructions", " ".join(machine.instructions) or "not known"
    free, total = (f"{size:,} MB" if size is not None else "not known" for size in _memory(report))
    yield "memory", f"{free} free of {total}"
    for kind, count in machine.cards.items():
        yield "cards", f"{count} {kind}"
    yield "threads", ", ".join(f"{name}={value}" for name, value in machine.threads.items()) or "no variable set"
    for space in report.spaces:
        yield "disk" if space is report.spaces[0] else "", f"{space.free_mb:,} MB free for {space.use}: {space.path}"


def _memory(report: Report) -> tuple[int | None, int | None]:
    return report.machine.memory_free_mb, report.machine.memory_mb


def _framework(checkup: Checkup) -> tuple[str, str]:
    if checkup.state == "missing":
        return checkup.name, "not installed"
    if checkup.state == "broken":
        return checkup.name, f"{checkup.version or ''} does not work".strip()
    devices = ", ".join(device.name + (f" ({device.title})" if device.title else "") for device in checkup.devices)
    more = [checkup.instructions, _count(checkup.threads, "thread"), f"in {checkup.seconds or 0:.1f} s"]
    return checkup.name, f"{checkup.version} works on {devices}; {', '.join(filter(None, more))}"


def _count(number: int | None, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}" if number is not None else ""


def _packages(report: Report) -> Iterator[tuple[str, str]]:
    """Those of Luthier itself in one row, and a row for each extra."""
    extras = dict.fromkeys(package.extra for package in report.packages)
    for extra in extras:
        named = [f"{p.name} {p.version or 'missing'}" for p in report.packages if p.extra == extra]
        yield f"[{extra}]" if extra else "luthier", ", ".join(named)


def _convolutions(convolutions: Convolutions) -> Iterator[tuple[str, str]]:
    if convolutions.library is None:
        yield "", "There is no MindSpore with oneDNN for x86 here."
        return
    timings = convolutions.timings
    if timings is None:
        yield "", "They could not be timed."
    else:
        for name, timing in (("as installed", timings.as_installed), ("at AVX2", timings.capped)):
            yield name, f"{timing.ms:.3g} ms a small one, by {timing.kernel}"
    if convolutions.override is not None:
        yield "Luthier", f"leaves them to you: {convolutions.override}"
    elif timings is not None:
        yield "Luthier", "caps them" if timings.helps else "leaves them as installed"


def _data_set(data: DataSet) -> tuple[str, str]:
    if data.state == "found":
        return data.name, data.place or "comes with Luthier"
    return data.name, data.state
