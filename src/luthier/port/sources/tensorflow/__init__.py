"""TensorFlow's frozen graphs and SavedModels, which another interpreter converts to ONNX."""
