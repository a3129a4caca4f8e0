"""The report of a real study, in both languages."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import msgspec
import pytest
from PIL import Image

from luthier.errors import LuthierError, RecipeError
from luthier.recipe import override, parse
from luthier.training import train as luthier_train
from luthier.tuning import Study, report
from luthier.tuning.reasons import REASONS, in_chinese, reason
from luthier.tuning.records import Asked, Cost, Costed, Ended, Entry, Failed
from luthier.tuning.reporting.words import FIELDS, SENTENCES
from luthier.tuning.space import ready_space, ready_spaces
from tests.cli.calling import luthier
from tests.tuning.conftest import small


@pytest.fixture(scope="module")
def written(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    report(study.path, output=folder)
    return folder


def test_it_has_the_courses_table_with_mean_and_spread(study: Study, written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| small")]
    assert len(rows) == (1 if study.best is study.trials[0] else 2)
    assert re.search(r"\d+\.\d\d ± \d+\.\d\d", rows[-1])
    assert "over 2 seeds, on the evaluation set" in text


def test_its_best_recipe_is_the_studys(study: Study, written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    found = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert found is not None
    assert parse(found[1], place="report") == parse((study.path / "best.toml").read_text("utf-8"), place="best.toml")


def test_it_says_what_the_weights_cost(written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    assert "A point of accuracy is worth 1.43 MB or 3.33 ms" in text
    assert "alone costs 32.9 points" in text


def test_reasons_are_told_in_chinese(study: Study, tmp_path: Path) -> None:
    """As the trials themselves gave them: read back from the sentences of the journal."""
    folder = Path(shutil.copytree(study.path, tmp_path / "study"))
    why = study.state.hopeless(Cost(parameters=1, size_mb=200.0, latency_ms=1.0))
    assert why is not None
    diverged = "The loss is nan at step 7, learning rate 0.5; the first gradient that is not finite: fc1.weight\n  Try"
    lines: list[Entry] = []
    for number, told in enumerate([diverged, diverged.replace("7", "9"), "ValueError: foreign", why], start=900):
        lines.append(Asked(at=0, trial=number, values={}))
        if told == why:
            cost = Cost(parameters=1, size_mb=200.0, latency_ms=1.0)
            lines += [Costed(at=0, trial=number, cost=cost)]
            lines += [Ended(at=0, trial=number, state="skipped", reason=told)]
        else:
            lines.append(Failed(at=0, trial=number, reason=told))
    with (folder / "journal.jsonl").open("ab") as file:
        file.writelines(msgspec.json.encode(line) + b"\n" for line in lines)
    report(folder, language="zh")
    text = (folder / "report.md").read_text("utf-8")
    assert "| 损失在第 7 步成为 nan，学习率 0.5；第一个非有限的梯度：fc1.weight | 2 |" in text
    assert "| ValueError: foreign | 1 |" in text
    assert "200 MB 和 1 ms 使得分即使在 100 % 时也只有 -20.15" in text


@pytest.mark.parametrize("key", list(REASONS))
def test_every_reason_is_read_back_from_its_english_sentence(key: str) -> None:
    english, chinese = REASONS[key]
    names = re.findall(r"{(\w+)}", english)
    assert sorted(names) == sorted(re.findall(r"{(\w+)}", chinese))
    values = {name: f"{name}-1.5" for name in names}
    assert in_chinese(reason(key, **values) + "\n  A hint.") == chinese.format(**values)


def test_what_training_and_networks_say_is_known(tmp_path: Path) -> None:
    """Their sentences stand elsewhere: should they change, their Chinese is missing."""
    with pytest.raises(LuthierError) as diverged:
        luthier_train(override(small(), ["strategy.learning_rate=1e30", "space={}"]), out=tmp_path)
    with pytest.raises(LuthierError) as no_image:
        luthier_train(override(small(), ["model.options.depth=5", "space={}"]), out=tmp_path)
    assert in_chinese(str(diverged.value)).startswith("损失在第")
    assert in_chinese(str(no_image.value)).startswith("lenet5 在 conv")


def test_the_page_needs_no_other_file_and_runs_nothing(written: Path) -> None:
    page = (written / "report.html").read_text("utf-8")
    assert 'src="data:image/png;base64,' in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    with Image.open(written / "front.png") as picture:
        assert picture.size == (960, 540)


def test_the_command_writes_chinese(study: Study, tmp_path: Path) -> None:
    said = luthier("report", study.path, "--language", "zh", "-o", tmp_path)
    assert (said.code, said.err) == (0, "")
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "基线与优胜者" in text
    assert "准确率" in text


def test_every_sentence_is_there_in_both_languages_with_the_same_values() -> None:
    for english, chinese in SENTENCES.values():
        assert sorted(re.findall(r"{[^}]*}", english)) == sorted(re.findall(r"{[^}]*}", chinese))
        assert english.count("|") == chinese.count("|")


def test_every_field_of_a_ready_space_has_its_chinese_name() -> None:
    assert {path for name in ready_spaces() for path in ready_space(name)} <= FIELDS.keys()


def test_mistakes_get_a_sentence(tmp_path: Path, study: Study) -> None:
    said = luthier("report", tmp_path)
    assert said.code == 2
    assert "is no study" in said.err
    with pytest.raises(RecipeError, match="Unknown language 'fr'"):
        report(study.path, language="fr")  # type: ignore[arg-type]
