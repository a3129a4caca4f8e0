"""The course's two summaries: what each change of the model did, and what each setting of the training did."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from luthier.tuning.reporting.blocks import Block, Heading, Table, Text
from luthier.tuning.reporting.figures import Effect, effects, final_rows, kept_settings
from luthier.tuning.reporting.words import NONE, Words, signed, value_text
from luthier.tuning.study import Study

__all__ = ["summary"]

SHOWN = 0.005  # points of score: what rounds to nothing is called nothing


def summary(study: Study, words: Words, group: str) -> list[Block]:
    """A conclusion in words, then the measurements, then what was not changed."""
    found = effects(study, group)
    blocks: list[Block] = [Heading(words.say(group))]
    if not found:
        blocks.append(Text(words.say("no effects")))
    else:
        noise = _noise(study)
        told = words.say("noise", points=noise) if noise else ""
        blocks += [
            Text(words.say("effects says", noise=told).rstrip()),
            Table([words.heads("effects columns"), *(_row(effect, words) for effect in found)]),
            *_conclusions(
                [effect for effect in found if effect.path != group], words, noise * study.recipe.score.accuracy
            ),
        ]
    kept = kept_settings(study, group, found)
    if kept and study.best is not None:
        told = words.list(f"{words.name(path)} = {value_text(value)}" for path, value in kept.items())
        blocks.append(Text(words.say("kept", fields=told)))
    return blocks


def _row(effect: Effect, words: Words) -> list[str]:
    together = "." not in effect.path
    after = value_text(effect.after)
    return [
        words.say("together") if together else words.field(effect.path),
        NONE if together else value_text(effect.before),
        NONE if together else words.say("kept value", value=after) if effect.kept else after,
        NONE if effect.accuracy is None else signed(effect.accuracy, 2),
        signed(effect.size_mb, 3),
        signed(effect.latency_ms, 3),
        words.reason(effect.reason) if effect.score is None else signed(effect.score, 2),
    ]


def _conclusions(found: Sequence[Effect], words: Words, chance: float) -> list[Block]:
    """Who raised the score, who lowered it, and for whom it cannot be said."""
    known = [(effect, effect.score) for effect in found if effect.score is not None]
    least = max(chance, SHOWN)
    groups = {
        "raised": [(effect, score) for effect, score in known if score >= least],
        "lowered": [(effect, score) for effect, score in known if score <= -least],
        "by chance" if chance else "unchanged": [(effect, score) for effect, score in known if abs(score) < least],
    }
    return [
        Text(words.say(which, fields=words.list(f"{words.name(one.path)} ({signed(score, 2)})" for one, score in part)))
        for which, part in groups.items()
        if part
    ]


def _noise(study: Study) -> float:
    """Two standard deviations of a difference in accuracy, from the seeds' spread; 0 where there is none."""
    spreads = [row.spread for row in final_rows(study) if row.spread is not None]
    return 2 * sqrt(2) * max(spreads, default=0.0)
