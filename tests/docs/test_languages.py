"""The English and the Chinese pages say the same."""

from __future__ import annotations

import re

import pytest

from tests.docs.reading import PAGES, PAIRS, Page

NAMES = [english.path.name for english, _ in PAIRS]
both = pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=NAMES)


def numbers(page: Page) -> list[list[str]]:
    """Those in the cells of tables, as they are written."""
    return [re.findall(r"\d[\d.,]*", " ".join(row)) for row in page.rows]


def test_every_page_is_there_in_both() -> None:
    assert len(PAGES) == 2 * len(PAIRS)
    assert all(chinese.path.is_file() for _, chinese in PAIRS)


@both
def test_they_have_the_same_headings_by_number_and_level(english: Page, chinese: Page) -> None:
    assert english.levels == chinese.levels


@both
def test_they_show_the_same_code(english: Page, chinese: Page) -> None:
    assert english.blocks == chinese.blocks


@both
def test_the_same_parts_are_generated(english: Page, chinese: Page) -> None:
    assert english.parts == chinese.parts


@both
def test_their_tables_have_the_same_shape(english: Page, chinese: Page) -> None:
    assert [len(row) for row in english.rows] == [len(row) for row in chinese.rows]


@pytest.mark.parametrize(("english", "chinese"), PAIRS[:1], ids=NAMES[:1])
def test_the_readmes_tables_have_the_same_numbers(english: Page, chinese: Page) -> None:
    assert english.name == "README.md"
    assert numbers(english) == numbers(chinese)


@both
def test_they_link_to_the_same_pages(english: Page, chinese: Page) -> None:
    def links(page: Page) -> list[str]:
        found = re.findall(r"\]\(([^)]+)\)", page.prose)
        return sorted(link.replace("docs/zh", "docs/en").replace("README.zh-CN.md", "README.md") for link in found)

    assert links(english) == links(chinese)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_a_page_links_to_what_is_there(page: Page) -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)", page.prose) if not link.startswith("http")]
    assert [link for link in links if not (page.path.parent / link).is_file()] == []
