from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from luthier.errors import DataError, RecipeError
from luthier.measure import Evaluation, confusion_text, evaluate_run, metrics_text
from luthier.store import Run

SMALL = Evaluation(
    run="runs/a",
    step=1200,
    data="pets",
    split="eval",
    classes=("cat", "dog", "3"),
    accuracy=75.0,
    top5=None,
    loss=0.5,
    samples=4,
    confusion=((2, 1, 0), (0, 1, 0), (0, 0, 0)),
)


def test_the_evaluation_set_gives_what_the_training_wrote_down_averaged_weights_and_all(trained_once: Run) -> None:
    result, evaluation = trained_once.result(), evaluate_run(trained_once)
    assert result is not None
    assert (evaluation.accuracy, evaluation.top5, evaluation.samples) == (result.accuracy, result.top5, result.samples)
    assert evaluation.loss == pytest.approx(result.loss)
    assert (evaluation.split, evaluation.step, evaluation.data) == ("eval", result.steps, "digits")
    assert sum(map(sum, evaluation.confusion)) == 360


def test_the_held_back_part_gives_the_validation_accuracy(trained_once: Run) -> None:
    result = trained_once.result()
    assert result is not None
    evaluation = evaluate_run(trained_once.path, split="validation")
    assert evaluation.accuracy == result.validation_accuracy
    assert evaluation.samples == 287


def test_the_training_part_is_seen_whole_and_as_evaluation_sees_images(trained: Run) -> None:
    evaluation = evaluate_run(trained, split="train")
    assert evaluation.samples == 1437 - 287
    assert evaluate_run(trained, split="train") == evaluation
    recipe = trained.recipe
    plain = replace(recipe, data=replace(recipe.data, train=(), drop_remainder=False))
    assert evaluate_run(Run(trained.path, plain), split="train").confusion == evaluation.confusion


def test_another_checkpoint_is_another_network(trained_once: Run) -> None:
    first, *_, last = (int(path.name[5:]) for path in trained_once.checkpoints())
    assert evaluate_run(trained_once, checkpoint=first).step == first
    assert evaluate_run(trained_once, checkpoint=str(last)) == evaluate_run(trained_once)
    best = trained_once.result()
    assert best is not None
    assert evaluate_run(trained_once, checkpoint="best").step == best.best_step


def test_what_there_is_not_is_refused(trained: Run, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Unknown part 'valid'"):
        evaluate_run(trained, split="valid")
    with pytest.raises(RecipeError, match=r"no checkpoint of step 7 .*\n  Known: last, best, 35, 70"):
        evaluate_run(trained, checkpoint=7)
    with pytest.raises(RecipeError, match="'lenet5-digits' is a recipe, expected a run"):
        evaluate_run("lenet5-digits")


def test_the_metrics_are_one_line() -> None:
    assert metrics_text(SMALL) == "accuracy 75.00 %, loss 0.5000 on 4 images of pets (eval), at step 1,200"
    assert ", top-5 99.50 %, " in metrics_text(replace(SMALL, top5=99.5))


def test_the_confusion_matrix_has_a_row_for_each_true_class_by_name() -> None:
    assert confusion_text(SMALL).splitlines() == [
        "true \\ predicted  0  1  2    right",
        "0 cat             2  1  0   66.7 %",
        "1 dog             0  1  0  100.0 %",
        "2 3               0  0  0        –",
    ]


def test_of_many_classes_the_most_frequent_mistakes_are_named() -> None:
    classes = tuple(f"c{number}" for number in range(30))
    rows = [[0] * 30 for _ in range(30)]
    rows[3][4], rows[3][3], rows[7][1] = 2, 8, 5
    told = confusion_text(replace(SMALL, classes=classes, confusion=tuple(map(tuple, rows)))).splitlines()
    assert told == [
        "true  predicted  images  of the class",
        "c7    c1              5       100.0 %",
        "c3    c4              2        20.0 %",
    ]
