"""What is generated is fresh, and what is stale is named."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from docs.blocks import KINDS, block
from docs.chinese import CHINESE
from docs.records import fields_of
from docs.words import Language

import luthier.recipe as recipe
from docs import generate, words
from luthier.store import Latency, Result
from luthier.zoo import names
from tests.docs.reading import PAGES

SECTIONS = (
    *(recipe.Recipe, recipe.Data, recipe.Normalize, recipe.Model, recipe.Strategy),
    *(recipe.Checkpoint, recipe.Record, recipe.Stop, recipe.Score, recipe.ParameterGroup),
)


@pytest.fixture(scope="module")
def expected() -> dict[Any, str]:
    return generate.expected()


class TestFreshness:
    def test_every_generated_part_is_what_the_program_gives(self, expected: dict[Any, str]) -> None:
        stale = [path.name for path, text in expected.items() if path.read_text("utf-8") != text]
        assert stale == [], "run `make generate`"

    def test_every_sentence_from_the_program_has_its_chinese(self, expected: dict[Any, str]) -> None:
        assert expected
        assert words.unsaid() == [], "add them to docs/chinese.py"

    def test_no_chinese_is_left_of_what_the_program_says_no_more(self, expected: dict[Any, str]) -> None:
        shown = "\n".join(text for path, text in expected.items() if path.parent.name == "zh")
        written = {english: other.rstrip("。").replace("|", "\\|") for english, other in CHINESE.items()}
        assert [english for english, other in written.items() if other not in shown] == []


class TestRefreshing:
    STALE = "# A page\n\n<!-- generated: errors -->\nold\n<!-- /generated -->\n\nText.\n"

    def test_only_the_part_changes(self) -> None:
        made = generate.refreshed(self.STALE, "en")
        assert made.startswith("# A page\n\n<!-- generated: errors -->\n\n```text\nLuthierError")
        assert made.endswith("<!-- /generated -->\n\nText.\n")

    def test_a_second_time_changes_nothing(self) -> None:
        made = generate.refreshed(self.STALE, "en")
        assert generate.refreshed(made, "en") == made

    def test_a_kind_that_is_not_there_is_named(self) -> None:
        with pytest.raises(ValueError, match="'fieldz'"):
            generate.refreshed(self.STALE.replace("errors", "fieldz"), "en")

    def test_only_commands_of_ours_are_run(self) -> None:
        with pytest.raises(ValueError, match="rm"):
            block("console", "rm -rf x", "en")

    def test_every_kind_is_used(self) -> None:
        used = {part.split()[0] for page in PAGES for part in page.parts}
        assert set(KINDS) <= used


class TestCompleteness:
    @pytest.mark.parametrize("kind", SECTIONS)
    def test_every_field_of_a_recipe_has_a_meaning(self, kind: Any) -> None:
        assert [field.record.name for field in fields_of(kind) if not field.meaning] == []

    @pytest.mark.parametrize("kind", [Result, Latency])
    def test_every_field_of_a_result_has_one(self, kind: Any) -> None:
        said_by_the_one_before = {"top5", "loss", "samples", "validation_loss"}
        without = {field.record.name for field in fields_of(kind) if not field.meaning}
        assert without <= said_by_the_one_before

    def test_nothing_is_said_of_a_field_that_is_gone(self) -> None:
        kinds = [*SECTIONS, Result, Latency, *(base for kind in get_args(recipe.Schedule) for base in kind.__mro__)]
        kinds += [base for kind in get_args(recipe.Optimizer) for base in kind.__mro__]
        known = {f"{kind.__name__}.{name}" for kind in kinds for name in getattr(kind, "__annotations__", {})}
        assert set(words.ADDED) <= known

    @pytest.mark.parametrize("language", ["en", "zh"])
    def test_every_network_has_its_table(self, language: Language) -> None:
        page = next(page for page in PAGES if page.name == f"docs/{language}/networks.md")
        shown = {name for part in page.parts if part.startswith("network ") for name in part.split()[1:]}
        assert shown == set(names())

    @pytest.mark.parametrize("language", ["en", "zh"])
    def test_every_shipped_recipe_is_shown(self, language: Language) -> None:
        page = next(page for page in PAGES if page.name == f"docs/{language}/baselines.md")
        assert [part for part in page.parts if part.startswith("recipe ")] == [
            f"recipe {name}" for name in sorted(recipe.shipped(), key=page.text.index)
        ]
        assert all(f"recipe {name}" in page.parts for name in recipe.shipped())
