"""The same verbs as on the command line."""

from __future__ import annotations

from pathlib import Path

import luthier


def main() -> None:
    """Train, look, export."""
    run = luthier.train("lenet5-digits", overrides=["strategy.epochs=2"], out="runs")
    row = luthier.measure(run)
    print(f"{row.accuracy:.1f} % with {row.parameters:,} parameters, score {row.score:.1f}")
    print(f"{luthier.evaluate(run, split='train').accuracy:.1f} % of the training part")
    luthier.export(run, output="digits.onnx", pixels=True)
    for other in luthier.runs(Path("runs")):
        print(other.name, other.recipe.strategy.learning_rate)


if __name__ == "__main__":
    main()
