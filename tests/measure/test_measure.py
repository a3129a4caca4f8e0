from __future__ import annotations

from importlib import import_module

measure = import_module("luthier.measure")


def test_the_door_lists_what_it_has_in_order() -> None:
    assert measure.__all__ == sorted(measure.__all__)
    assert all(hasattr(measure, name) for name in measure.__all__)
