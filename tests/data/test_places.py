from __future__ import annotations

from pathlib import Path

import pooch
import pytest

from luthier.data import names, open_source
from luthier.data.places import roots
from luthier.data.registry import register
from luthier.errors import DataError


def test_a_root_that_is_named_is_the_only_one(tmp_path: Path) -> None:
    assert roots(tmp_path) == (tmp_path,)


def test_without_one_it_is_the_environments_then_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Path(pooch.os_cache("luthier")) / "data"
    monkeypatch.setenv("LUTHIER_DATA", str(tmp_path))
    assert roots() == (tmp_path, cache)
    monkeypatch.delenv("LUTHIER_DATA")
    assert roots() == (cache,)


def test_a_root_may_start_at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somebody")
    assert roots("~/sets") == (Path("/somebody/sets"),)


def test_a_set_that_is_nowhere_names_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LUTHIER_DATA", str(tmp_path / "mine"))
    with pytest.raises(DataError) as caught:
        open_source("mnist")
    assert str(tmp_path / "mine" / "mnist") in str(caught.value)
    assert str(Path(pooch.os_cache("luthier")) / "data" / "mnist") in str(caught.value)
    assert "luthier data get mnist" in str(caught.value)


def test_a_root_that_was_named_is_named_in_the_command_that_would_fetch_into_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"`luthier data get mnist --data-root {tmp_path}/new`"):
        open_source("mnist", root=tmp_path / "new")
    with pytest.raises(DataError, match="--data-root 'my sets'`"):
        open_source("cifar10", root="my sets")


def test_every_source_is_known_by_its_name() -> None:
    assert names() == ("cifar10", "cifar100", "digits", "fashion-mnist", "folder", "mindrecord", "mnist")


def test_an_unknown_set_is_refused_with_the_nearest() -> None:
    with pytest.raises(DataError, match="Unknown data set 'cifar-10'\n  Perhaps you meant 'cifar10'"):
        open_source("cifar-10")


def test_a_name_cannot_be_registered_twice() -> None:
    names()
    with pytest.raises(ValueError, match="'cifar10' is registered already"):
        register("cifar10", lambda place: open_source("digits"))
