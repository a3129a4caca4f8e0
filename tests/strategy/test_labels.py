"""Label smoothing both ways, against PyTorch's loss."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from luthier.errors import RecipeError
from luthier.strategy import label_weights, uniform_smoothing


def test_the_course_s_smoothing_leaves_the_true_class_0_9_and_the_others_0_1_over_999() -> None:
    assert label_weights(1000, 0.1, "others") == (0.9, 0.1 / 999)


def test_pytorch_s_smoothing_gives_the_true_class_its_share_too() -> None:
    assert label_weights(10, 0.1, "all") == pytest.approx((0.91, 0.01))
    assert label_weights(10, 0.1) == label_weights(10, 0.1, "all")


@pytest.mark.parametrize("over", ["all", "others"])
def test_no_smoothing_leaves_the_true_class_everything(over: str) -> None:
    assert label_weights(10, 0.0, over) == (1.0, 0.0)  # type: ignore[arg-type]
    assert uniform_smoothing(10, 0.0, over) == 0.0  # type: ignore[arg-type]


@given(classes=st.integers(2, 1000), smoothing=st.floats(0, 0.5), over=st.sampled_from(["all", "others"]))
def test_the_weights_of_an_image_add_up_to_one(classes: int, smoothing: float, over: str) -> None:
    on, off = label_weights(classes, smoothing, over)  # type: ignore[arg-type]
    assert on + (classes - 1) * off == pytest.approx(1.0)


@pytest.mark.parametrize("over", ["all", "others"])
def test_a_framework_s_own_loss_gives_the_same_with_the_uniform_smoothing(over: str) -> None:
    logits = torch.from_numpy(np.random.default_rng(1).normal(size=(16, 10)))
    labels = torch.arange(16) % 10
    on, off = label_weights(10, 0.1, over)  # type: ignore[arg-type]
    weights = torch.full((16, 10), off, dtype=torch.float64)
    weights[torch.arange(16), labels] = on
    expected = -(weights * functional.log_softmax(logits, dim=1)).sum(dim=1).mean()
    smoothing = uniform_smoothing(10, 0.1, over)  # type: ignore[arg-type]
    torch.testing.assert_close(functional.cross_entropy(logits, labels, label_smoothing=smoothing), expected)


def test_a_smoothing_that_turns_the_label_around_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"less than each of the others - at strategy\.label_smoothing"):
        uniform_smoothing(2, 0.6, "others")
    assert uniform_smoothing(2, 0.5, "others") == 1.0


def test_one_class_has_no_others() -> None:
    with pytest.raises(RecipeError, match="two classes or more"):
        label_weights(1, 0.1, "others")
    assert label_weights(1, 0.1, "all") == (1.0, 0.1)
