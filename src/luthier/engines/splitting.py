"""Where one all-reduce ends and the next begins."""

from __future__ import annotations

from collections.abc import Sequence

from luthier.errors import RecipeError

__all__ = ["group_ends"]


def group_ends(split: Sequence[int], count: int) -> tuple[int, ...]:
    """After which parameter each group ends, the last one after them all.

    `split` counts as MindSpore's `all_reduce_fusion_config` does: the position, from 0, of each group's last one.
    """
    ends = tuple(position + 1 for position in split)
    if any(end > count for end in ends):
        raise RecipeError(
            f"Expected positions below {count}, the network's number of parameters that are trained, got {split[-1]}",
            at="strategy.allreduce_split",
            hint="`luthier measure RECIPE` lists the parameters.",
        )
    return ends if ends and ends[-1] == count else (*ends, count)
