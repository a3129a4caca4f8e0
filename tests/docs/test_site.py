"""The manual builds as a site that asks nobody else for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.generate import ROOT

pytest.importorskip("material", reason="the docs extra is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_it_has_every_page_in_both_languages(site: Path) -> None:
    for language in ("en", "zh"):
        pages = {page.stem for page in (ROOT / "docs" / language).glob("*.md")}
        assert pages == {page.stem for page in (site / language).glob("*.html")}


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"']?(https?://[^\"' >]+)", page.read_text()
        )
        assert loaded == [], page


def test_each_page_speaks_its_language_and_leads_to_the_other(site: Path) -> None:
    for language, other, contents in (("en", "zh", "Table of contents"), ("zh", "en", "目录")):
        html = (site / language / "recipes.html").read_text("utf-8")
        assert f'<html lang="{language}"' in html
        assert contents in html
        assert f"../{other}/recipes.html" in html


def test_the_schemas_are_part_of_it_and_the_program_is_not(site: Path) -> None:
    assert (site / "schemas" / "recipe.json").is_file()
    assert list(site.rglob("*.py")) == []
