"""Small files of Keras without weights, each with what Keras counts for it.

python -m zoo.keras_files [NAME...] -o tests/data/keras

Of a .keras file the archive is written anew without the weights; of an .h5 file the attributes, once as Keras writes them
and once in the newest form of HDF5 with text of a fixed length.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from . import tensorflow_files  # noqa: E402


def _nested(keras: Any) -> Any:
    """A model as a layer, called twice; a layer that is shared; operators between layers."""
    layers = keras.layers
    inner = keras.Sequential([keras.Input((8,)), layers.Dense(8, activation="silu"), layers.Dense(8)], name="inner")
    first, second = keras.Input((8,), name="first"), keras.Input((8,), name="second")
    shared = layers.Dense(8, name="shared")
    x = layers.Concatenate()([inner(shared(first)), inner(shared(second))])
    x = layers.Average()([x, x * 2.0])[..., 2:]
    return keras.Model([first, second], layers.Dense(3, activation="softmax")(layers.PReLU()(x)))


def _scaled(keras: Any) -> Any:
    """The end of a block of ConvNeXt."""
    from keras.src.applications.convnext import LayerScale

    layers = keras.layers
    image = keras.Input((8, 8, 6), name="image")
    x = layers.Dense(6)(layers.Dense(24, activation="gelu")(layers.LayerNormalization(epsilon=1e-6)(image)))
    return keras.Model(image, layers.GlobalAveragePooling2D()(layers.Add()([image, LayerScale(1e-6, 6)(x)])))


def _volumes(keras: Any) -> Any:
    layers = keras.layers
    return keras.Sequential(
        [
            keras.Input((8, 8, 8, 2), name="volume"),
            layers.ZeroPadding3D(1),
            layers.Conv3D(4, 3, activation="elu"),
            layers.MaxPooling3D(2),
            layers.Cropping3D(1),
            layers.GlobalAveragePooling3D(),
            layers.Dropout(0.3),
            layers.RepeatVector(6),
            layers.Conv1D(6, 3, padding="causal", dilation_rate=2),
            layers.SeparableConv1D(8, 3, padding="same", activation="leaky_relu"),
            layers.GroupNormalization(4),
            layers.Permute((2, 1)),
            layers.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d"),
            layers.Reshape((4, 10)),
            layers.TimeDistributed(layers.LayerNormalization()),
            layers.Bidirectional(layers.SimpleRNN(3), merge_mode="sum"),
            layers.Rescaling(0.5, 1.0),
        ]
    )


def _operations(keras: Any) -> Any:
    """Functions of keras.ops between layers."""
    import numpy

    layers, ops = keras.layers, keras.ops
    x = keras.Input((6, 8), name="x")
    wide = ops.concatenate([x, ops.roll(x, 1, axis=1), ops.flip(x, axis=1), ops.repeat(x[:, :3], 2, axis=1)], axis=-1)
    scores = ops.softmax(ops.matmul(wide, ops.transpose(wide, (0, 2, 1))) / 8.0)
    mixed = ops.einsum("bij,bjk->bik", scores, x)
    mixed = ops.dot(mixed, numpy.ones((8, 10), "float32")) + numpy.ones((10,), "float32")
    mixed = ops.tensordot(mixed, ops.ones((10, 8)), axes=1)
    first, middle, last = ops.split(mixed, [3, 5], axis=-1)
    parts = ops.stack([ops.expand_dims(p, -1) for p in ops.split(x, 2, axis=-1)], axis=1)
    flat = ops.reshape(ops.squeeze(parts, -1), (-1, 48))
    pooled = ops.mean(x, axis=1) + ops.max(x, axis=(1,)) - ops.sum(x, axis=1, keepdims=True)[:, 0]
    pooled = pooled * ops.std(x, axis=1) / (1.0 + ops.logsumexp(x, axis=1)) + ops.var(ops.swapaxes(x, 1, 2), axis=-1)
    chosen = ops.where(ops.greater(x, 0), ops.clip(x, -1, 1), ops.square(x))
    chosen = ops.take(ops.pad(chosen, ((0, 0), (1, 2), (0, 0))), numpy.array([0, 4, 8]), axis=1)
    best, places = ops.top_k(ops.normalize(ops.moveaxis(chosen, 1, 2)), 2)
    code = ops.one_hot(ops.argmax(x, axis=-1), 4)
    image = ops.conv(ops.tile(x, (1, 2, 1)), ops.ones((3, 8, 4)), padding="same")
    image = ops.max_pool(ops.silu(image), 2) + ops.average_pool(ops.ones_like(image), 2)
    rows = [first, middle, last, chosen[:, :1] + ops.cumsum(x, axis=1), code, image, ops.cast(places, "float32"), best]
    rows = [ops.ravel(ops.mean(r, axis=(1, 2))) for r in rows] + list(ops.unstack(pooled, axis=1))
    return keras.Model(x, layers.Dense(4)(ops.concatenate([flat, ops.stack(rows, axis=-1)], axis=-1)))


def _heads(keras: Any) -> Any:
    """Attention with fewer heads of keys, and without products; an image's middle."""
    layers = keras.layers
    image = keras.Input((10, 12, 3), name="image")
    x = layers.SpectralNormalization(layers.Conv2D(8, 3))(layers.CenterCrop(8, 6)(image))
    x = layers.Reshape((24, 8))(x)
    x = layers.GroupQueryAttention(4, 4, 2)(x, x)
    return keras.Model(image, layers.AdditiveAttention()([x, x]))


def _cells(keras: Any) -> Any:
    """Recurrent layers that cuDNN has no kernels for."""
    layers = keras.layers
    x = keras.Input((12, 6, 6, 3), name="x")
    y = layers.ConvLSTM2D(4, 3, strides=2, padding="same", return_sequences=True)(x)
    y = layers.TimeDistributed(layers.Flatten())(y)
    y = layers.RNN([layers.LSTMCell(5), layers.GRUCell(4)], return_sequences=True)(y)
    y = layers.Bidirectional(layers.LSTM(3, activation="relu", return_sequences=True))(y)
    y = layers.GRU(7, reset_after=False, return_sequences=True)(y)
    y = layers.RNN(layers.SimpleRNNCell(5), return_sequences=True)(y)
    return keras.Model(x, layers.SimpleRNN(2, go_backwards=True)(y))


_NETWORKS: dict[str, Callable[[Any], Any]] = {
    "convolutions": tensorflow_files._convolutions,
    "upsampling": tensorflow_files._upsampling,
    "recurrent": tensorflow_files._recurrent,
    "transformer": tensorflow_files._transformer,
    "nested": _nested,
    "volumes": _volumes,
    "scaled": _scaled,
    "operations": _operations,
    "heads": _heads,
    "cells": _cells,
}


def _write_archive(model: Any, path: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory(prefix="zoo") as folder:
        whole = pathlib.Path(folder) / "model.keras"
        model.save(whole)
        with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            for name in ("metadata.json", "config.json"):
                content = source.read(name).decode()
                if name == "metadata.json":
                    content = json.dumps({**json.loads(content), "date_saved": ""})
                out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


def _write_hdf5(model: Any, path: pathlib.Path, newest: bool) -> None:
    import h5py
    import numpy

    with tempfile.TemporaryDirectory(prefix="zoo") as folder:
        whole = pathlib.Path(folder) / "model.h5"
        model.save(whole)
        with h5py.File(whole) as source, h5py.File(path, "w", libver="latest" if newest else "earliest") as out:
            for key, value in source.attrs.items():
                out.attrs[key] = numpy.bytes_(value) if newest else value


def _unread(layer: Any) -> int:
    """Numbers that only training reads."""
    return int(math.prod(layer.vector_u.shape)) if hasattr(layer, "vector_u") else 0


def make(name: str, folder: pathlib.Path) -> None:
    import keras

    keras.utils.clear_session()
    model = _NETWORKS[name](keras)
    folder.mkdir(parents=True, exist_ok=True)
    _write_archive(model, folder / "model.keras")
    _write_hdf5(model, folder / "model.h5", newest=False)
    if len(model.to_json()) < 60_000:  # a message of HDF5 holds no more
        _write_hdf5(model, folder / "newest.h5", newest=True)
    sizes = [[2 if n is None and axis == 0 else n or 12 for axis, n in enumerate(i.shape)] for i in model.inputs]
    output = model([keras.ops.zeros(s, i.dtype) for s, i in zip(sizes, model.inputs)] if len(sizes) > 1 else
                   keras.ops.zeros(sizes[0], model.inputs[0].dtype))
    expected = {
        "parameters": model.count_params() - sum(_unread(layer) for layer in model.layers),
        "output_shape": list(output.shape),
        "product_flops": tensorflow_files._flops(model, (2, 12)) if name in tensorflow_files._NETWORKS else None,
        "keras": keras.__version__,
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
