"""What a network is worth and what it costs: accuracy, parameters, size, latency, score; and what it takes images for.

The package is a verb too: `luthier.measure(run)`.
"""

from luthier.measure.aligning import aligned
from luthier.measure.confusion import confusion_text, metrics_text
from luthier.measure.evaluating import Evaluation, evaluate_run
from luthier.measure.measurement import Measurement
from luthier.measure.measuring import measure, trainable_bytes
from luthier.measure.parameters import Layer, Sizes, parameters_by_layer, sizes
from luthier.measure.predicting import Label, Prediction, predict, predictions_text
from luthier.measure.registry import require_runtime, runtime_names
from luthier.measure.scoring import score
from luthier.measure.subject import FileSubject, Subject
from luthier.measure.tables import layers_text, markdown_table, text_table
from luthier.measure.timing import Timings, chosen_ms, latencies, latency
from luthier.verb import make_callable

__all__ = [
    "Evaluation",
    "FileSubject",
    "Label",
    "Layer",
    "Measurement",
    "Prediction",
    "Sizes",
    "Subject",
    "Timings",
    "aligned",
    "chosen_ms",
    "confusion_text",
    "evaluate_run",
    "latencies",
    "latency",
    "layers_text",
    "markdown_table",
    "measure",
    "metrics_text",
    "parameters_by_layer",
    "predict",
    "predictions_text",
    "require_runtime",
    "runtime_names",
    "score",
    "sizes",
    "text_table",
    "trainable_bytes",
]

make_callable(__name__)
