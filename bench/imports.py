#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long joulecast takes to read a ResNet-50 with its weights in every form, beside its own framework's loader.

    python3 bench/imports.py build/release FOLDER

Writes the files into FOLDER where they are missing, with the frameworks that this Python has: onnx and torch with torchvision, or
tensorflow with keras, or paddle. Both read a file that is in memory, in turn, in a process that has all it needs; the least of several times counts.
"""
import importlib.util
import pathlib
import subprocess
import sys
import time

ROUNDS, GOAL = 5, 50
SIDE = 224


def write_torch(folder):
    import torch

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
    from zoo import torchvision_ops

    torchvision_ops.ensure()
    import torchvision

    net, image = torchvision.models.resnet50().eval(), torch.randn(1, 3, SIDE, SIDE)
    torch.onnx.export(net, (image,), folder / "torch.onnx", dynamo=False)
    torch.export.save(torch.export.export(net, (image,)), folder / "torch.pt2")
    torch.jit.trace(net, image).save(folder / "torch.pt")


def write_keras(folder):
    import keras
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as frozen

    net = keras.applications.ResNet50(weights=None)
    net.save(folder / "keras.keras")
    net.save(folder / "keras.h5")
    net.export(folder / "keras_saved_model")
    call = tf.function(lambda image: net(image, training=False)).get_concrete_function(tf.TensorSpec([1, SIDE, SIDE, 3]))
    (folder / "keras.pb").write_bytes(frozen(call).graph.as_graph_def().SerializeToString())
    (folder / "keras.tflite").write_bytes(tf.lite.TFLiteConverter.from_keras_model(net).convert())


def write_paddle(folder):
    import paddle

    net = paddle.vision.models.resnet50()
    net.eval()
    paddle.jit.save(net, str(folder / "paddle"), input_spec=[paddle.static.InputSpec([1, 3, SIDE, SIDE], "float32", "image")])


def load_graph_def(path):
    import tensorflow as tf

    graph_def = tf.compat.v1.GraphDef()
    graph_def.ParseFromString(path.read_bytes())
    with tf.Graph().as_default():
        tf.import_graph_def(graph_def)


def loader(name):
    """What the framework offers for such a file, or nothing without it."""
    if name.startswith("paddle"):
        import paddle

        return lambda path: paddle.jit.load(str(path.with_suffix("")))
    if name.startswith("torch"):
        import onnx
        import torch

        return {".onnx": onnx.load, ".pt2": torch.export.load, ".pt": torch.jit.load}[pathlib.Path(name).suffix]
    import keras
    import tensorflow as tf

    return {".keras": keras.models.load_model, ".h5": keras.models.load_model, "": lambda path: tf.saved_model.load(str(path)),
            ".pb": load_graph_def, ".tflite": lambda path: tf.lite.Interpreter(str(path)).allocate_tensors()}[pathlib.Path(name).suffix]  # fmt: skip


def milliseconds(call, path):
    begin = time.perf_counter()
    call(path)
    return (time.perf_counter() - begin) * 1e3


def size(path):
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file()) if path.is_dir() else path.stat().st_size


def main(build, folder):
    program = str(pathlib.Path(build) / "bench_import_file")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    makers = {"torch": write_torch, "paddle": write_paddle, "keras": write_keras}
    framework = next(name for name in makers if importlib.util.find_spec(name))
    if not list(folder.glob(framework + "*")):
        makers[framework](folder)
    for path in sorted(folder.glob(framework + "*")):
        if path.suffix == ".pdiparams":  # the parameters beside a program
            continue
        theirs = loader(path.name)
        pairs = [(milliseconds(theirs, path), float(subprocess.check_output([program, path, "10"]))) for _ in range(ROUNDS)]
        them, us = (min(times) for times in zip(*pairs))
        print(f"{path.name:18} {size(path) / 1e6:6.1f} MB  {them:8.1f} ms {framework:12} "
              f"{us:6.2f} ms joulecast  {them / us:6.0f} times (goal: {GOAL})")


if __name__ == "__main__":
    main(*sys.argv[1:])
