"""From a run or a recipe to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from luthier.compress.deployed import Answering, normalised
from luthier.compress.graphs import described
from luthier.compress.judging import Judge, Judged, Worth, judged_text, judging, worth_rows
from luthier.compress.network import Network, Source, open_network
from luthier.compress.registry import encoder
from luthier.errors import ExportError, RecipeError
from luthier.recipe import Recipe, override, to_toml
from luthier.store import make_place, replace_file

__all__ = ["Exported", "export", "exported_text", "size_mb", "stored_as", "with_overrides"]

CHANGEABLE = ("compress", "score")  # sections that a run's export can set: what the network is stands in its recipe
COMPARED = 64  # images that outputs are compared on


class Exported(Struct, frozen=True, kw_only=True):
    """What was written, and the greatest difference between its outputs and the network's own.

    Of a file that stores numbers in fewer bits, also what it is worth, and what it is worth in float32.
    """

    path: str
    format: str
    bytes: int
    opset: int | None = None
    max_error: float | None = None
    storage: str = "float32"
    worth: Worth | None = None
    before: Worth | None = None
    judged: Judged | None = None


def export(
    source: Source,
    *,
    output: Path | str,
    format: str = "onnx",  # noqa: A002 - the option's name on the command line
    pixels: bool = False,
    int8: bool = False,
    float16: bool = False,
    overrides: Iterable[str] = (),
    split: str | None = None,
    checkpoint: str | int = "last",
    data_root: Path | str | None = None,
) -> Exported:
    """Write a run's network, or with its first weights a recipe's, once it was found to answer as the original does.

    The graph takes normalised float32 images (batch, channels, height, width); with `pixels` it takes bytes
    (batch, height, width, channels), as image libraries give them, and normalises by itself.

    `int8` and `float16` store an ONNX graph's weights in fewer bits, as the recipe's `compress` says; what that costs
    is measured on the validation part, or on the part that `split` names.
    """
    encode, path, storage = encoder(format), Path(output), _storage(format, int8=int8, float16=float16)
    make_place(path, "model.onnx")
    with open_network(source, checkpoint=checkpoint, data_root=data_root) as opened:
        recipe = with_overrides(opened.recipe, list(overrides))
        encoded = encode(opened, pixels=pixels)
        plain = Exported(
            path=str(path), format=format, bytes=len(encoded.data), opset=encoded.opset, max_error=encoded.max_error
        )
        if storage == "float32":
            exported, data = plain, encoded.data
        else:
            with judging(opened, calibration=recipe.compress.calibration, split=split, protocol=recipe.score) as judge:
                data = stored_as(storage, encoded.data, judge, recipe, pixels=pixels)
                before, worth = judge.worths([encoded.data, data], pixels=pixels, sizes=[size_mb(opened), None])
                exported = replace(
                    plain,
                    bytes=len(data),
                    storage=storage,
                    max_error=_difference(encoded.data, data, judge, pixels=pixels),
                    before=before,
                    worth=worth,
                    judged=judge.judged,
                )
    replace_file(path, data)
    return exported


def stored_as(storage: str, data: bytes, judge: Judge, recipe: Recipe, *, pixels: bool) -> bytes:
    """The same graph with its weights in fewer bits; it says so of itself."""
    told = {"storage": storage, "recipe": to_toml(replace(judge.network.recipe, compress=recipe.compress, space={}))}
    if storage == "float16":
        from luthier.compress.float16 import in_float16

        return described(in_float16(data), told)
    from luthier.compress.int8 import in_int8

    images: Any = judge.calibration if pixels else normalised(judge.calibration, recipe)
    return described(in_int8(data, images, recipe.compress), told)


def size_mb(network: Network) -> float:
    """As a run's row has it: its graph, where normalisations are folded away, stores a little less."""
    from luthier.measure import trainable_bytes

    return trainable_bytes(network) / 1e6


def exported_text(exported: Exported) -> str:
    """One line for people; where numbers were stored in fewer bits, what that costs and gives."""
    opset = f", opset {exported.opset}" if exported.opset else ""
    storage = "" if exported.storage == "float32" else f", {exported.storage}"
    error = "" if exported.max_error is None else f", at most {exported.max_error:.1e} from the network's outputs"
    line = f"{exported.path}: {exported.format}{opset}{storage}, {exported.bytes / 1e6:.3f} MB{error}"
    if exported.worth is None or exported.before is None or exported.judged is None:
        return line
    from luthier.measure import aligned

    rows = worth_rows([("float32", exported.before), (exported.storage, exported.worth)])
    conditions = judged_text(exported.judged, exported.worth)
    return "\n".join([line, "", aligned(rows), "", conditions, _verdict(exported.storage, exported)])


def _verdict(storage: str, exported: Exported) -> str:
    """Whether it pays on this machine: fewer bits are not always faster."""
    assert exported.before is not None, "only what was measured is judged"
    assert exported.worth is not None, "only what was measured is judged"
    ratio = exported.before.latency_ms / exported.worth.latency_ms
    speed = f"{storage} takes {1 / ratio:.2f} of float32's time here, taken in turn"
    if exported.worth.score is None or exported.before.score is None:
        return speed
    gain = exported.worth.score - exported.before.score
    return f"{speed}, and {'gains' if gain > 0 else 'loses'} {abs(gain):.3f} of score"


def _storage(form: str, *, int8: bool, float16: bool) -> str:
    if int8 and float16:
        raise ExportError("Weights are stored as int8 or as float16, not as both")
    storage = "int8" if int8 else "float16" if float16 else "float32"
    if storage != "float32" and form != "onnx":
        raise ExportError(f"Only an ONNX graph is stored as {storage}, not {form}", hint="Use --format onnx.")
    return storage


def with_overrides(recipe: Recipe, overrides: list[str]) -> Recipe:
    """With other fields of what does not change the network; any other is refused."""
    changed = override(recipe, overrides)
    if replace(changed, **{name: getattr(recipe, name) for name in CHANGEABLE}) != recipe:
        raise RecipeError(
            f"Only the fields of [compress] and [score] can be set for an export, got {', '.join(overrides)}"
        )
    return changed


def _difference(before: bytes, after: bytes, judge: Judge, *, pixels: bool) -> float:
    images, recipe = judge.calibration[:COMPARED], judge.network.recipe
    outputs = [Answering(data, recipe, pixels=pixels).logits(images) for data in (before, after)]
    return float(np.abs(outputs[1] - outputs[0]).max())
