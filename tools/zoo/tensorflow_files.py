"""Small files of TensorFlow without weights, each with what Keras counts for it.

python -m zoo.tensorflow_files [NAME...] -o tests/data/tensorflow

A SavedModel has its weights in files beside saved_model.pb, which are left out; what saves and restores them is taken
out of saved_model.pb. From a frozen GraphDef the numbers of large constants are taken out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

_SMALL = 1024  # bytes of a constant that is kept


def _convolutions(keras: Any) -> Any:
    layers = keras.layers
    image = keras.Input((32, 32, 3), name="image")
    x = layers.ZeroPadding2D(1)(image)
    x = layers.Conv2D(16, 3, strides=2, use_bias=False)(x)
    x = layers.ReLU(6.0)(layers.BatchNormalization()(x))
    x = layers.DepthwiseConv2D(3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(scale=False)(x)
    squeezed = layers.GlobalAveragePooling2D(keepdims=True)(x)
    gate = layers.Conv2D(16, 1, activation="sigmoid")(layers.Conv2D(4, 1, activation="silu")(squeezed))
    x = layers.Add()([layers.Multiply()([x, gate]), x])
    x = layers.Concatenate()([layers.MaxPooling2D(2)(x), layers.AveragePooling2D(2)(x)])
    return keras.Model(image, layers.Dense(10, activation="softmax")(layers.Flatten()(x)))


def _upsampling(keras: Any) -> Any:
    layers = keras.layers
    image = keras.Input((16, 16, 8), name="image")
    x = layers.Conv2D(16, 3, padding="same", groups=2, activation="relu")(image)
    x = layers.Conv2DTranspose(8, 2, strides=2)(x)
    x = layers.UpSampling2D(2, interpolation="bilinear")(x)
    return keras.Model(image, layers.Conv2D(4, 1)(x))


def _recurrent(keras: Any) -> Any:
    layers = keras.layers
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    x = layers.Embedding(50, 12)(tokens)
    x = layers.LSTM(16, return_sequences=True)(x)
    x = layers.Bidirectional(layers.GRU(8, return_sequences=True))(x)
    return keras.Model(tokens, layers.Dense(5)(x))


def _loop(keras: Any) -> Any:
    """A cell with a third product is none of the layers we know: it stays a loop."""
    layers = keras.layers
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    x = layers.GRU(8, reset_after=False, return_sequences=True)(layers.Embedding(50, 12)(tokens))
    return keras.Model(tokens, layers.Dense(5)(x))


def _masked(keras: Any) -> Any:
    """Steps of padding are skipped: TensorFlow runs such layers of a file one step at a time."""
    layers = keras.layers
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    x = layers.LSTM(8, return_sequences=True)(layers.Embedding(50, 12, mask_zero=True)(tokens))
    return keras.Model(tokens, layers.Dense(5)(layers.SimpleRNN(4, return_sequences=True)(x)))


def _transformer(keras: Any) -> Any:
    layers = keras.layers
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    x = layers.Embedding(50, 16)(tokens)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x))
    y = layers.Dense(16)(layers.Dense(32, activation="gelu")(x))
    return keras.Model(tokens, layers.Dense(5)(layers.LayerNormalization()(x + y)))


def _causal(keras: Any) -> Any:
    """Attention to what came before: the mask is made for the shape of the scores."""
    layers = keras.layers
    tokens = keras.Input((24,), dtype="int32", name="tokens")
    x = layers.Dense(16)(layers.Embedding(50, 16)(tokens))
    x = layers.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True)
    return keras.Model(tokens, layers.Dense(5)(x))


def _patches(keras: Any) -> Any:
    """An image that becomes a sequence, as vision transformers begin."""
    layers = keras.layers
    image = keras.Input((16, 16, 3), name="image")
    x = layers.Reshape((16, 24))(layers.Conv2D(24, 4, strides=4)(image))
    normed = layers.LayerNormalization(epsilon=1e-6)(x)
    x = layers.Add()([x, layers.MultiHeadAttention(2, 12)(normed, normed)])
    return keras.Model(image, layers.Dense(10)(layers.LayerNormalization(epsilon=1e-6)(x)))


def _pointwise(keras: Any) -> Any:
    """Layers on the channels of an image, a batch of one: all sizes are constants."""
    layers = keras.layers
    image = keras.Input((8, 8, 3), name="image", batch_size=1)
    x = layers.Conv2D(12, 3, padding="same")(image)
    y = layers.LayerNormalization(epsilon=1e-6)(layers.DepthwiseConv2D(3, padding="same")(x))
    y = layers.Dense(12)(layers.Dense(48, activation="gelu")(y))
    return keras.Model(image, layers.Conv2D(5, 1)(layers.Add()([x, y])))


def _dilated(keras: Any) -> Any:
    """TensorFlow has dense convolutions for these, between SpaceToBatchND and BatchToSpaceND."""
    layers = keras.layers
    image, signal = keras.Input((16, 16, 8), name="image"), keras.Input((40, 8), name="signal")
    x = layers.DepthwiseConv2D(3, padding="same", dilation_rate=2)(image)
    x = layers.Conv2D(16, 3, padding="same", dilation_rate=(2, 3), activation="relu")(x)
    y = layers.Conv1D(12, 3, padding="causal", dilation_rate=4)(signal)
    y = layers.Conv1D(12, 2, dilation_rate=3)(y)
    return keras.Model([image, signal], layers.Concatenate()([layers.GlobalAveragePooling2D()(x), layers.GlobalAveragePooling1D()(y)]))


def _distributed(keras: Any) -> Any:
    """A layer for each step of an open length: a loop cuts the steps out, and their sizes are computed."""
    layers = keras.layers
    steps = keras.Input((None, 6), name="steps")
    return keras.Model(steps, layers.TimeDistributed(layers.Dense(4))(steps))


_NETWORKS: dict[str, Callable[[Any], Any]] = {
    "convolutions": _convolutions,
    "upsampling": _upsampling,
    "recurrent": _recurrent,
    "loop": _loop,
    "masked": _masked,
    "transformer": _transformer,
    "causal": _causal,
    "patches": _patches,
    "pointwise": _pointwise,
    "dilated": _dilated,
    "distributed": _distributed,
}
# Those that are not counted by hand.
_UNCOUNTED = ("distributed", "masked")  # a masked layer runs its cell once more, for the shape of what it returns
# Those of one batch, which Keras exports open all the same.
_FROZEN_ALONE = ("pointwise",)


def _concrete(tensorflow: Any, model: Any) -> Any:
    signature = [tensorflow.TensorSpec(i.shape, i.dtype, name=i.name) for i in model.inputs]
    call = tensorflow.function(lambda *x: model(x[0] if len(x) == 1 else list(x), training=False))
    return call.get_concrete_function(*signature)


def _frozen(tensorflow: Any, model: Any, frames: bool = False) -> Any:
    """`frames`: loops stand in the graph itself, as they are frozen where nobody asks for anything else."""
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    function = convert_variables_to_constants_v2(_concrete(tensorflow, model), lower_control_flow=frames)
    graph = function.graph.as_graph_def()
    for nodes in [graph.node, *(f.node_def for f in graph.library.function)]:
        for node in nodes:
            tensor = node.attr["value"].tensor if node.op == "Const" else None
            if tensor is not None and len(tensor.tensor_content) > _SMALL:
                tensor.tensor_content = b""
    return graph


def _saved_model(model: Any) -> Any:
    from tensorflow.core.protobuf import saved_model_pb2

    with tempfile.TemporaryDirectory(prefix="zoo") as folder:
        model.export(folder, verbose=False)
        saved = saved_model_pb2.SavedModel()
        saved.ParseFromString((pathlib.Path(folder) / "saved_model.pb").read_bytes())
    for meta in saved.meta_graphs:
        meta.ClearField("object_graph_def")
        meta.meta_info_def.ClearField("stripped_op_list")
        library = meta.graph_def.library.function
        for function in [f for f in library if "traced_save" in f.signature.name or "traced_restore" in f.signature.name]:
            library.remove(function)
    return saved


_WITH_LOOPS = ("loop", "masked", "recurrent")


def _elements(shape: tuple[int | None, ...], sizes: tuple[int, int]) -> int:
    """Open extents are the batch, then the sequence."""
    batch, sequence = sizes
    return math.prod(extent or (sequence if axis else batch) for axis, extent in enumerate(shape))


def _attention_flops(layer: Any, sizes: tuple[int, int]) -> int:
    batch, sequence = sizes[0], layer.output.shape[1] or sizes[1]
    width = layer.num_heads * layer.key_dim
    projections = 4 * 2 * batch * sequence * width * layer.query_dense.kernel.shape[0]
    return projections + 2 * 2 * batch * sequence * sequence * width


def _flops(model: Any, sizes: tuple[int, int]) -> int:
    """Products of the layers by hand: 2 for every weight that an element of the output (transposed: input) meets."""
    total = 0
    for layer in model.layers:
        kind = type(layer).__name__
        if kind in ("Conv1D", "Conv2D", "DepthwiseConv2D", "Dense"):
            kernel = layer.kernel.shape
            met = math.prod(kernel[:2]) if kind == "DepthwiseConv2D" else math.prod(kernel[:-1])
            total += 2 * _elements(layer.output.shape, sizes) * met
        elif kind == "Conv2DTranspose":
            total += 2 * _elements(layer.input.shape, sizes) * math.prod(layer.kernel.shape[:3])
        elif kind == "MultiHeadAttention":
            total += _attention_flops(layer, sizes)
        elif kind in ("LSTM", "GRU", "Bidirectional"):
            matrices = [w for w in layer.trainable_weights if w.name.endswith("kernel")]
            total += 2 * math.prod(sizes) * sum(math.prod(w.shape) for w in matrices)
    return total


def _counted(tensorflow: Any, x: Any) -> Any:
    """Five products in each of three rounds, the numbers in the conditions."""
    v1, weight = tensorflow.compat.v1, tensorflow.constant(1.0, shape=[8, 8])

    def inner(y: Any) -> Any:
        return v1.while_loop(lambda j, _: j < 5, lambda j, z: (j + 1, tensorflow.nn.relu(tensorflow.matmul(z, weight))), [0, y])[1]

    return v1.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, inner(y)), [0, x])[1]


def _arrays(tensorflow: Any, x: Any) -> Any:
    """A recurrent layer of rows, by arrays of which one is read and one is filled."""
    v1, weight = tensorflow.compat.v1, tensorflow.constant(1.0, shape=[16, 8])
    steps = tensorflow.shape(x)[0]
    read = tensorflow.TensorArray("float32", steps).unstack(x)
    filled = tensorflow.TensorArray("float32", steps)

    def step(i: Any, state: Any, out: Any) -> Any:
        state = tensorflow.tanh(tensorflow.matmul(tensorflow.concat([read.read(i), state], 1), weight))
        return i + 1, state, out.write(i, state)

    return v1.while_loop(lambda i, *_: i < steps, step, [0, x[0], filled])[2].stack()


# Graphs as TensorFlow 1 made them: what makes them, the shape of x, the FLOPs of products, parameters.
_GRAPHS: dict[str, tuple[Callable[[Any, Any], Any], list[int], int, int]] = {
    "counted": (_counted, [4, 8], 3 * 5 * 2 * 4 * 8 * 8, 64),
    "arrays": (_arrays, [7, 4, 8], 7 * 2 * 4 * 16 * 8, 128),
}


def _make_graph(name: str, folder: pathlib.Path) -> None:
    import tensorflow

    tensorflow.compat.v1.disable_control_flow_v2()
    network, shape, flops, parameters = _GRAPHS[name]
    with tensorflow.Graph().as_default() as graph:
        tensorflow.identity(network(tensorflow, tensorflow.compat.v1.placeholder("float32", shape, "x")), "out")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "frames.pb").write_bytes(graph.as_graph_def().SerializeToString(deterministic=True))
    expected = {
        "parameters": parameters,
        "inputs": {"x": shape},
        "output_shape": shape,
        "product_flops": flops,
        "tensorflow": tensorflow.__version__,
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


def make(name: str, folder: pathlib.Path) -> None:
    if name in _GRAPHS:
        return _make_graph(name, folder)

    import keras
    import tensorflow

    keras.utils.set_random_seed(0)
    model = _NETWORKS[name](keras)
    sizes = {i.name: [2 if n is None and axis == 0 else n or 12 for axis, n in enumerate(i.shape)] for i in model.inputs}
    # Of the function that is written: Keras 3.15 distributes over as many steps as the batch has entries.
    output = _concrete(tensorflow, model)(*[tensorflow.zeros(sizes[i.name], i.dtype) for i in model.inputs])
    folder.mkdir(parents=True, exist_ok=True)
    if name not in _FROZEN_ALONE:
        (folder / "saved_model.pb").write_bytes(_saved_model(model).SerializeToString(deterministic=True))
    (folder / "frozen.pb").write_bytes(_frozen(tensorflow, model).SerializeToString(deterministic=True))
    if name in _WITH_LOOPS:
        (folder / "frames.pb").write_bytes(_frozen(tensorflow, model, frames=True).SerializeToString(deterministic=True))
    expected = {
        "parameters": model.count_params(),
        "inputs": sizes,
        "output_shape": list(output.shape),
        "product_flops": None if name in _UNCOUNTED else _flops(model, (2, 12)),
        "tensorflow": tensorflow.__version__,
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*_NETWORKS, *_GRAPHS]))
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    for name in arguments.names or [*_NETWORKS, *_GRAPHS]:
        make(name, arguments.output / name)


if __name__ == "__main__":
    main()
