"""What acts in training alone, and an export in evaluation leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from luthier.port.sources.onnx.loading import Loaded

__all__ = ["dropped"]


def dropped(loaded: Loaded, gaps: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """A gap in a chain's numbering, and convolutions into which the export has folded a normalisation."""
    yield from gaps
    if loaded.model.producer_name != "pytorch":
        return
    folded = [
        node.name
        for node in loaded.model.graph.node
        if node.op_type == "Conv" and len(node.input) > 2 and all("::Conv_" in name for name in node.input[1:3])
    ]
    if folded:
        more = f" and {len(folded) - 1} more" if len(folded) > 1 else ""
        yield (
            "batch normalisation",
            f"{folded[0]}{more} hold a batch normalisation that the export folded in: to train on, export with "
            "training=TrainingMode.PRESERVE and do_constant_folding=False",
        )
