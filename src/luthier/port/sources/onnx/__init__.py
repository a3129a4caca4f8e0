"""From an ONNX file to the graph: loading → binding by schema → patterns → scopes → classes."""
