"""The house as it is meant to be: who may import whom, what a door names, and what the names say of themselves."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

import luthier
from luthier import data, recipe, zoo
from luthier.cli.group import COMMANDS, app
from luthier.compress.registry import encoder, format_names
from luthier.data.registry import registered
from luthier.data.transforms.operations import OPERATIONS
from luthier.measure.registry import runtime, runtime_names
from luthier.strategy.schedules import curve
from luthier.zoo.registry import factory_of

SOURCE = Path(luthier.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(file.parent.name for file in SOURCE.glob("*/__init__.py"))

TIERS = (
    ("cli", "board", "testing"),
    ("doctor", "jobs", "tuning", "port", "proof", "watch", "profile", "measure", "compress"),
    ("training",),
    ("engines",),
    ("weights",),
    ("zoo", "data", "strategy", "store"),
    ("recipe",),
    ("errors", "verb", "recipes"),
)
BESIDE = {
    ("port", "compress"),  # a run or a recipe is opened as an export opens it
    ("measure", "compress"),  # what is measured is opened, and exported, as an export is
    ("compress", "measure"),  # what is stored in fewer bits is judged by what a run is judged by
    ("data", "zoo"),  # runs a user's own file as the zoo does
    ("proof", "port"),  # a port's folder is opened as it was written
    ("zoo", "strategy"),  # takes the initialisers' numbers
    ("tuning", "measure"),  # a trial's size and latency are taken as a run's are
}

FRAMEWORKS = {"torch", "mindspore"}
HEAVY = FRAMEWORKS | {"optuna", "ray", "matplotlib", "onnx", "onnxruntime", "tensorboard"}
MAY_NAME_A_FRAMEWORK = ("engines/", "zoo/", "weights/", "compress/", "measure/", "port/", "proof/", "data/mindspore.py")
LOADED_LATE = (  # modules that a function of their package imports when it needs them
    *("engines/torch/", "engines/mindspore/", "zoo/mindspore/", "measure/runtimes/"),
    *("zoo/activations.py", "zoo/lenet5.py", "zoo/resnet.py", "zoo/slim.py"),
    "port/sources/",
    *("compress/cells.py", "compress/checking.py", "compress/tracing.py", "data/mindspore.py"),
    *("proof/torch/", "proof/mindspore/", "proof/onnx/"),
)


class Import(NamedTuple):
    """`module` as the statement has it; `late` where it stands in a function or serves the type checker alone."""

    file: str
    line: int
    module: str
    late: bool

    @property
    def at(self) -> str:
        return f"{self.file}:{self.line} imports {self.module}"


def imports(file: Path) -> Iterator[Import]:
    place = file.relative_to(SOURCE).as_posix()

    def walk(node: ast.AST, *, late: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            inner = late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            match child:
                case ast.Import(names=names):
                    yield from (Import(place, child.lineno, name.name, inner) for name in names)
                case ast.ImportFrom(module=str(module), level=0, names=names):
                    for name in names if module == "luthier" else names[:1]:
                        full = f"luthier.{name.name}" if module == "luthier" else module
                        yield Import(place, child.lineno, full, inner)
                case ast.ImportFrom():
                    pytest.fail(f"{place}:{child.lineno} imports relatively")
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    yield from walk(child, late=True)
                case _:
                    yield from walk(child, late=inner)

    yield from walk(ast.parse(file.read_text("utf-8")), late=False)


IMPORTS = [found for file in FILES for found in imports(file)]


def package_of(place: str) -> str:
    return place.split("/")[0].removesuffix(".py")


def tier(package: str) -> int:
    return next(number for number, packages in enumerate(TIERS) if package in packages)


class TestImports:
    def test_they_point_one_way(self) -> None:
        wrong = []
        for found in IMPORTS:
            here, (root, _, rest) = package_of(found.file), found.module.partition(".")
            there = rest.split(".")[0]
            if root != "luthier" or here in ("__init__", "__main__", there) or not there:
                continue
            if tier(here) >= tier(there) and (here, there) not in BESIDE:
                wrong.append(found.at)
        assert wrong == []

    def test_every_package_has_its_place(self) -> None:
        assert set(PACKAGES) <= {package for packages in TIERS for package in packages}

    @pytest.mark.parametrize("language", ["en", "zh"])
    def test_the_manual_draws_the_same_order(self, language: str) -> None:
        page = (SOURCE.parent.parent / "docs" / language / "code.md").read_text("utf-8")
        drawn = re.search(r"`cli`[^|.]*→[^|.]*`errors`", page)
        assert drawn is not None
        order = [set(re.findall(r"`(\w+)`", part)) for part in drawn[0].split("→")]
        here = {*PACKAGES, "errors"}
        assert order == [here & set(packages) - {"recipes"} for packages in TIERS]

    def test_other_packages_are_entered_by_their_door(self) -> None:
        """A framework has doors of its own, since those before them must not load it."""
        doors = {"luthier.engines.torch", "luthier.engines.mindspore", "luthier.zoo.mindspore"}
        wrong = [
            found.at
            for found in IMPORTS
            if found.module.startswith("luthier.")
            and found.module.count(".") > 1
            and found.module.split(".")[1] != package_of(found.file)
            and found.module not in doors
        ]
        assert wrong == []

    def test_only_some_packages_name_a_framework(self) -> None:
        wrong = [
            found.at
            for found in IMPORTS
            if found.module.split(".")[0] in FRAMEWORKS and not found.file.startswith(MAY_NAME_A_FRAMEWORK)
        ]
        assert wrong == []

    def test_a_framework_is_imported_at_import_time_only_where_the_import_comes_late(self) -> None:
        wrong = [
            found.at
            for found in IMPORTS
            if not found.late and found.module.split(".")[0] in HEAVY and not found.file.startswith(LOADED_LATE)
        ]
        assert wrong == []


def loaded_by(code: str, *names: str) -> set[str]:
    """Which of the modules a fresh interpreter has after the code."""
    script = f"import sys\n{code}\nprint('loaded:', *({set(names)!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("loaded:")[2].split())


class TestWhatIsLoaded:
    def test_no_package_loads_a_framework(self) -> None:
        assert loaded_by("\n".join(f"import luthier.{package}" for package in PACKAGES), *HEAVY) == set()

    def test_importing_luthier_loads_next_to_nothing(self) -> None:
        assert loaded_by("import luthier", *HEAVY, "numpy", "typer", "rich", "msgspec") == set()

    def test_the_help_loads_no_numbers(self) -> None:
        code = "from luthier.cli import main\nsys.argv[1:] = ['--help']\ntry: main()\nexcept SystemExit: pass"
        assert loaded_by(code, *HEAVY, "numpy") == set()


def names_in(file: Path) -> tuple[list[str] | None, set[str]]:
    """`__all__`, and the public names that the file itself defines or takes from within its package."""
    listed, own = None, set()
    package = f"luthier.{package_of(file.relative_to(SOURCE).as_posix())}"
    for node in ast.parse(file.read_text("utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                listed = ast.literal_eval(value)
            case ast.Assign(targets=[ast.Name(id=name)]):
                own.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                own.add(name)
            case ast.ImportFrom(module=str(module), names=names) if module == package or module.startswith(
                f"{package}."
            ):
                own |= {alias.asname or alias.name for alias in names}
    return listed, {name for name in own if not name.startswith("_")}


class TestDoors:
    @pytest.mark.parametrize("package", PACKAGES)
    def test_a_door_names_all_that_it_has_in_order(self, package: str) -> None:
        listed, own = names_in(SOURCE / package / "__init__.py")
        assert (listed or []) == sorted(own)

    @pytest.mark.parametrize("package", [package for package in PACKAGES if package != "recipes"])
    def test_whatever_a_door_names_says_what_it_is(self, package: str) -> None:
        module = import_module(f"luthier.{package}")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                assert is_documented(value), f"luthier.{package}.{name}"

    @pytest.mark.parametrize("package", PACKAGES)
    def test_no_module_takes_the_place_of_a_name_when_it_is_loaded_later(self, package: str) -> None:
        """Python binds a module to its name in the package at its first import, over whatever stood there."""
        door = import_module(f"luthier.{package}")
        modules = {path.stem for path in (SOURCE / package).iterdir() if path.suffix == ".py" or path.is_dir()}
        names = modules & set(door.__all__)
        fresh = loaded_by(f"import luthier.{package}", *(f"luthier.{package}.{name}" for name in names))
        assert fresh == {f"luthier.{package}.{name}" for name in names}

    def test_every_module_says_what_it_is_for(self) -> None:
        assert [file for file in FILES if not ast.get_docstring(ast.parse(file.read_text("utf-8")))] == []


def is_documented(value: Any) -> bool:
    """Records write their own signature where a docstring is missing: that does not count."""
    text = value.__dict__.get("__doc__") if inspect.isclass(value) else inspect.getdoc(value)
    return text is not None and not text.startswith(f"{value.__name__}(")


class TestWhatIsRegistered:
    @pytest.mark.parametrize(
        "kind", [*get_args(recipe.Schedule), *get_args(recipe.Optimizer), *get_args(recipe.Transform)]
    )
    def test_every_schedule_optimizer_and_transform_says_what_it_does(self, kind: type) -> None:
        assert is_documented(kind)

    def test_every_schedule_has_a_formula_and_every_transform_an_operation(self) -> None:
        formulas = [curve.dispatch(kind) for kind in get_args(recipe.Schedule)]
        operations = [OPERATIONS[kind] for kind in get_args(recipe.Transform)]
        assert len(set(formulas)) == len(formulas)
        assert curve.dispatch(object) not in formulas  # the answer for what has none
        assert all(is_documented(value) for value in [*formulas, *operations])

    @pytest.mark.parametrize("name", zoo.names())
    def test_every_network_says_what_it_is(self, name: str) -> None:
        assert is_documented(factory_of(name))

    @pytest.mark.parametrize("name", data.names())
    def test_every_source_says_where_its_files_are(self, name: str) -> None:
        opener = registered(name).opener
        assert is_documented(getattr(opener, "func", opener))

    def test_every_format_and_runtime_says_what_it_is(self) -> None:
        assert all(is_documented(encoder(name)) for name in format_names())
        assert all(is_documented(runtime(name)) for name in runtime_names())

    def test_every_command_and_option_has_a_help(self) -> None:
        import typer

        def walk(command: Any, path: str) -> Iterator[str]:
            assert command.help, path
            for parameter in command.params:
                assert parameter.help or parameter.name in ("install_completion", "show_completion"), (path, parameter)
            for name, inner in getattr(command, "commands", {}).items():
                yield from walk(inner, f"{path} {name}")
            yield path

        paths = set(walk(typer.main.get_command(app), "luthier"))
        assert {f"luthier {name}" for name in COMMANDS} <= paths


class TestVerbs:
    def test_they_are_sorted_and_there(self) -> None:
        assert luthier.__all__ == sorted(luthier.__all__)
        assert all(callable(getattr(luthier, name)) for name in luthier.__all__)
        assert set(luthier.__all__) <= set(dir(luthier))

    @pytest.mark.parametrize("order", ["import luthier.measure", "luthier.measure", "from luthier import measure"])
    def test_a_verb_that_is_a_package_too_can_be_called_whichever_came_first(self, order: str) -> None:
        code = f"import luthier\n{order}\nassert callable(luthier.measure) and luthier.measure.text_table"
        assert loaded_by(code, "torch") == set()

    def test_packages_are_there_without_an_import_of_their_own(self) -> None:
        loaded_by("import luthier\nluthier.data.arrays, luthier.recipe.Recipe, luthier.training.StepEnded")

    def test_an_unknown_one_is_an_attribute_error(self) -> None:
        with pytest.raises(AttributeError, match="has no attribute 'trian'"):
            luthier.trian  # noqa: B018


def test_git_tracks_no_link() -> None:
    """A link to an environment, once in the tree, would be put over another tree's own at its next checkout."""
    done = subprocess.run(
        ["git", "ls-files", "--stage"], cwd=SOURCE.parents[1], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("not a checkout of the repository")
    tracked = done.stdout.splitlines()
    assert len(tracked) > len(FILES)
    assert [line for line in tracked if line.startswith("120000 ")] == []
