"""The report of a real study, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from luthier.errors import RecipeError
from luthier.recipe import parse
from luthier.tuning import Study, report
from luthier.tuning.reporting.words import SENTENCES
from tests.cli.calling import luthier


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


def test_every_ablation_has_its_row(study: Study, written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    for trial in study.state.of_kind("ablation"):
        assert re.search(rf"^\| {re.escape(trial.label)} \|", text, re.MULTILINE)


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


def test_mistakes_get_a_sentence(tmp_path: Path, study: Study) -> None:
    said = luthier("report", tmp_path)
    assert said.code == 2
    assert "is no study" in said.err
    with pytest.raises(RecipeError, match="Unknown language 'fr'"):
        report(study.path, language="fr")  # type: ignore[arg-type]
