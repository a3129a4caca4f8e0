"""ONNX's operators, in families: `onnx.Conv` is the operator as a function, `onnx.nn.Conv` as a layer with weights."""

import pkgutil
from importlib import import_module

__all__: list[str] = []

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)
