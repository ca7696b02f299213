"""Small files of TensorFlow Lite without weights, each with what Keras counts for its network.

python -m zoo.tflite_files [NAME...] -o tests/data/tflite

The networks are those of tensorflow_files. The contents of large buffers are taken out: as in models beyond 2 GiB, the
buffers say that their contents lie behind the model, where here nothing is.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
from collections.abc import Callable
from typing import Any

from . import tensorflow_files

_SMALL = 1024  # bytes of a buffer that is kept
_BEHIND = 1 << 40


def _steps(keras: Any) -> Any:
    """A recurrent layer whose sizes are all known: the converter writes the list of steps as slices."""
    layers = keras.layers
    tokens = keras.Input((12,), dtype="int32", name="tokens", batch_size=2)
    x = layers.LSTM(16, return_sequences=True)(layers.Embedding(50, 12)(tokens))
    return keras.Model(tokens, layers.Dense(5)(x))


def _stateful(keras: Any) -> Any:
    """A layer that begins where the run before has ended."""
    layers = keras.layers
    steps = keras.Input(batch_shape=(2, None, 6), name="steps")
    return keras.Model(steps, layers.GRU(5, stateful=True, return_sequences=True)(steps))


_NETWORKS: dict[str, Callable[[Any], Any]] = {
    "convolutions": tensorflow_files._convolutions,
    "upsampling": tensorflow_files._upsampling,
    "recurrent": tensorflow_files._recurrent,
    "loop": tensorflow_files._loop,
    "transformer": tensorflow_files._transformer,
    "causal": tensorflow_files._causal,
    "dilated": tensorflow_files._dilated,
    "distributed": tensorflow_files._distributed,
    "steps": _steps,
    "stateful": _stateful,
}
_OPTIONS: dict[str, list[str]] = {
    "convolutions": ["float", "dynamic", "half", "int8"],
    "upsampling": ["float"],
    "dilated": ["float"],
    "transformer": ["float"],
    "causal": ["float"],
    "steps": ["float"],
    "recurrent": ["select"],  # lists of tensors are operators of TensorFlow
    "loop": ["select"],
    "distributed": ["select"],
    "stateful": ["select"],
}


def _converted(tensorflow: Any, model: Any, option: str) -> bytes:
    import numpy

    lite = tensorflow.lite
    converter = lite.TFLiteConverter.from_keras_model(model)
    if option == "select":
        converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS, lite.OpsSet.SELECT_TF_OPS]
    elif option != "float":
        converter.optimizations = [lite.Optimize.DEFAULT]
    if option == "half":
        converter.target_spec.supported_types = [tensorflow.float16]
    elif option == "int8":
        shape = (1, *model.inputs[0].shape[1:])
        converter.representative_dataset = lambda: ([numpy.random.rand(*shape).astype("float32")] for _ in range(4))
        converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tensorflow.int8
    return converter.convert()


def _weights(schema: Any, model: Any) -> int:
    """Elements of the constants that are real numbers or stand for some, each once; zeros are what states begin
    with, unless they are a convolution's biases."""
    real = {schema.TensorType.FLOAT32, schema.TensorType.FLOAT16}
    total = 0
    convolutions = (schema.BuiltinOperator.CONV_2D, schema.BuiltinOperator.DEPTHWISE_CONV_2D)
    for graph in model.subgraphs:
        biases = {int(op.inputs[2]) for op in graph.operators if model.operatorCodes[op.opcodeIndex].builtinCode in convolutions}
        read = {int(i) for op in graph.operators for i in (op.inputs if op.inputs is not None else [])}
        for place in read - {-1}:
            tensor = graph.tensors[place]
            shape = [] if tensor.shape is None else list(tensor.shape)
            scaled = tensor.quantization is not None and tensor.quantization.scale is not None
            data = model.buffers[tensor.buffer].data
            constant = data is not None and (bool(data.any()) or place in biases)
            if constant and shape and (tensor.type in real or scaled):
                total += math.prod(int(n) for n in shape)
    return total


def _emptied(content: bytes) -> tuple[bytes, int]:
    import flatbuffers
    from tensorflow.lite.python import schema_py_generated as schema

    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(content, 0))
    weights = _weights(schema, model)
    model.metadata, model.metadataBuffer = None, None
    for buffer in model.buffers:
        if buffer.data is not None and len(buffer.data) > _SMALL:
            buffer.offset, buffer.size, buffer.data = _BEHIND, len(buffer.data), None
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output()), weights


def make(name: str, folder: pathlib.Path) -> None:
    import keras
    import tensorflow

    keras.utils.set_random_seed(0)
    model = _NETWORKS[name](keras)
    for weight in [w for w in model.weights if w.name != "rnn_state"]:  # zeros would be merged, biases of them left out
        weight.assign(abs(keras.random.normal(weight.shape)) + 0.1)
    sizes = {i.name: [2 if n is None and axis == 0 else n or 12 for axis, n in enumerate(i.shape)] for i in model.inputs}
    folder.mkdir(parents=True, exist_ok=True)
    weights = {}
    for option in _OPTIONS[name]:
        content, weights[option] = _emptied(_converted(tensorflow, model, option))
        (folder / f"{option}.tflite").write_bytes(content)
    concrete = tensorflow_files._concrete(tensorflow, model)
    output = concrete(*[tensorflow.zeros(sizes[i.name], i.dtype) for i in model.inputs])
    expected = {
        "weights": weights,
        "output_shape": list(output.shape),
        "product_flops": None if name in tensorflow_files._UNCOUNTED else tensorflow_files._flops(model, (2, 12)),
        "tensorflow": tensorflow.__version__,
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(_NETWORKS))
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    for name in arguments.names or _NETWORKS:
        make(name, arguments.output / name)


if __name__ == "__main__":
    main()
