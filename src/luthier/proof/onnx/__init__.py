"""An ONNX file as the reference of a proof."""
