"""Whether ONNX Runtime computes here: a program of its own, as the frameworks' checkups are."""

from __future__ import annotations

import json


def main() -> None:
    """A convolution of ones by ones."""
    import numpy as np
    import onnxruntime
    from onnx import TensorProto, helper

    shapes = {"x": [1, 3, 5, 5], "w": [4, 3, 3, 3], "y": [1, 4, 3, 3]}
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "checkup", [values["x"], values["w"]], [values["y"]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    ones = {name: np.ones(shapes[name], np.float32) for name in ("x", "w")}
    (found,) = session.run(None, ones)
    if not (found == 27.0).all():
        raise ArithmeticError("a convolution of ones gave other sums than 27")
    print(json.dumps({"devices": [{"name": "cpu"}]}))


if __name__ == "__main__":
    main()
