"""Choose a few values by short pre-trainings, then train with them."""

from __future__ import annotations

import luthier
from luthier import ParamSpec


def main() -> None:
    """Momentum from a list of its own; the learning rate is searched besides."""
    selection = luthier.select(
        "lenet5-digits",
        param_spec=ParamSpec(weight_decay=1e-4, momentum=0.9, learning_rate=0.1),
        param_list_spec=ParamSpec(weight_decay=[1e-2, 1e-3, 1e-4], momentum=[0.95, 0.9]),
        total_steps=40,
    )
    print(selection.values, selection.interval)
    run = luthier.train("lenet5-digits", param_spec=selection.param_spec, overrides=["strategy.epochs=2"])
    print(run.name)


if __name__ == "__main__":
    main()
