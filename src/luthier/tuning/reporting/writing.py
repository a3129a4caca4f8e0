"""From a study to its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from luthier.errors import RecipeError, unknown
from luthier.measure import score as scored
from luthier.recipe import Range, to_toml
from luthier.tuning.reasons import alike
from luthier.tuning.recipes import best_recipe, changes
from luthier.tuning.records import Closed, Opened, Trial, describes
from luthier.tuning.reporting.blocks import Block, Code, Heading, Picture, Table, Text, to_html, to_markdown
from luthier.tuning.reporting.figures import FinalRow, final_rows, importance, searched, states
from luthier.tuning.reporting.summaries import summary
from luthier.tuning.reporting.words import NONE, Language, Words, signed, value_text
from luthier.tuning.study import Study, open_study, shown_time

__all__ = ["report"]

RESNET50_MB = 94.08  # 23,520,842 parameters of four bytes on ten classes
MOST = 15  # rows of a list
FEW = 6  # values that are listed one by one


def report(study: Path | str, *, language: Language = "en", output: Path | None = None) -> list[Path]:
    """Write `report.md` and `report.html`, and the picture that they show, into the study's folder or another."""
    if language not in ("en", "zh"):
        sentence, hint = unknown("language", language, ("en", "zh"))
        raise RecipeError(sentence, at="--language", hint=hint)
    opened = open_study(study)
    folder = output or opened.path
    folder.mkdir(parents=True, exist_ok=True)
    blocks = _blocks(opened, Words(language), folder)
    written = [folder / "report.md", folder / "report.html"]
    written[0].write_text(to_markdown(blocks), "utf-8")
    written[1].write_text(to_html(blocks, language=language), "utf-8")
    return written


def _blocks(study: Study, words: Words, folder: Path) -> list[Block]:
    return [
        Heading(words.say("title", name=study.recipe.name), 1),
        Text(_summary(study, words)),
        *_result(study, words),
        *summary(study, words, "model"),
        *summary(study, words, "training"),
        *_weights(study, words),
        *_front(study, words, folder),
        *_mattered(study, words),
        *_tried(study, words),
        *_best(study, words),
    ]


def _summary(study: Study, words: Words) -> str:
    plan, sessions = study.state.plan, study.state.sessions
    seconds = sum(entry.seconds for entry in sessions if isinstance(entry, Closed))
    workers = max((entry.workers for entry in sessions if isinstance(entry, Opened)), default=0)
    return words.say(
        "summary",
        trials=study.state.count,
        time=shown_time(seconds),
        workers=workers,
        searcher=plan.searcher,
        scheduler=plan.scheduler,
    )


def _result(study: Study, words: Words) -> list[Block]:
    rows = final_rows(study)
    head: list[Block] = [Heading(words.say("result"))]
    if not rows or study.best is None:
        return [*head, Text(words.say("no best"))]
    said = [Table([words.heads("columns"), *(_course_row(study, row) for row in rows)])]
    if not rows[-1].on_evaluation:
        note = words.say("validation only")
    else:
        fewest = min(len(row.accuracies) for row in rows)
        note = words.say("seeds", n=fewest) if fewest > 1 else words.say("one seed")
    gain = [Text(words.say("gain", gain=_gain(study, rows[0], rows[-1])))] if len(rows) > 1 else []
    return [*head, *said, Text(note), *gain]


def _course_row(study: Study, row: FinalRow) -> list[str]:
    strategy = row.recipe.strategy
    spread = f" ± {row.spread:.2f}" if row.spread is not None else ""
    return [
        row.name,
        str(row.recipe.data.batch_size),
        str(strategy.epochs if not strategy.steps else f"{strategy.steps} steps"),
        f"{strategy.learning_rate:.3g}",
        str(strategy.schedule.__struct_config__.tag),
        str(strategy.optimizer.__struct_config__.tag),
        f"{row.cost.parameters / 1e6:.3f}",
        f"{row.cost.latency_ms:.3f}",
        f"{row.accuracy:.2f}{spread}",
        f"{row.cost.size_mb:.3f}",
        f"{_score(study, row):.2f}",
    ]


def _score(study: Study, row: FinalRow) -> float:
    return study.state.score_of(row.accuracy, row.cost)


def _gain(study: Study, baseline: FinalRow, winner: FinalRow) -> str:
    return signed(_score(study, winner) - _score(study, baseline), 2)


def _weights(study: Study, words: Words) -> list[Block]:
    weights = study.recipe.score
    blocks: list[Block] = [Heading(words.say("weights"))]
    if weights.size > 0 and weights.latency > 0:
        worth = {"mb": weights.accuracy / weights.size, "ms": weights.accuracy / weights.latency}
        blocks.append(Text(words.say("rates", a=weights.accuracy, s=weights.size, l=weights.latency, **worth)))
    cost = weights.size * RESNET50_MB
    blocks.append(Text(words.say("resnet50", cost=cost, bound=scored(100.0, RESNET50_MB, 0.0, weights))))
    skipped = [trial for trial in study.state.of_kind("search") if trial.state == "skipped"]
    if skipped:
        largest = max(skipped, key=lambda trial: trial.cost.size_mb if trial.cost else 0.0)
        blocks.append(Text(words.say("skipped", n=len(skipped), why=words.reason(largest.reason))))
    return blocks


def _front(study: Study, words: Words, folder: Path) -> list[Block]:
    front = study.state.front()
    if not front:
        return []
    from luthier.tuning.drawing import draw_front

    picture = draw_front(study, folder / "front.png")
    rows = [
        [
            str(trial.number),
            f"{trial.accuracy or 0:.2f}",
            f"{trial.cost.size_mb:.3f}" if trial.cost else NONE,
            f"{trial.cost.latency_ms:.3f}" if trial.cost else NONE,
            f"{trial.score or 0:.2f}",
            describes(changes(study.recipe, trial.values)) or words.say("itself"),
        ]
        for trial in _at_most(front)
    ]
    return [
        Heading(words.say("front")),
        Text(words.say("front says")),
        Table([words.heads("front columns"), *rows], prose=(5,)),
        Picture(picture, words.say("picture")),
    ]


def _at_most(front: list[Trial]) -> list[Trial]:
    """The best of a long front, in its order."""
    chosen = sorted(front, key=lambda trial: -(trial.score or 0.0))[:MOST]
    return [trial for trial in front if trial in chosen]


def _mattered(study: Study, words: Words) -> list[Block]:
    epoch, shares = importance(study)
    if not shares:
        return [Heading(words.say("mattered")), Text(words.say("too few"))]
    rows = [[words.field(path), f"{100 * share:.0f} %"] for path, share in list(shares.items())[:MOST]]
    return [
        Heading(words.say("mattered")),
        Text(words.say("mattered says", epoch=epoch)),
        Table([words.heads("mattered columns"), *rows]),
    ]


def _tried(study: Study, words: Words) -> list[Block]:
    counted = states(study)
    rows = [[words.say(f"state {state}"), str(count)] for state, count in counted.most_common()]
    space = [
        [words.field(one.path), _range(one.range, words), _values(one.tried, words), value_text(one.best)]
        for one in searched(study)
    ]
    blocks: list[Block] = [
        Heading(words.say("tried")),
        Table([words.heads("space columns"), *space], prose=(1, 2, 3)),
        Table([words.heads("tried columns"), *rows]),
    ]
    failed = [trial.reason for trial in study.state.of_kind("search") if trial.state == "failed"]
    if failed:
        counts, examples = Counter(map(alike, failed)), {alike(text): text for text in reversed(failed)}
        reasons = [[words.reason(examples[kind]), str(count)] for kind, count in counts.most_common(MOST)]
        heads = words.heads("failed columns")
        blocks += [Heading(words.say("why failed"), 3), Table([heads, *reasons], prose=(0,))]
    return blocks


def _range(item: Range, words: Words) -> str:
    if item.choice is not None:
        text = words.list(map(value_text, item.choice))
    else:
        low, high = map(value_text, item.limits)
        text = words.say("between log" if item.log else "between", low=low, high=high)
    if not item.when:
        return text
    told = (f"{path} = {words.list(map(value_text, allowed))}" for path, allowed in item.when.items())
    return words.say("only where", text=text, conditions=words.list(told))


def _values(tried: Sequence[Any], words: Words) -> str:
    """Few one by one, of many the ends."""
    if len(tried) <= FEW or not all(isinstance(value, int | float) for value in tried):
        return words.list(map(value_text, tried)) or NONE
    low, high = value_text(min(tried)), value_text(max(tried))
    return words.say("values between", n=len(tried), low=low, high=high)


def _best(study: Study, words: Words) -> list[Block]:
    best = study.best
    if best is None:
        return []
    recipe = best_recipe(study.recipe, best.values, f"{study.recipe.name}-best")
    return [
        Heading(words.say("best")),
        Text(words.say("train it", path=study.path / "best.toml")),
        Code(to_toml(recipe)),
    ]
