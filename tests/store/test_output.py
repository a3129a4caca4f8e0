"""Pictures that a user asks for: whole or not at all, and refused before they are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from luthier.errors import RecipeError, StoreError
from luthier.store import write_picture


def draw(file: BinaryIO, form: str) -> None:
    file.write(form.encode())


def never(file: BinaryIO, form: str) -> None:
    pytest.fail("drawn")


@pytest.mark.parametrize(("name", "form"), [("a.png", b"png"), ("a.JPG", b"jpeg"), ("new/er/a.pdf", b"pdf")])
def test_a_picture_takes_its_form_from_its_name_and_its_folder_is_made(tmp_path: Path, name: str, form: bytes) -> None:
    assert write_picture(tmp_path / name, draw).read_bytes() == form


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.pngg", r"Expected a picture such as a.png, got 'a.pngg'.*\n  Perhaps you meant '.*a.png'"),
        ("curves", r"Expected a picture such as curves.png, got 'curves'.*\n  Known: .jpeg, .jpg, .pdf, .png, .webp"),
        ("a.svg", r"Expected a picture"),
    ],
)
def test_a_form_that_is_not_known_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        write_picture(tmp_path / "new" / name, never)
    assert list(tmp_path.iterdir()) == []
    assert write_picture(tmp_path / "a.svg", draw, more=(".svg",)).read_bytes() == b"svg"


def test_a_folder_or_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="is a folder"):
        write_picture(tmp_path, never)
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"Could not make the folder of a\.png"):
        write_picture(tmp_path / "file" / "a.png", never)


def test_a_drawing_that_fails_leaves_the_picture_before(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"before")

    def broken(file: BinaryIO, form: str) -> None:
        file.write(b"half")
        raise KeyError

    with pytest.raises(KeyError):
        write_picture(tmp_path / "a.png", broken)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.png", b"before")]
