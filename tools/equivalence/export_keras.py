#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks in every form that Keras and TensorFlow can: export_keras.py FOLDER [NETWORK...]

FOLDER/NETWORK/keras/ gets saved_model/, frozen.pb, model.tflite, model.keras and model.h5. NETWORK may also be the name of any
function of keras.applications.
"""
from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras  # noqa: E402
import tensorflow  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2  # noqa: E402


def lstm() -> Any:
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    value = keras.layers.Embedding(10000, 256)(tokens)
    for _ in range(2):
        value = keras.layers.LSTM(512, return_sequences=True)(value)
    return keras.Model(tokens, keras.layers.Dense(10000)(value))


def attention(value: Any) -> Any:
    return keras.layers.MultiHeadAttention(12, 64)(value, value)


def feed_forward(value: Any) -> Any:
    return keras.layers.Dense(768)(keras.layers.Dense(3072, activation="gelu")(value))


def bert_base() -> Any:
    """Normalised after each sum; without a pooler, as transformers' BertModel is exported."""
    names = ("tokens", "positions", "segments")
    inputs = [keras.Input((None,), dtype="int32", name=name) for name in names]
    tables = [keras.layers.Embedding(size, 768)(one) for size, one in zip((30522, 512, 2), inputs)]
    value = keras.layers.LayerNormalization(epsilon=1e-12)(keras.layers.Add()(tables))
    for _ in range(12):
        for part in (attention, feed_forward):
            value = keras.layers.LayerNormalization(epsilon=1e-12)(keras.layers.Add()([value, part(value)]))
    return keras.Model(inputs, value)


def vit_b_16() -> Any:
    """The class token is a row of zeros, to which its position is added."""
    image = keras.Input((224, 224, 3), name="image")
    positions = keras.Input((197,), dtype="int32", name="positions")
    value = keras.layers.Reshape((196, 768))(keras.layers.Conv2D(768, 16, strides=16)(image))
    value = keras.layers.Add()([keras.layers.ZeroPadding1D((1, 0))(value), keras.layers.Embedding(197, 768)(positions)])
    for _ in range(12):
        for part in (attention, feed_forward):
            value = keras.layers.Add()([value, part(keras.layers.LayerNormalization(epsilon=1e-6)(value))])
    first = keras.layers.Cropping1D((0, 196))(keras.layers.LayerNormalization(epsilon=1e-6)(value))
    return keras.Model([image, positions], keras.layers.Dense(1000)(keras.layers.Flatten()(first)))


def application(name: str) -> Any:
    return lambda: getattr(keras.applications, name)(weights=None)


NETWORKS = {
    "resnet50": application("ResNet50"), "vgg16": application("VGG16"), "mobilenet_v2": application("MobileNetV2"),
    "efficientnet_b0": application("EfficientNetB0"), "densenet121": application("DenseNet121"), "vit_b_16": vit_b_16,
    "bert_base": bert_base, "lstm": lstm,
}


def write_frozen(model: Any, path: pathlib.Path) -> None:
    signature = [tensorflow.TensorSpec(i.shape, i.dtype, name=i.name) for i in model.inputs]
    function = tensorflow.function(lambda *x: model(x if len(x) > 1 else x[0], training=False)).get_concrete_function(*signature)
    path.write_bytes(convert_variables_to_constants_v2(function).graph.as_graph_def().SerializeToString())


FORMS = {
    "saved_model": lambda model, path: model.export(str(path), verbose=False),
    "frozen.pb": write_frozen,
    "model.tflite": lambda model, path: path.write_bytes(tensorflow.lite.TFLiteConverter.from_keras_model(model).convert()),
    "model.keras": lambda model, path: model.save(path),
    "model.h5": lambda model, path: model.save(path),
}


def main(folder: str, *names: str) -> None:
    for name in names or NETWORKS:
        place = pathlib.Path(folder) / name / "keras"
        place.mkdir(parents=True, exist_ok=True)
        model = NETWORKS.get(name, application(name))()
        for form, write in FORMS.items():
            if (place / form).exists():
                continue
            try:
                write(model, place / form)
                print(f"{name}: {form}", flush=True)
            except Exception as error:  # the next form may work; the table tells what is not there
                print(f"{name}: {form}: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
