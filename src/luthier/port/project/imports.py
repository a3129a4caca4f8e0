"""The imports that a file's code needs, found by the names that it uses."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["with_imports"]

# What is looked for in the code, the module, and the name that it gives; in the order in which they are written.
STANDARD = (
    (r"\bargparse\.", "argparse", ""),
    (r"\bast\.", "ast", ""),
    (r"\bgzip\.", "gzip", ""),
    (r"\bos\.", "os", ""),
    (r"\bIterable\[", "collections.abc", "Iterable"),
    (r"\bIterator\[", "collections.abc", "Iterator"),
    (r"\bThreadPoolExecutor\b", "concurrent.futures", "ThreadPoolExecutor"),
    (r"\bfnmatchcase\b", "fnmatch", "fnmatchcase"),
    (r"\bislice\b", "itertools", "islice"),
    (r"\bPath\b", "pathlib", "Path"),
    (r"\bSimpleNamespace\b", "types", "SimpleNamespace"),
)
THIRD = (
    (r"\bms\.", "mindspore as ms", ""),
    (r"\bds\.", "mindspore.dataset as ds", ""),
    (r"\bnp\.", "numpy as np", ""),
    (r"\bTensor\b", "mindspore", "Tensor"),
    (r"\bnn\.", "mindspore", "nn"),
    (r"\bops\.", "mindspore", "ops"),
    (r"\bvision\.", "mindspore.dataset", "vision"),
    (r"\bPhilox\b", "numpy.random", "Philox"),
    (r"\binit\(\)", "mindspore.communication", "init"),
)
LOCAL = (
    (r"\bconfig\.", "src.config", "config"),
    (r"\bCrossEntropySmooth\(config", "src.cross_entropy_smooth", "CrossEntropySmooth"),
    (r"= create_dataset\(|in create_dataset\(", "src.dataset", "create_dataset"),
    (r"= learning_rates\(", "src.learning_rate", "learning_rates"),
    (r", create_optimizer\(", "src.optimizer", "create_optimizer"),
)

Known = Sequence[tuple[str, str, str]]


def with_imports(title: str, code: str, own: Known = ()) -> str:
    """A file: its title, its imports in three blocks, and the code."""
    local = sorted((*LOCAL, *own), key=lambda item: item[1])
    blocks = [block for block in (_block(known, code) for known in (STANDARD, THIRD, local)) if block]
    head = "\n\n".join("\n".join(block) for block in blocks)
    return f'"""{title}"""\n\n' + (f"{head}\n{code}" if head else code.lstrip("\n"))


def _block(known: Known, code: str) -> list[str]:
    """Whole modules first, then names, by their modules."""
    used = [(module, name) for pattern, module, name in known if re.search(pattern, code)]
    whole = sorted(f"import {module}" for module, name in used if not name)
    names: dict[str, list[str]] = {}
    for module, name in used:
        if name:
            names.setdefault(module, []).append(name)
    return whole + [f"from {module} import {', '.join(names[module])}" for module in sorted(names)]
