"""Run by its path in the interpreter that has TensorFlow: a request in JSON comes in, a file and an answer go out.

It imports nothing of Luthier, which that interpreter need not have.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

OPSET = 18
WORDS = 300  # characters of a fault that are worth repeating


class Refused(Exception):
    """What the request's file or names cannot give."""


def converted(request: dict[str, Any]) -> dict[str, str]:
    """Write the ONNX file; the versions that made it come back."""
    import onnx
    import tensorflow
    import tf2onnx
    from tf2onnx import convert, tf_loader

    rename: dict[str, str] = {}
    shapes = None
    if request["signature"]:
        graph, inputs, outputs, rename = tf_loader.from_saved_model(
            request["path"],
            None,
            None,
            signatures=[request["signature"]],
            return_tensors_to_rename=True,
        )
        if request["outputs"]:
            outputs = [name for name in outputs if rename.get(name) in request["outputs"]]
            rename = {name: new for name, new in rename.items() if name in (*inputs, *outputs)}
    else:
        graph = tensorflow.compat.v1.GraphDef()
        graph.ParseFromString(Path(request["path"]).read_bytes())
        inputs, outputs = [item["name"] for item in request["inputs"]], request["outputs"]
        shapes = _open_shapes(graph, request["inputs"]) or None
        rename = {name: name.removesuffix(":0") for name in (*inputs, *outputs) if name.endswith(":0")}
    model, _ = convert.from_graph_def(
        graph,
        name=request["name"],
        input_names=inputs,
        output_names=outputs,
        opset=OPSET,
        shape_override=shapes,
        inputs_as_nchw=_images(graph, inputs) if request["nchw"] else None,
        custom_op_handlers={"Erfc": (_complement, [])},
        tensors_to_rename=rename,
    )
    _check_operators(model, onnx)
    Path(request["output"]).write_bytes(model.SerializeToString())
    return {"tensorflow": tensorflow.__version__, "tf2onnx": tf2onnx.__version__}


def _open_shapes(graph: Any, inputs: list[dict[str, Any]]) -> dict[str, list[int | None]]:
    """Of the placeholders that have none; the others' are checked when the conversion is read."""
    given = {item["name"]: item["shape"] for item in inputs if item["shape"]}
    opens = {
        f"{node.name}:0"
        for node in graph.node
        if node.op.startswith("Placeholder") and ("shape" not in node.attr or node.attr["shape"].shape.unknown_rank)
    }
    return {name: [None if n < 0 else n for n in shape] for name, shape in given.items() if name in opens}


def _complement(graph: Any, node: Any, name: str, _: Any) -> None:
    """Of the error function, which Keras writes its GELU with and tf2onnx does not know: 1 - erf(x)."""
    import numpy as np
    from tf2onnx import utils

    (x,), shapes, dtypes = list(node.input), node.output_shapes, node.output_dtypes
    one = graph.make_const(utils.make_name("one"), np.array(1, utils.map_onnx_to_numpy_type(dtypes[0])))
    graph.remove_node(name)
    erf = graph.make_node("Erf", [x], name=utils.make_name(name), shapes=shapes, dtypes=dtypes)
    graph.make_node("Sub", [one.output[0], erf.output[0]], name=name, outputs=node.output, shapes=shapes, dtypes=dtypes)


def _images(graph: Any, inputs: list[str]) -> list[str]:
    """The inputs of four axes."""
    shapes = {f"{node.name}:0": node.attr["shape"].shape for node in graph.node if node.op.startswith("Placeholder")}
    return [name for name in inputs if name in shapes and len(shapes[name].dim) == 4]


def _check_operators(model: Any, onnx: Any) -> None:
    """tf2onnx leaves what it cannot convert in the file under TensorFlow's name."""
    known = {schema.name for schema in onnx.defs.get_all_schemas()}
    strange: dict[str, str] = {}
    for node in model.graph.node:
        if node.domain in ("", "ai.onnx") and node.op_type not in known:
            strange.setdefault(node.op_type, node.name)
    if strange:
        told = ", ".join(f"{operator} ('{name}')" for operator, name in sorted(strange.items()))
        raise Refused(f"tf2onnx cannot convert {told}")


def main() -> int:
    """Answer on the last line of stdout; whatever the libraries say goes to stderr."""
    answers, sys.stdout = sys.stdout, sys.stderr
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    try:
        answer: dict[str, Any] = {"versions": converted(json.loads(sys.stdin.read()))}
    except ImportError as fault:
        answer = {"missing": str(fault)}
    except Refused as fault:
        answer = {"fault": str(fault), "hint": "--output cuts the graph before a part that cannot be converted."}
    except Exception as fault:  # whatever TensorFlow finds wrong with a file of somebody's
        first = next((line.strip() for line in str(fault).splitlines() if line.strip()), "no reason given")
        answer = {"fault": f"TensorFlow cannot convert it: {type(fault).__name__}: {first[:WORDS]}"}
    print(json.dumps(answer), file=answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
