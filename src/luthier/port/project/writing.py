"""The verb: a recipe goes in, a project comes out that trains on MindSpore alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from luthier.compress import open_network
from luthier.data import Description, open_source
from luthier.errors import PortError
from luthier.port.porting import Ported, port
from luthier.port.project.grouping import patterns
from luthier.port.project.refusing import refuse
from luthier.port.project.settings import Setup
from luthier.port.project.texts import texts
from luthier.port.report_page import Language
from luthier.recipe import Recipe, load, to_toml
from luthier.strategy import ParameterInfo

__all__ = ["Project", "project_text", "write_project"]

EXECUTABLE = 0o755
CHANNELS = (1, 3)


@dataclass(frozen=True, kw_only=True)
class Project:
    """Where it is, and the port that stands in it."""

    folder: Path
    recipe: Recipe
    ported: Ported
    files: tuple[str, ...]


def write_project(
    recipe: Path | str,
    *,
    output: Path | str,
    overrides: Iterable[str] = (),
    data_root: Path | str | None = None,
    language: Language = "en",
) -> Project:
    """Write `train.py`, `eval.py`, `src` and `scripts`; the first weights are those that the recipe's seed draws.

    What cannot be carried over is refused before anything is written.
    """
    found = load(recipe, overrides)
    refuse(found, str(recipe))
    folder = Path(output)
    with open_network(found, data_root=data_root) as network:
        description, infos = network.description, tuple(network.session.parameters)
    _check(found, description, str(recipe))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").write_text(to_toml(found), "utf-8")
    name = _module_name(found.model.name.rpartition(":")[2])
    script = f"src/{name}.py"
    ported = port(folder / "recipe.toml", output=folder, data_root=data_root, language=language, model=script)
    setup = _setup(found, description, infos, ported, name, data_root)
    written = texts(setup)
    for place, text in written.items():
        _write(folder / place, text)
    if found.data.name == "digits":
        _write_digits(folder / "digits.npz")
    return Project(folder=folder, recipe=found, ported=ported, files=(*written, script))


def _check(recipe: Recipe, description: Description, place: str) -> None:
    if description.shape[2] not in CHANNELS:
        raise PortError(
            f"A project reads images of 1 or 3 channels, these have {description.shape[2]}", at=f"data.name in {place}"
        )
    if description.shape != description.eval_shape and not recipe.data.eval:
        raise PortError(
            f"Images are {description.shape[:2]} in training, {description.eval_shape[:2]} in evaluation",
            at=f"data.eval in {place}",
        )


def _module_name(name: str) -> str:
    """A file's, from a network's."""
    plain = re.sub(r"\W+", "_", name).strip("_").lower()
    return f"net_{plain}" if plain in ("config", "dataset", "optimizer", "learning_rate", "") else plain


def _setup(
    recipe: Recipe,
    description: Description,
    infos: tuple[ParameterInfo, ...],
    ported: Ported,
    name: str,
    data_root: Path | str | None,
) -> Setup:
    targets = {entry.source: entry.target for entry in ported.map.entries}
    return Setup(
        recipe=recipe,
        description=description,
        network=name,
        class_name=ported.manifest.candidate.rpartition(":")[2],
        image_column=_image_column(recipe, data_root),
        groups=patterns(recipe.strategy.optimizer, infos, targets),
    )


def _image_column(recipe: Recipe, data_root: Path | str | None) -> str:
    """Files of another make have names of their own."""
    if recipe.data.name != "mindrecord":
        return "image"
    images = open_source("mindrecord", path=recipe.data.path, root=data_root).train.images
    return str(images.shards[0].image) if hasattr(images, "shards") else "image"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    if path.suffix == ".sh":
        path.chmod(EXECUTABLE)


def _write_digits(path: Path) -> None:
    """The one set that comes with Luthier goes with the project."""
    source = open_source("digits")
    arrays = {
        f"{name}_{kind}": np.asarray(value)
        for name, part in (("train", source.train), ("eval", source.eval))
        for kind, value in (("images", part.images), ("labels", part.labels))
    }
    np.savez_compressed(path, **arrays)


def project_text(project: Project) -> str:
    """Where it is, and the command that trains."""
    operators = project.ported.report.operators
    ported = sum(operator.count for operator in operators if operator.outcome != "refused")
    refused = [f"refused: {operator.reason}" for operator in operators if operator.outcome == "refused"]
    lines = [f"{project.folder}/train.py, {project.folder}/eval.py and {len(project.files) - 2} files beside them"]
    lines += [f"{ported} uses of {len(operators)} operators carried over in {project.ported.manifest.candidate}"]
    return "\n".join([*lines, *refused])
