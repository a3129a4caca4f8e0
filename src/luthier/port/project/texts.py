"""The text of every file of a project but the network's."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from luthier.port.project.imports import with_imports
from luthier.port.project.settings import Setup, configuration, values
from luthier.port.project.templates import Values, rendered
from luthier.recipe import Transform

__all__ = ["texts"]

HERE = "HERE = Path(__file__).parent\n"
WIDTH = 120
SCRIPTS = ("run_standalone_train.sh", "run_distribute_train.sh", "run_eval.sh")
READERS = {"cifar10": "cifar", "cifar100": "cifar", "mnist": "mnist", "fashion-mnist": "mnist"}
PLACES = {
    "digits": ("the project's own folder, where `digits.npz` lies", "."),
    "folder": ("the folder that holds `train/<class>/` and `eval/<class>/`", "/data/images"),
    "mindrecord": ("the folder that holds `train.mindrecord` and `eval.mindrecord`", "/data/images.mindrecord"),
    "mnist": ("the folder of the four idx files, gzipped or not", "/data/mnist"),
    "fashion-mnist": ("the folder of the four idx files, gzipped or not", "/data/fashion-mnist"),
    "cifar10": ("the folder of the binary files (`cifar-10-batches-bin`)", "/data/cifar-10-batches-bin"),
    "cifar100": ("the folder of the binary files (`cifar-100-binary`)", "/data/cifar-100-binary"),
}


def texts(setup: Setup) -> dict[str, str]:
    """By their places in the project."""
    found = values(setup)
    title = f"{setup.class_name} on {found['set']}"
    network = (rf"\b{setup.class_name}\(\)", f"src.{setup.network}", setup.class_name)
    return {
        "train.py": with_imports(f"Train {title}.", f"\n{HERE}\n\n{rendered('train.py', found)}", own=(network,)),
        "eval.py": with_imports(f"Evaluate {title}.", _spaced(rendered("eval.py", found)), own=(network,)),
        "src/__init__.py": "",
        "src/config.py": with_imports(f"Every setting of {setup.recipe.name}.", "\n" + _config(setup)),
        "src/cross_entropy_smooth.py": with_imports("The loss.", _spaced(rendered("cross_entropy_smooth.py", found))),
        "src/dataset.py": with_imports(f"The images and labels of {found['set']}.", _dataset(setup, found)),
        "src/learning_rate.py": with_imports("The learning rate of every step.", _spaced(_rates(setup, found))),
        "src/optimizer.py": with_imports("The optimizer.", _optimizer(setup, found)),
        "README.md": rendered("README.md", {**found, **_readme(setup)}),
        **{f"scripts/{name}": rendered(f"scripts/{name}", found) for name in SCRIPTS},
    }


def _spaced(code: str) -> str:
    """Two empty lines stand between the imports and what follows."""
    return f"\n\n{code}"


def _config(setup: Setup) -> str:
    rows = "".join(f"    {name}={_literal(value)},\n" for name, value in configuration(setup).items())
    return f"config = SimpleNamespace(\n{rows})\n"


def _rates(setup: Setup, found: Values) -> str:
    kind = setup.recipe.strategy.schedule.__struct_config__.tag
    return "".join(rendered(f"learning_rate/{part}.py", found) for part in ("head", kind, "tail"))


def _optimizer(setup: Setup, found: Values) -> str:
    """The groups come first: they are a setting."""
    kind = str(setup.recipe.strategy.optimizer.__struct_config__.tag)
    code = _spaced(rendered(f"optimizer/{kind.removesuffix('w')}.py", found))
    if not setup.groups:
        return code
    rows = "".join(f"    {_literal(row)},\n" for row in setup.groups)
    return "\n" + rendered("optimizer/groups.py", {**found, "group_rows": f"GROUPS = (\n{rows})"}) + code


def _dataset(setup: Setup, found: Values) -> str:
    data = setup.recipe.data
    blocks = [rendered(f"dataset/readers/{READERS.get(data.name, data.name)}.py", found)]
    blocks += [rendered("dataset/numbers.py", found)]
    transforms = [rendered(f"dataset/transforms/{name}.py", found) for name in setup.transforms]
    mixing = [rendered("dataset/mixing.py", found)] if found["mixes"] else []
    drawing = "".join((*transforms, *mixing))
    blocks += [rendered(f"dataset/{name}.py", found) for name in ("uniform", "integers") if f"{name}(" in drawing]
    blocks += [rendered("dataset/resized.py", found)] if setup.resamples else []
    blocks += transforms
    blocks += [rendered("dataset/held_back.py", found)] if data.validation else []
    blocks += [_assigned("TRAIN", data.train) + _assigned("EVAL", data.eval)]
    code = "\n\n".join((*blocks, *mixing, rendered("dataset/core.py", found)))
    return "\n" + _constants(setup) + "\n\n" + code


def _constants(setup: Setup) -> str:
    """What the random numbers of a stream are for: the recipe's own numbering."""
    used = {"ORDER": 0, "TRANSFORM": 16}
    used |= {"HELD_BACK": 1} if setup.recipe.data.validation else {}
    used |= {"MIXING": 2, "SHARES": 3} if setup.recipe.strategy.mixup or setup.recipe.strategy.cutmix else {}
    names = ", ".join(used)
    lines = [f"{names} = {', '.join(map(str, used.values()))}  # what a stream of random numbers is for"]
    if setup.recipe.data.name == "folder":
        lines += ['SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")']
    return "\n".join(lines) + "\n"


def _assigned(name: str, records: tuple[Transform, ...]) -> str:
    """The transforms as a tuple of calls; one a line where they are many."""
    calls = [_call(record) for record in records]
    short = f"{name} = ({', '.join(calls)}{',' if len(calls) == 1 else ''})\n"
    rows = "".join(f"    {call},\n" for call in calls)
    return short if len(short) <= WIDTH + 1 else f"{name} = (\n{rows})\n"


def _call(record: Transform) -> str:
    fields = {name: getattr(record, name) for name in record.__struct_fields__}
    given = ", ".join(f"{name}={_literal(value)}" for name, value in fields.items() if value not in (None, False))
    return f"{type(record).__name__}({given})"


def _literal(value: Any) -> str:
    """As Python's formatter writes it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _readme(setup: Setup) -> dict[str, Any]:
    told, example = PLACES[setup.recipe.data.name]
    strategy = setup.recipe.strategy
    last = "EPOCH" if strategy.steps else f"{strategy.epochs:03d}"
    return {"version": version("luthier"), "data_is": told, "data_example": example, "last_epoch": last}
