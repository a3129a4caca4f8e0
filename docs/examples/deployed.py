"""An exported network at work: no Luthier and no PyTorch, only ONNX Runtime."""

from __future__ import annotations

import json
import sys

import numpy as np
import onnxruntime
from PIL import Image


def main(model: str, image: str) -> None:
    """Exported with --pixels, the graph takes bytes as an image file has them; it knows its classes itself."""
    session = onnxruntime.InferenceSession(model)
    classes = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
    _, height, width, channels = session.get_inputs()[0].shape
    picture = Image.open(image).convert("L" if channels == 1 else "RGB").resize((width, height))
    pixels = np.asarray(picture, np.uint8).reshape(1, height, width, channels)
    (logits,) = session.run(["logits"], {"images": pixels})
    print(classes[int(logits.argmax())])


if __name__ == "__main__":
    main(*sys.argv[1:])
