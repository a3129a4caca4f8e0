"""Run by the interpreter that has TensorFlow: writes networks, images and TensorFlow's own numbers into a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def main(folder: Path) -> None:
    import keras
    import numpy as np
    import tensorflow as tf

    rng = np.random.default_rng(3)
    x_BHWC = rng.standard_normal((2, 16, 16, 3)).astype(np.float32)
    network = small(keras)
    network.set_weights([rng.uniform(0.1, 0.5, array.shape) - 0.2 * (array.ndim > 1) for array in network.weights])
    network.export(str(folder / "small"), format="tf_saved_model", verbose=False)
    np.savez(folder / "small.npz", x=x_BHWC, y=network(x_BHWC).numpy())
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        tf.nn.relu(v1.placeholder(tf.float32, None, name="x"), name="y")
        (folder / "shapeless.pb").write_bytes(graph.as_graph_def().SerializeToString())
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, (None, 16, 16, 3), name="x")
        y = blocks(tf, rng, x)
        with v1.Session() as session:
            np.savez(folder / "blocks.npz", x=x_BHWC, y=session.run(y, {x: x_BHWC}))
        (folder / "blocks.pb").write_bytes(graph.as_graph_def().SerializeToString())
        v1.raw_ops.Betainc(a=y, b=y, x=y, name="odd")
        (folder / "odd.pb").write_bytes(graph.as_graph_def().SerializeToString())
        foreign = graph.as_graph_def()
        foreign.node[-1].op = "MyOwn"
        (folder / "foreign.pb").write_bytes(foreign.SerializeToString())


def small(keras: Any) -> Any:
    layers = keras.layers
    image = keras.Input((16, 16, 3), name="image")
    x = layers.Conv2D(8, 3, padding="same", use_bias=False, name="conv1")(image)
    x = layers.ReLU(name="act1")(layers.BatchNormalization(name="bn1")(x))
    x = layers.MaxPooling2D(2, name="pool1")(x)
    x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu", name="conv2")(x)
    x = layers.Add(name="sum")([x, layers.DepthwiseConv2D(3, padding="same", name="dw")(x)])
    x = layers.Dense(20, activation="gelu", name="fc1")(layers.Flatten(name="flatten")(x))
    return keras.Model(image, layers.Dense(5, activation="softmax", name="fc2")(x), name="small")


def blocks(tf: Any, rng: Any, x: Any) -> Any:
    for name in ("block1", "block2"):
        with tf.compat.v1.variable_scope(name):
            weight = tf.constant(0.3 * rng.standard_normal((3, 3, x.shape[-1], 6)), tf.float32, name="weight")
            bias = tf.constant(rng.standard_normal(6), tf.float32, name="bias")
            x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, weight, 1, "SAME", name="conv"), bias), name="relu")
    weight = tf.constant(rng.standard_normal((6, 4)), tf.float32, name="fc/weight")
    return tf.nn.softmax(tf.matmul(tf.reduce_mean(x, [1, 2], name="mean"), weight, name="fc/matmul"), name="probs")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
