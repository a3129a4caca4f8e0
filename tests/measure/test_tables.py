from __future__ import annotations

import pytest
from msgspec.structs import replace

from luthier.errors import RecipeError
from luthier.measure import Layer, Measurement, Sizes, layers_text, markdown_table, text_table
from luthier.measure.aligning import aligned, markdown
from luthier.recipe import Score
from luthier.store import Latency

CONDITIONS = Latency(runtime="torch-eager", threads=1, batch=1, warmup=5, runs=100, statistic="mean", device="cpu")
BASELINE = Measurement(
    name="course",
    run=None,
    step=None,
    network="lenet5",
    batch_size=32,
    epochs=50,
    learning_rate=0.01,
    schedule="cosine",
    optimizer="momentum",
    parameters=61_984,
    size_mb=0.247936,
    latency_ms=0.53,
    latency=CONDITIONS,
    accuracy=66.3,
    score=32.98,
    protocol=Score(),
    layers=(
        Layer(name="conv1", kind="Conv2d", shapes={"weight": (6, 3, 5, 5)}, trainable=450),
        Layer(name="fc3", kind="Linear", shapes={"weight": (10, 84), "bias": (10,)}, trainable=840, frozen=10),
    ),
    sizes=Sizes(trainable={"float32": 247_936}, frozen={}, buffers={"int64": 8}),
)
UNTRAINED = replace(BASELINE, name="untrained", accuracy=None, score=None, latency_ms=0.25, notes=("No file size: x",))


def test_markdown_has_the_courses_columns_then_size_and_score() -> None:
    assert markdown_table([BASELINE]) == (
        "| name | batch size | epochs | learning rate | decay type | optimizer | parameters (M) | latency (ms) "
        "| accuracy (%) | size (MB) | score |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| course | 32 | 50 | 0.01 | cosine | momentum | 0.062 | 0.530 | 66.30 | 0.248 | 32.98 |\n"
        "\n"
        "latency: torch-eager on cpu, threads 1, batch 1, mean of 100 runs after 5 to warm up; "
        "score = 0.5·accuracy − 0.35·size − 0.15·latency"
    )


def test_a_terminal_gets_aligned_columns_under_folded_headings() -> None:
    assert text_table([BASELINE, UNTRAINED]).splitlines() == [
        "           batch          learning   decay             parameters  latency  accuracy   size",
        "name        size  epochs      rate    type  optimizer         (M)     (ms)       (%)   (MB)  score",
        "course        32      50      0.01  cosine   momentum       0.062    0.530     66.30  0.248  32.98",
        "untrained     32      50      0.01  cosine   momentum       0.062    0.250         –  0.248      –",
        "",
        "latency: torch-eager on cpu, threads 1, batch 1, mean of 100 runs after 5 to warm up; "
        "score = 0.5·accuracy − 0.35·size − 0.15·latency",
        "untrained: No file size: x",
    ]


def test_the_baseline_comes_first_and_the_others_say_how_far_they_are_from_it() -> None:
    better = replace(BASELINE, name="mine", accuracy=70.0, score=34.9)
    lines = markdown_table([better, BASELINE, UNTRAINED], baseline=BASELINE).splitlines()
    assert lines[2].endswith("| 0.062 | 0.530 | 66.30 | 0.248 | 32.98 |")
    assert lines[3].endswith("| 0.062 (+0.000) | 0.530 (+0.000) | 70.00 (+3.70) | 0.248 (+0.000) | 34.90 (+1.92) |")
    assert lines[4].endswith("| 0.062 (+0.000) | 0.250 (-0.280) | – | 0.248 (+0.000) | – |")
    assert lines[5] == ""


def test_rows_that_were_measured_otherwise_say_so_each() -> None:
    other = replace(BASELINE, name="other", latency=replace(CONDITIONS, threads=2))
    unmeasured = replace(BASELINE, name="bare", latency=None, latency_ms=None)
    told = text_table([BASELINE, other, unmeasured]).splitlines()[-3:]
    assert [line.split(":")[0] for line in told] == ["course", "other", "bare"]
    assert "threads 2" in told[1]
    assert told[2] == "bare: score = 0.5·accuracy − 0.35·size − 0.15·latency"


def test_chinese_headings_align_by_their_width() -> None:
    lines = text_table([BASELINE], language="zh").splitlines()
    assert lines[:3] == [
        "                                                  参数量   时延  准确率   大小",
        "名称    批大小  轮数  学习率  衰减方式    优化器     (M)   (ms)     (%)   (MB)   得分",
        "course      32    50    0.01    cosine  momentum   0.062  0.530   66.30  0.248  32.98",
    ]
    assert lines[-1].startswith(
        "时延：torch-eager，cpu，1 线程，批大小 1，预热 5 次后 100 次的平均值；得分 = 0.5·准确率"
    )
    with pytest.raises(RecipeError, match="Unknown language 'fr'"):
        text_table([BASELINE], language="fr")  # type: ignore[arg-type]


def test_the_layers_stand_below_each_other_with_all_of_them_at_the_end() -> None:
    assert layers_text(BASELINE).splitlines() == [
        "layer  kind    shapes                       parameters",
        "conv1  Conv2d  weight 6×3×5×5                      450",
        "fc3    Linear  weight 10×84, bias 10  840 (+10 frozen)",
        "all                                             61,984",
        "trainable: 247,936 bytes of float32",
        "buffers: 8 bytes of int64",
    ]


def test_a_bar_in_a_name_does_not_end_a_markdown_cell() -> None:
    assert markdown([["a|b"], ["c"]]) == "| a\\|b |\n| --- |\n| c |"


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert aligned([["a", "bcd"], ["ef", "g"]]) == "a   bcd\nef    g"


@pytest.mark.parametrize(
    ("epochs", "shown"), [(0.0640205, "0.064"), (0.5, "0.5"), (1.36363, "1.36"), (90.0, "90"), (1234.0, "1234")]
)
def test_epochs_that_steps_cut_are_rounded(epochs: float, shown: str) -> None:
    row = markdown_table([replace(BASELINE, epochs=epochs)]).splitlines()[2]
    assert row.split(" | ")[2] == shown
