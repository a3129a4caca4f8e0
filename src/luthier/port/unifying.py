"""What several instances of a class have in common, and what their constructor's arguments must therefore be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from luthier.port.emit import Emit, Name
from luthier.port.signatures import defaults

__all__ = ["Different", "Slot", "shape_of", "unified"]


class Different(Exception):
    """Two expressions that no argument can bring together."""


@dataclass(eq=False, kw_only=True)
class Slot:
    """A place where instances differ: its value in each, and where it stands."""

    values: tuple[Any, ...]
    keyword: str
    member: str
    default: Any = None
    in_body: bool = False


def unified(trees: Sequence[Any], *, member: str, keyword: str = "", default: Any = None, cells: bool = True) -> Any:
    """One expression with a `Slot` wherever the given ones differ; whole layers may differ where `cells` may."""
    first = trees[0]
    if all(_same(tree, first) for tree in trees):
        return first
    place = {"member": member, "keyword": keyword, "default": default, "in_body": not cells}
    if all(isinstance(tree, Emit) for tree in trees):
        if all(_alike(tree, first) for tree in trees):
            return _expression(trees, member, cells)
        if cells and all(tree.target[:3] == "nn." or tree.target[:1].isupper() for tree in trees):
            return Slot(values=tuple(trees), **place)
    elif all(
        isinstance(tree, tuple) and len(tree) == len(first) for tree in trees if isinstance(first, tuple)
    ) and isinstance(first, tuple):
        parts = zip(*trees, strict=True)
        return tuple(unified(part, member=member, keyword=keyword, cells=cells) for part in parts)
    elif all(isinstance(tree, slice) for tree in trees):
        ends = ([getattr(tree, part) for tree in trees] for part in ("start", "stop", "step"))
        return slice(*(unified(end, member=member, keyword=keyword, cells=cells) for end in ends))
    elif all(_is_number(tree) for tree in trees):
        return Slot(values=tuple(trees), **place)
    raise Different


def _is_number(tree: Any) -> bool:
    return (tree is None or isinstance(tree, bool | int | float | str)) and not isinstance(tree, Name)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _alike(one: Emit, other: Emit) -> bool:
    known = set(defaults(one.target))
    return (
        one.target == other.target
        and len(one.args) == len(other.args)
        and not ({*one.keywords} ^ {*other.keywords}) - known
        and one.weights == other.weights
    )


def _expression(trees: Sequence[Emit], member: str, cells: bool) -> Emit:
    first = trees[0]
    known = defaults(first.target)
    if first.target == "pair":
        member = f"{member}_{first.args[0]}"
    numbered = first.target == "nn.SequentialCell"
    args = tuple(
        unified(part, member=f"{member}_{i}" if numbered else member, cells=cells)
        for i, part in enumerate(zip(*(tree.args for tree in trees), strict=True))
    )
    names = list(dict.fromkeys(name for tree in trees for name in tree.keywords))
    keywords = {
        name: unified(
            [tree.keywords.get(name, known.get(name)) for tree in trees],
            member=member,
            keyword=name,
            default=known.get(name),
            cells=cells,
        )
        for name in names
    }
    return first.with_parts(args, keywords)


def shape_of(tree: Any) -> str:
    """An expression without its numbers: equal for what can be unified in a forward pass."""
    if isinstance(tree, Emit):
        known: Mapping[str, Any] = defaults(tree.target)
        keywords = {name: item for name, item in tree.keywords.items() if name not in known or not _is_number(item)}
        inner = [shape_of(item) for item in tree.args] + [
            f"{name}={shape_of(keywords[name])}" for name in sorted(keywords)
        ]
        return f"{tree.target}({', '.join(inner)})"
    if isinstance(tree, tuple):
        return f"({', '.join(map(shape_of, tree))})"
    if isinstance(tree, slice):
        return f"{shape_of(tree.start)}:{shape_of(tree.stop)}:{shape_of(tree.step)}"
    return "#" if _is_number(tree) and tree is not None else str(tree)
