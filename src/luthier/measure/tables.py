"""Measurements as a table in the course's columns, with size and score, in English or Chinese."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from luthier.errors import RecipeError, unknown
from luthier.measure.aligning import aligned, markdown
from luthier.measure.measurement import Measurement

__all__ = ["Language", "layers_text", "markdown_table", "text_table"]

Language = Literal["en", "zh"]
NONE = "–"


@dataclass(frozen=True, kw_only=True)
class Column:
    """What stands in it; one that has `digits` also says how far it is from the baseline's."""

    en: str
    zh: str
    value: Callable[[Measurement], str | float | None]
    digits: int | None = None

    def head(self, language: Language) -> str:
        """Its heading."""
        return self.zh if language == "zh" else self.en

    def cell(self, row: Measurement, baseline: Measurement | None) -> str:
        """Text; the baseline's own row says nothing of itself."""
        value = self.value(row)
        if value is None or isinstance(value, str):
            return value or NONE
        if self.digits is None:
            return f"{value:g}"
        before = self.value(baseline) if baseline is not None and baseline is not row else None
        change = "" if before is None else f" ({float(value) - float(before):+.{self.digits}f})"
        return f"{value:.{self.digits}f}{change}"


def _rounded(epochs: float) -> float:
    """Where steps cut them: two places behind the point, or within the first epoch two digits."""
    return round(epochs, 2) if epochs >= 1 else float(f"{epochs:.2g}")


COLUMNS = (
    Column(en="name", zh="名称", value=lambda row: row.name),
    Column(en="batch size", zh="批大小", value=lambda row: row.batch_size),
    Column(en="epochs", zh="轮数", value=lambda row: _rounded(row.epochs)),
    Column(en="learning rate", zh="学习率", value=lambda row: row.learning_rate),
    Column(en="decay type", zh="衰减方式", value=lambda row: row.schedule),
    Column(en="optimizer", zh="优化器", value=lambda row: row.optimizer),
    Column(en="parameters (M)", zh="参数量 (M)", value=lambda row: row.parameters / 1e6, digits=3),
    Column(en="latency (ms)", zh="时延 (ms)", value=lambda row: row.latency_ms, digits=3),
    Column(en="accuracy (%)", zh="准确率 (%)", value=lambda row: row.accuracy, digits=2),
    Column(en="size (MB)", zh="大小 (MB)", value=lambda row: row.size_mb, digits=3),
    Column(en="score", zh="得分", value=lambda row: row.score, digits=2),
)


def text_table(rows: Sequence[Measurement], *, baseline: Measurement | None = None, language: Language = "en") -> str:
    """For a terminal: the rows, the conditions they were measured under, and what was left out."""
    head, *body = _cells(rows, baseline, language)
    return "\n".join([aligned([*_folded(head), *body]), "", *_conditions(rows, baseline, language)])


def markdown_table(
    rows: Sequence[Measurement], *, baseline: Measurement | None = None, language: Language = "en"
) -> str:
    """For a report: the same."""
    conditions = "  \n".join(_conditions(rows, baseline, language))
    return f"{markdown(_cells(rows, baseline, language))}\n\n{conditions}"


def layers_text(row: Measurement) -> str:
    """The parameters of each layer, and all of them."""
    lines = [["layer", "kind", "shapes", "parameters"]]
    for layer in row.layers:
        shapes = ", ".join(f"{name} {'×'.join(map(str, shape))}" for name, shape in layer.shapes.items())
        frozen = f" (+{layer.frozen:,} frozen)" if layer.frozen else ""
        lines.append([layer.name or NONE, layer.kind, shapes, f"{layer.trainable:,}{frozen}"])
    stored = [("trainable", row.sizes.trainable), ("frozen", row.sizes.frozen), ("buffers", row.sizes.buffers)]
    sizes = [f"{what}: {count:,} bytes of {dtype}" for what, parts in stored for dtype, count in parts.items()]
    return "\n".join([aligned([*lines, ["all", "", "", f"{row.parameters:,}"]], left=3), *sizes])


def _cells(rows: Sequence[Measurement], baseline: Measurement | None, language: Language) -> list[list[str]]:
    if language not in ("en", "zh"):
        sentence, hint = unknown("language", language, ("en", "zh"))
        raise RecipeError(sentence, hint=hint)
    shown = _with_baseline(rows, baseline)
    return [
        [column.head(language) for column in COLUMNS],
        *([column.cell(row, baseline) for column in COLUMNS] for row in shown),
    ]


def _folded(head: Sequence[str]) -> list[list[str]]:
    """On two lines: columns of short numbers under long names would not fit a terminal."""
    parts = [heading.rpartition(" ") for heading in head]
    return [[first for first, _, _ in parts], [last for _, _, last in parts]]


def _with_baseline(rows: Sequence[Measurement], baseline: Measurement | None) -> list[Measurement]:
    return list(rows) if baseline is None else [baseline, *(row for row in rows if row is not baseline)]


def _conditions(rows: Sequence[Measurement], baseline: Measurement | None, language: Language) -> list[str]:
    """A latency or a score without them means nothing; rows under the same ones share a line."""
    shown = _with_baseline(rows, baseline)
    grouped: dict[str, list[str]] = {}
    for row in shown:
        grouped.setdefault(_condition(row, language), []).append(row.name)
    several = len(grouped) > 1
    lines = [f"{', '.join(names)}: {text}" if several else text for text, names in grouped.items()]
    return [*lines, *(f"{row.name}: {note}" for row in shown for note in row.notes)]


def _condition(row: Measurement, language: Language) -> str:
    weights, taken = row.protocol, row.latency
    score = {
        "en": f"score = {weights.accuracy:g}·accuracy − {weights.size:g}·size − {weights.latency:g}·latency",
        "zh": f"得分 = {weights.accuracy:g}·准确率 − {weights.size:g}·大小 − {weights.latency:g}·时延",
    }[language]
    if taken is None:
        return score
    statistic = {"median": "中位数", "mean": "平均值"}[taken.statistic]
    return {
        "en": f"latency: {taken.runtime} on {taken.device}, threads {taken.threads}, batch {taken.batch}, "
        f"{taken.statistic} of {taken.runs} runs after {taken.warmup} to warm up; {score}",
        "zh": f"时延：{taken.runtime}，{taken.device}，{taken.threads} 线程，批大小 {taken.batch}，"
        f"预热 {taken.warmup} 次后 {taken.runs} 次的{statistic}；{score}",
    }[language]
