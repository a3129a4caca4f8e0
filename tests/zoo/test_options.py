"""A recipe's options against a factory's signature."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from luthier import zoo
from luthier.errors import ModelError
from luthier.recipe import Model
from luthier.zoo.options import arguments

GIVEN = {"num_classes": 10, "shape": (32, 32, 3)}


def build(name: str = "lenet5", **options: Any) -> Any:
    return zoo.build(Model(name=name, options=options), shape=(32, 32, 3), num_classes=10)


def test_whole_numbers_pass_for_numbers_and_lists_for_tuples() -> None:
    assert build(width=2)[0].out_channels == 12
    assert build(width=[5, 7])[0].out_channels == 5


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("lenet5", {"witdh": 2}, "Unknown option 'witdh' of lenet5 - at model.options.witdh\n  Perhaps you meant 'width'."),
    ("lenet5", {"num_classes": 5}, "Unknown option 'num_classes' of lenet5 - at model.options.num_classes"),
    ("lenet5", {"width": "wide"}, "Expected a number or a list, got 'wide' - at model.options.width"),
    ("lenet5", {"width": 0}, "Expected a number above 0, got 0 - at model.options.width"),
    ("lenet5", {"width": [6, "x"]}, "Expected a whole number, got 'x' - at model.options.width.1"),
    ("lenet5", {"kernel": 0}, "Expected a whole number of at least 1, got 0 - at model.options.kernel"),
    ("lenet5", {"depth": 1.5}, "Expected a whole number, got 1.5 - at model.options.depth"),
    ("lenet5", {"bypass": 1}, "Expected true or false, got 1 - at model.options.bypass"),
    ("lenet5", {"dropout": 1.0}, "Expected a number below 1, got 1.0 - at model.options.dropout"),
    ("lenet5", {"dense": True}, "Expected a list, got true - at model.options.dense"),
    (
        "lenet5",
        {"pooling": "maxx"},
        "Expected one of 'max', 'avg', 'stride', got 'maxx' - at model.options.pooling\n  Perhaps you meant 'max'.",
    ),
    ("resnet18", {"stem": 7}, "Expected text, got 7 - at model.options.stem"),
    ("resnet", {}, "resnet needs the option 'block' - at model.options"),
]


@pytest.mark.parametrize(("name", "options", "message"), FAULTS, ids=[str(case[1]) for case in FAULTS])
def test_a_wrong_option_gives_one_sentence_with_its_place(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        build(name, **options)
    assert str(caught.value).startswith(message)


def test_a_user_s_factory_is_called_with_what_it_takes() -> None:
    def nothing() -> None: ...
    def classes(num_classes: int) -> None: ...
    def shaped(shape: Any, *, width: int = 3) -> None: ...
    def anything(**options: Any) -> None: ...

    assert arguments(nothing, "net", {}, GIVEN) == {}
    assert arguments(classes, "net", {}, GIVEN) == {"num_classes": 10}
    assert arguments(shaped, "net", {"width": 5}, GIVEN) == {"shape": (32, 32, 3), "width": 5}
    assert arguments(anything, "net", {"any": "x"}, GIVEN) == {"num_classes": 10, "any": "x"}


def test_an_annotation_that_cannot_be_resolved_or_expressed_is_not_checked() -> None:
    def unresolved(width: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821
    def inexpressible(width: int | None = None, *, path: Path = Path()) -> None: ...

    assert arguments(unresolved, "net", {"width": "x"}, GIVEN) == {"width": "x"}
    assert arguments(inexpressible, "net", {"path": "x"}, GIVEN) == {"path": "x"}
    with pytest.raises(ModelError, match=r"Expected a whole number, got 'x' - at model\.options\.width"):
        arguments(inexpressible, "net", {"width": "x"}, GIVEN)
