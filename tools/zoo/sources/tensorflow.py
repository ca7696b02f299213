"""tensorflow:NAME, networks of keras.applications and small recurrent ones, converted by tf2onnx."""

from __future__ import annotations

from typing import Any

import numpy
import onnx

from zoo.network import Options, UnsupportedNetwork

OPSET = 17

# Name -> class of keras.applications, image size.
_APPLICATIONS = {
    "resnet50": ("ResNet50", 224),
    "resnet101v2": ("ResNet101V2", 224),
    "mobilenet": ("MobileNet", 224),
    "mobilenet_v2": ("MobileNetV2", 224),
    "mobilenet_v3_large": ("MobileNetV3Large", 224),
    "efficientnet_b0": ("EfficientNetB0", 224),
    "efficientnet_v2_b0": ("EfficientNetV2B0", 224),
    "densenet121": ("DenseNet121", 224),
    "vgg16": ("VGG16", 224),
    "inception_v3": ("InceptionV3", 299),
    "xception": ("Xception", 299),
    "nasnet_mobile": ("NASNetMobile", 224),
    "convnext_tiny": ("ConvNeXtTiny", 224),
}
_RECURRENT = ("lstm", "gru")


def export(name: str, options: Options) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The model, and what its symbols stand for."""
    import tensorflow  # slow, and must not be imported before the process forks
    import tf2onnx

    sizes = {"batch": options.batch}
    if name in _APPLICATIONS:
        application, size = _APPLICATIONS[name]
        size = options.image_size or size
        module = getattr(tensorflow.keras.applications, application)(weights=None, input_shape=(size, size, 3))
        signature = tensorflow.TensorSpec((None, size, size, 3), tensorflow.float32, name="input")
        symbols = ["batch"]
    elif name in _RECURRENT:
        module = _tagger(tensorflow.keras, name)
        sizes["sequence"] = options.sequence or 64
        signature = tensorflow.TensorSpec((None, None), tensorflow.int32, name="input_ids")
        symbols = ["batch", "sequence"]
    else:
        raise UnsupportedNetwork(f"no tensorflow network '{name}'")
    _randomise(module)
    function = tensorflow.function(lambda x: module(x, training=False), input_signature=[signature])
    model, _ = tf2onnx.convert.from_function(function, input_signature=[signature], opset=OPSET)
    _name_dimensions(model, symbols)
    return model, sizes


def _tagger(keras: Any, kind: str) -> Any:
    layer = {"lstm": keras.layers.LSTM, "gru": keras.layers.GRU}[kind]
    return keras.Sequential(
        [
            keras.layers.Embedding(10000, 256),
            layer(512, return_sequences=True),
            layer(512, return_sequences=True),
            keras.layers.Dense(10000),
        ]
    )


def _randomise(module: Any) -> None:
    """Gives every weight its own values: tf2onnx takes out the additions of zeros that fresh networks are full of."""
    generator = numpy.random.default_rng(0)
    module.set_weights([w + (0.01 * generator.random(w.shape)).astype(w.dtype) for w in module.get_weights()])


def _name_dimensions(model: onnx.ModelProto, symbols: list[str]) -> None:
    """tf2onnx numbers unknown dimensions (unk__7); the first ones of inputs and outputs get their names."""
    used = {name for node in model.graph.node for name in node.input}
    for unused in [v for v in model.graph.input if v.name not in used]:  # constants that were folded
        model.graph.input.remove(unused)
    for value in [*model.graph.input, *model.graph.output]:
        for dimension, symbol in zip(value.type.tensor_type.shape.dim, symbols, strict=False):
            dimension.dim_param = symbol
