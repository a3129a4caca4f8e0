"""An evaluation for people: its figures, and which class was taken for which."""

from __future__ import annotations

from luthier.measure.aligning import aligned
from luthier.measure.evaluating import Evaluation

__all__ = ["confusion_text", "metrics_text"]

WIDEST = 20  # classes beside each other in a terminal
PAIRS = 20


def metrics_text(evaluation: Evaluation) -> str:
    """One line."""
    top5 = "" if evaluation.top5 is None else f"top-5 {evaluation.top5:.2f} %, "
    return (
        f"accuracy {evaluation.accuracy:.2f} %, {top5}loss {evaluation.loss:.4f} on {evaluation.samples:,} images of "
        f"{evaluation.data} ({evaluation.split}), at step {evaluation.step:,}"
    )


def confusion_text(evaluation: Evaluation) -> str:
    """A row for each true class, a column for each predicted one; of many classes the most frequent mistakes alone."""
    if len(evaluation.classes) > WIDEST:
        return _mistakes(evaluation)
    head = ["true \\ predicted", *(str(number) for number in range(len(evaluation.classes))), "right"]
    rows = [
        [
            name if name == str(number) else f"{number} {name}",
            *(str(count) for count in counts),
            _share(counts[number], sum(counts)),
        ]
        for number, (name, counts) in enumerate(zip(evaluation.classes, evaluation.confusion, strict=True))
    ]
    return aligned([head, *rows])


def _mistakes(evaluation: Evaluation) -> str:
    classes = evaluation.classes
    pairs = [
        (count, sum(counts), classes[true], classes[predicted])
        for true, counts in enumerate(evaluation.confusion)
        for predicted, count in enumerate(counts)
        if count and true != predicted
    ]
    worst = sorted(pairs, key=lambda pair: -pair[0])[:PAIRS]
    rows = [[true, predicted, str(count), _share(count, total)] for count, total, true, predicted in worst]
    return aligned([["true", "predicted", "images", "of the class"], *rows], left=2)


def _share(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %" if total else "–"
