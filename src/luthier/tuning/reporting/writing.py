"""From a study to its report."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

from luthier.errors import RecipeError, unknown
from luthier.measure import score as scored
from luthier.recipe import to_toml
from luthier.tuning.recipes import best_recipe
from luthier.tuning.records import Closed, Opened, Trial, describes
from luthier.tuning.reporting.blocks import Block, Code, Heading, Picture, Table, Text, to_html, to_markdown
from luthier.tuning.reporting.figures import Effect, FinalRow, effects, final_rows, importance, states
from luthier.tuning.reporting.words import Language, Words
from luthier.tuning.study import Study, open_study, shown_time

__all__ = ["report"]

RESNET50_MB = 94.08  # 23,520,842 parameters of four bytes on ten classes
MOST = 15  # rows of a list
NONE = "–"


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
    found = effects(study)
    return [
        Heading(words.say("title", name=study.recipe.name), 1),
        Text(_summary(study, words)),
        *_result(study, words),
        *_effects(study, words, "model", [effect for effect in found if effect.path.startswith("model.")]),
        *_effects(study, words, "training", [effect for effect in found if not effect.path.startswith("model.")]),
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
    gain = [Text(words.say("gain", gain=_score(study, rows[-1]) - _score(study, rows[0])))] if len(rows) > 1 else []
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
        blocks.append(Text(words.say("skipped", n=len(skipped), why=largest.reason)))
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
            describes(trial.values),
        ]
        for trial in _at_most(front)
    ]
    return [
        Heading(words.say("front")),
        Text(words.say("front says")),
        Table([words.heads("front columns"), *rows]),
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
    rows = [[path, f"{100 * share:.0f} %"] for path, share in list(shares.items())[:MOST]]
    return [
        Heading(words.say("mattered")),
        Text(words.say("mattered says", epoch=epoch)),
        Table([words.heads("mattered columns"), *rows]),
    ]


def _effects(study: Study, words: Words, what: str, found: list[Effect]) -> list[Block]:
    if not found:
        return [Heading(words.say(what)), Text(words.say("no effects"))]
    rows = [
        [
            effect.path,
            _shown(effect.before),
            _shown(effect.after),
            NONE if effect.accuracy is None else f"{effect.accuracy:+.2f}",
            f"{effect.size_mb:+.3f}",
            f"{effect.latency_ms:+.3f}",
            effect.reason.partition("\n")[0] if effect.score is None else f"{effect.score:+.2f}",
        ]
        for effect in found
    ]
    return [
        Heading(words.say(what)),
        Text(words.say("effects says", noise=_noise(study, words))),
        Table([words.heads("effects columns"), *rows]),
    ]


def _noise(study: Study, words: Words) -> str:
    """Two standard deviations of a difference, from the seeds' spread."""
    spreads = [row.spread for row in final_rows(study) if row.spread is not None]
    return words.say("noise", points=2 * sqrt(2) * max(spreads)) if spreads else ""


def _tried(study: Study, words: Words) -> list[Block]:
    counted = states(study)
    rows = [[words.say(f"state {state}"), str(count)] for state, count in counted.most_common()]
    blocks: list[Block] = [Heading(words.say("tried")), Table([words.heads("tried columns"), *rows])]
    failed = Counter(
        trial.reason.partition("\n")[0] for trial in study.state.of_kind("search") if trial.state == "failed"
    )
    if failed:
        reasons = [[reason, str(count)] for reason, count in failed.most_common(MOST)]
        blocks += [Heading(words.say("why failed"), 3), Table([words.heads("failed columns"), *reasons])]
    return blocks


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


def _shown(value: Any) -> str:
    if value is None:
        return NONE
    return f"{value:.4g}" if isinstance(value, float) else str(value)
