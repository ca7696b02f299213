"""paddle:NAME, networks of paddle.vision.models, converted by paddle2onnx."""

from __future__ import annotations

import os
import tempfile

import onnx

from zoo.network import Options, UnsupportedNetwork

OPSET = 17
_NAMES = (
    "resnet18",
    "resnet50",
    "mobilenet_v1",
    "mobilenet_v2",
    "mobilenet_v3_large",
    "vgg16",
    "densenet121",
    "googlenet",
    "inception_v3",
    "shufflenet_v2_x1_0",
    "squeezenet1_1",
    "resnext50_32x4d",
)


def export(name: str, options: Options) -> tuple[onnx.ModelProto, dict[str, int]]:
    """The model, and what its symbols stand for."""
    if name not in _NAMES:
        raise UnsupportedNetwork(f"no paddle network '{name}'")
    import paddle  # slow, and must not be imported before the process forks

    size = options.image_size or (299 if name == "inception_v3" else 224)
    module = getattr(paddle.vision.models, name)(pretrained=False)
    module.eval()
    specification = [paddle.static.InputSpec([None, 3, size, size], "float32", "input")]
    with tempfile.TemporaryDirectory(prefix="zoo") as folder:
        path = os.path.join(folder, "model")
        paddle.onnx.export(module, path, input_spec=specification, opset_version=OPSET)
        model = onnx.load(path + ".onnx")
    for value in [*model.graph.input, *model.graph.output]:
        value.type.tensor_type.shape.dim[0].dim_param = "batch"
    return model, {"batch": options.batch}
