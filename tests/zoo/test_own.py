"""The user's own network, by file.py:name, and everything that can be wrong with it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
from torch import nn

from luthier import zoo
from luthier.errors import DataError, ModelError
from luthier.recipe import Model

Write = Callable[[str], Path]

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self, num_classes: int, width: int = 4):
        super().__init__()
        self.fc = nn.Linear(width, num_classes)

def net(num_classes, shape, width: int = 4):
    module = Net(num_classes, width)
    module.seen = shape
    return module

def broken(num_classes):
    return step(num_classes)

def step(num_classes):
    raise KeyError("no such layer")

def text(num_classes):
    return "a network"

ready = Net(10)
"""


def build(reference: str, options: dict[str, object] | None = None) -> nn.Module:
    return zoo.build(Model(name=reference, options=options or {}), shape=(32, 24, 3), num_classes=5)


def test_a_function_and_a_class_are_factories(own: Write) -> None:
    path = own(NET)
    module = build(f"{path}:net", {"width": 6})
    assert module.seen == (32, 24, 3)
    assert build(f"{path}:Net", {"width": 6}).get_parameter("fc.weight").shape == (5, 6)


def test_what_the_factory_draws_depends_on_the_seed_alone(own: Write) -> None:
    path = own(NET)

    def first(seed: int) -> float:
        module = zoo.build(Model(name=f"{path}:net"), shape=(8, 8, 1), num_classes=2, seed=seed)
        return float(next(module.parameters()).detach().flatten()[0])

    assert first(1) == first(1) != first(2)


def test_the_file_s_folder_is_importable_while_it_is_read_and_while_the_factory_runs(own: Write) -> None:
    path = own(
        "import beside_one\n\ndef net(num_classes):\n    import beside_two\n    return beside_two.made(num_classes)\n"
    )
    (path.parent / "beside_one.py").write_text("")
    (path.parent / "beside_two.py").write_text("from torch import nn\ndef made(n): return nn.Linear(3, n)\n")
    before = list(sys.path)
    assert isinstance(build(f"{path}:net"), nn.Linear)
    assert sys.path == before


def test_a_changed_file_is_read_anew(own: Write) -> None:
    path = own("from torch import nn\ndef net(num_classes): return nn.Linear(1, num_classes)\n")
    assert isinstance(build(f"{path}:net"), nn.Linear)
    own("from torch import nn\ndef net(num_classes): return nn.Conv2d(1, 1, kernel_size=1)\n")
    assert isinstance(build(f"{path}:net"), nn.Conv2d)


def test_a_dataclass_in_the_file_finds_its_module(own: Write) -> None:
    path = own(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom torch import nn\n"
        "@dataclass\nclass Sizes:\n    hidden: int = 3\n"
        "def net(num_classes): return nn.Linear(Sizes().hidden, num_classes)\n"
    )
    assert isinstance(build(f"{path}:net"), nn.Linear)


def test_options_are_checked_as_the_zoo_s_are(own: Write) -> None:
    path = own(NET)
    with pytest.raises(ModelError, match="Unknown option 'widht' of net"):
        build(f"{path}:net", {"widht": 6})
    with pytest.raises(ModelError, match=r"Expected a whole number, got 'x' - at model\.options\.width"):
        build(f"{path}:net", {"width": "x"})


def test_a_factory_that_raises_keeps_its_own_traceback_as_the_cause(own: Write) -> None:
    path = own(NET)
    with pytest.raises(ModelError) as caught:
        build(f"{path}:broken")
    assert str(caught.value) == f"broken in {path} raised KeyError: 'no such layer' - at model.name"
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError)
    frames = traceback.extract_tb(cause.__traceback__)
    assert [(Path(frame.filename), frame.name) for frame in frames] == [(path, "broken"), (path, "step")]


def test_a_file_that_cannot_be_run_keeps_its_own_traceback_too(own: Write) -> None:
    path = own("import nowhere_to_be_found\n")
    with pytest.raises(ModelError, match="cannot be run: ModuleNotFoundError: No module named") as caught:
        build(f"{path}:net")
    cause = caught.value.__cause__
    assert cause is not None
    assert Path(traceback.extract_tb(cause.__traceback__)[0].filename) == path


def test_a_syntax_error_names_the_line(own: Write) -> None:
    with pytest.raises(ModelError, match=r"cannot be run: SyntaxError: .*line 1"):
        build(f"{own('def net(:')}:net")


def test_something_else_than_a_module_is_refused_by_its_type(own: Write) -> None:
    path = own(NET)
    with pytest.raises(ModelError, match=r"gave a str, expected a torch\.nn\.Module - at model\.name"):
        build(f"{path}:text")


def test_a_ready_made_network_and_a_value_are_not_factories(own: Write) -> None:
    path = own(NET + "\nnumber = 3\n")
    with pytest.raises(ModelError, match=r"'ready' in .* is a Net"):
        build(f"{path}:ready")
    with pytest.raises(ModelError, match=r"'number' in .* is a int"):
        build(f"{path}:number")


def test_a_missing_name_names_the_nearest(own: Write) -> None:
    path = own(NET)
    with pytest.raises(ModelError, match=r"No 'brokn' in .*net\.py - at model\.name\n  Perhaps you meant 'broken'\."):
        build(f"{path}:brokn")


def test_a_missing_file_names_the_nearest_in_its_folder(own: Write) -> None:
    path = own(NET)
    with pytest.raises(ModelError, match=r"No file .*nte\.py - at model\.name\n  Perhaps you meant '.*net\.py'\."):
        build(f"{path.with_name('nte.py')}:net")
    with pytest.raises(ModelError, match=r"No file .*far/net\.py"):
        build(f"{path.parent / 'far' / 'net.py'}:net")


@pytest.mark.parametrize("reference", ["net.py:", ":net", "net:net", "net.py:a b"])
def test_a_reference_that_is_none_says_what_one_looks_like(reference: str) -> None:
    with pytest.raises(ModelError, match=r"Expected path/to/file\.py:name, got "):
        build(reference)


def test_other_parts_load_their_own_objects_with_their_own_errors(own: Write) -> None:
    path = own("answer = 42\n")
    assert zoo.load_object(f"{path}:answer") == 42
    with pytest.raises(DataError, match=r"No 'anser' in .* - at data\.name"):
        zoo.load_object(f"{path}:anser", at="data.name", error=DataError)
