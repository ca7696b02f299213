"""Small files of Paddle, each with what its layers count.

python -m zoo.paddle_files [NAME...] -o tests/data/paddle

Paddle 2 writes program.pdmodel, Paddle 3 program.json: run it with both. The parameters are in a file beside, which is left out.
"""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

Network = tuple[Any, list[Any]]  # a layer, and the specifications of its inputs


def _specified(paddle: Any, *inputs: tuple[list[int | None], str, str]) -> list[Any]:
    return [paddle.static.InputSpec(shape, kind, name) for shape, kind, name in inputs]


def _layer(paddle: Any, parts: dict[str, Any], forward: Callable[..., Any]) -> Any:
    class Made(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

    Made.forward = forward
    return Made()


def _convolutions(paddle: Any) -> Network:
    nn = paddle.nn
    parts = {
        "stem": nn.Conv2D(3, 16, 3, 2, padding=[1, 0], bias_attr=False),
        "norm": nn.BatchNorm2D(16),
        "deep": nn.Conv2D(16, 16, 3, padding="SAME", groups=16),
        "pair": nn.Conv2D(16, 24, 3, groups=2, dilation=2),
        "squeeze": nn.Conv2D(24, 6, 1),
        "excite": nn.Conv2D(6, 24, 1),
        "pool": nn.MaxPool2D(2, ceil_mode=True),
        "average": nn.AvgPool2D(2, 2),
        "adaptive": nn.AdaptiveAvgPool2D((2, 3)),
        "drop": nn.Dropout(0.2),
        "head": nn.Linear(288, 10),
    }

    def forward(self: Any, image: Any) -> Any:
        functional = paddle.nn.functional
        x = functional.relu6(self.norm(self.stem(image)))
        x = functional.leaky_relu(self.pair(functional.hardswish(self.deep(x))), 0.1)
        gate = functional.hardsigmoid(self.excite(functional.silu(self.squeeze(functional.adaptive_avg_pool2d(x, 1)))))
        x = x * gate + x
        x = paddle.concat([self.pool(x), self.average(functional.pad(x, [0, 1, 1, 0]))], axis=1)
        return functional.softmax(self.head(self.drop(self.adaptive(x).flatten(1))))

    return _layer(paddle, parts, forward), _specified(paddle, ([None, 3, 32, 32], "float32", "image"))


def _upsampling(paddle: Any) -> Network:
    nn = paddle.nn
    parts = {
        "first": nn.Conv2D(8, 16, 3, padding=1),
        "group": nn.GroupNorm(4, 16),
        "up": nn.Conv2DTranspose(16, 8, 3, stride=2, padding=1, output_padding=1),
        "instance": nn.InstanceNorm2D(8),
        "slope": nn.PReLU(8),
        "wide": nn.Conv2D(8, 16, 1),
        "shuffle": nn.PixelShuffle(2),
        "last": nn.Conv2D(4, 4, 1),
    }

    def forward(self: Any, image: Any) -> Any:
        functional = paddle.nn.functional
        x = functional.mish(self.group(self.first(image)))
        x = self.slope(self.instance(self.up(x)))
        x = functional.interpolate(x, scale_factor=2, mode="bilinear")
        x = functional.interpolate(x, size=[32, 48], mode="nearest")
        return paddle.clip(self.last(self.shuffle(self.wide(x))), -1.0, 1.0)

    return _layer(paddle, parts, forward), _specified(paddle, ([None, 8, 16, 16], "float32", "image"))


def _recurrent(paddle: Any) -> Network:
    nn = paddle.nn
    parts = {
        "table": nn.Embedding(50, 12, padding_idx=0),
        "lstm": nn.LSTM(12, 16, num_layers=2),
        "gru": nn.GRU(16, 8, direction="bidirect"),
        "plain": nn.SimpleRNN(16, 4, time_major=True),
        "head": nn.Linear(4, 5),
    }

    def forward(self: Any, tokens: Any) -> Any:
        x, (hidden, _) = self.lstm(self.table(tokens))
        x, _ = self.gru(x + hidden[1].unsqueeze(1))
        x, _ = self.plain(x.transpose([1, 0, 2]))
        return self.head(x.transpose([1, 0, 2]))

    return _layer(paddle, parts, forward), _specified(paddle, ([None, None], "int64", "tokens"))


def _transformer(paddle: Any) -> Network:
    nn = paddle.nn
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, activation="gelu", normalize_before=True)
    parts = {
        "table": nn.Embedding(50, 16),
        "places": nn.Embedding(64, 16),
        "encoder": nn.TransformerEncoder(layer, 2, nn.LayerNorm(16)),
        "head": nn.Linear(16, 5),
    }

    def forward(self: Any, tokens: Any, mask: Any) -> Any:
        places = paddle.arange(tokens.shape[1], dtype="int64").unsqueeze(0)
        bias = (1.0 - mask.astype("float32")).unsqueeze([1, 2]) * -1e4
        return self.head(self.encoder(self.table(tokens) + self.places(places), bias))

    specification = _specified(paddle, ([None, None], "int64", "tokens"), ([None, None], "int64", "mask"))
    return _layer(paddle, parts, forward), specification


def _attention(paddle: Any) -> Network:
    nn = paddle.nn
    parts = {"qkv": nn.Linear(16, 48), "norm": nn.LayerNorm([12, 16]), "head": nn.Linear(16, 5, bias_attr=False)}

    def forward(self: Any, x: Any) -> Any:
        functional = paddle.nn.functional
        q, k, v = self.qkv(self.norm(x)).reshape([0, 12, 3, 2, 8]).unbind(2)
        y = functional.scaled_dot_product_attention(q, k, v)
        return self.head(y.reshape([-1, 12, 16]))

    return _layer(paddle, parts, forward), _specified(paddle, ([None, 12, 16], "float32", "x"))


def _shapes(paddle: Any) -> Network:
    """What moves, selects and compares."""
    parts = {"head": paddle.nn.Linear(8, 4)}

    def forward(self: Any, x: Any) -> Any:
        functional = paddle.nn.functional
        batch = paddle.shape(x)[0]
        a, b = paddle.split(x, [2, -1], axis=1)
        c, d = paddle.split(b, 2, axis=2)
        x = paddle.concat([c, d[:, :, ::2], d[:, -1:, 1:3].expand([batch, 4, 2])], axis=-1)
        x = paddle.stack([x, paddle.tanh(x)], axis=1).reshape([batch, 2, 4, -1]).transpose([0, 2, 1, 3])
        x = paddle.gather(x, paddle.to_tensor([0, 2, 1]), axis=1).squeeze([]).unsqueeze(1)
        x = paddle.tile(x, [1, 2, 1, 1, 1]).cast("float64").cast("float32") * 2.0 + 1
        x = x.sum(axis=[1]).mean(axis=2, keepdim=True).max(axis=[2])
        x = paddle.where(x > 0.5, x, paddle.zeros_like(x)) + paddle.full([batch, 3, 8], 0.25)
        values, places = paddle.topk(x, 2, axis=-1)
        hot = functional.one_hot(paddle.argmax(x, axis=-1), 8) + functional.one_hot(places[:, :, 0], 8)
        x = paddle.cumsum(x, axis=1) + hot + values.min(axis=-1, keepdim=True) + a.flatten(1)[:, :8].unsqueeze(1)
        x = paddle.pow(paddle.abs(x), 0.5) / paddle.maximum(x, paddle.exp(-x)) - paddle.rsqrt(x * x + 1.0)
        keep = paddle.logical_and(x != 0, paddle.logical_not(x.isnan()))
        x = x * keep.astype(x.dtype) + paddle.linspace(0, 1, 8) + paddle.arange(0, 8, 1, "float32").flip(0)
        return self.head(paddle.roll(x, 1, 1) // 3.0)

    return _layer(paddle, parts, forward), _specified(paddle, ([None, 6, 8], "float32", "x"))


def _control(paddle: Any) -> Network:
    """A branch and a loop that depend on the data."""
    parts = {"one": paddle.nn.Linear(8, 8), "other": paddle.nn.Linear(8, 8), "head": paddle.nn.Linear(8, 4)}

    def forward(self: Any, x: Any) -> Any:
        y = paddle.static.nn.cond(x.sum() > 0, lambda: self.one(x), lambda: paddle.tanh(self.other(x)))
        count = paddle.zeros([1], "int64")
        _, y = paddle.static.nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y + x], [count, y])
        return self.head(y)

    return _layer(paddle, parts, forward), _specified(paddle, ([None, 8], "float32", "x"))


def _volumes(paddle: Any) -> Network:
    nn = paddle.nn
    parts = {
        "volume": nn.Conv3D(2, 4, 3, padding=1),
        "norm": nn.BatchNorm3D(4),
        "pool": nn.AvgPool3D(2),
        "line": nn.Conv1D(4, 6, 3),
        "up": nn.Conv1DTranspose(6, 6, 2, stride=2),
        "line_norm": nn.BatchNorm1D(6),
        "head": nn.Linear(6, 3),
    }

    def forward(self: Any, volume: Any) -> Any:
        functional = paddle.nn.functional
        x = functional.elu(self.pool(self.norm(self.volume(volume))))
        x = functional.softplus(self.line(x.flatten(2)))
        x = functional.max_pool1d(self.line_norm(self.up(x)), 2)
        return functional.log_softmax(self.head(functional.swish(x.mean(-1))))

    return _layer(paddle, parts, forward), _specified(paddle, ([None, 2, 8, 8, 8], "float32", "volume"))


def _channels_last(paddle: Any) -> Network:
    nn = paddle.nn
    parts = {
        "first": nn.Conv2D(3, 8, 3, padding=1, data_format="NHWC"),
        "norm": nn.BatchNorm2D(8, data_format="NHWC"),
        "pool": nn.MaxPool2D(2, data_format="NHWC"),
        "up": nn.Conv2DTranspose(8, 6, 2, stride=2, data_format="NHWC"),
        "group": nn.GroupNorm(2, 6, data_format="NHWC"),
        "head": nn.Linear(6, 5),
    }

    def forward(self: Any, image: Any) -> Any:
        functional = paddle.nn.functional
        x = self.group(self.up(self.pool(functional.relu(self.norm(self.first(image))))))
        x = functional.interpolate(x, scale_factor=2, mode="nearest", data_format="NHWC")
        return self.head(functional.adaptive_avg_pool2d(x, 1, data_format="NHWC").flatten(1))

    return _layer(paddle, parts, forward), _specified(paddle, ([None, 16, 16, 3], "float32", "image"))


def _older(paddle: Any) -> tuple[Any, dict[str, Any]]:
    """A program of operators as Paddle 1 wrote them, and what is counted of it by hand for a batch of 2."""
    paddle.enable_static()
    main, ignored = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, ignored):
        block = main.global_block()
        made = 0

        def weight(*shape: int) -> Any:
            return paddle.create_parameter(list(shape), "float32")

        def add(kind: str, inputs: dict[str, Any], output: str = "Out", **attributes: Any) -> Any:
            nonlocal made
            made += 1
            out = block.create_var(name=f"{kind}_{made}.out", dtype="float32")
            outputs = {output: out}
            if kind == "dropout":
                outputs["Mask"] = block.create_var(name="mask", dtype="uint8")
            block.append_op(type=kind, inputs=inputs, outputs=outputs, attrs=attributes)
            return out

        image = paddle.static.data("image", [None, 4, 8, 8], "float32")
        words = paddle.static.data("words", [None, 1], "int64")
        x = add("conv2d", {"Input": image, "Filter": weight(6, 4, 3, 3)}, "Output", strides=[1, 1], paddings=[0, 1, 1, 1],
                dilations=[1, 1], groups=1)
        x = add("elementwise_add", {"X": x, "Y": weight(6)}, axis=1)
        x = add("relu", {"X": x})
        x = add("pool2d", {"X": x}, pooling_type="avg", ksize=[7, 7], global_pooling=True)
        x = add("dropout", {"X": x}, dropout_prob=0.25, is_test=True, dropout_implementation="downgrade_in_infer")
        x = add("mul", {"X": x, "Y": weight(6, 5)}, x_num_col_dims=1, y_num_col_dims=1)
        y = add("lookup_table", {"W": weight(30, 5), "Ids": words})
        zeros = add("fill_constant_batch_size_like", {"Input": x}, shape=[-1, 5], value=0.0, dtype=5)
        x = add("sum", {"X": [x, y, zeros]})
        x = add("matmul", {"X": x, "Y": weight(7, 5)}, transpose_Y=True, alpha=2.0)
        x = add("mean", {"X": add("reduce_sum", {"X": x}, dim=[1], keep_dim=True)})
    program = paddle.static.normalize_program(main.clone(for_test=True), [image, words], [x])
    paddle.disable_static()
    flops = 2 * 2 * (6 * 7 * 8 * 4 * 9 + 6 * 5 + 5 * 7)
    counted = {"parameters": 6 * 4 * 9 + 6 + 6 * 5 + 30 * 5 + 7 * 5, "output_shape": list(x.shape), "product_flops": flops}
    return program, counted


_NETWORKS: dict[str, Callable[[Any], Network]] = {
    "convolutions": _convolutions,
    "upsampling": _upsampling,
    "recurrent": _recurrent,
    "transformer": _transformer,
    "attention": _attention,
    "shapes": _shapes,
    "control": _control,
    "volumes": _volumes,
    "channels_last": _channels_last,
}


def _flops(network: Any, inputs: list[Any]) -> tuple[int, list[int]]:
    """Products of the layers by hand: 2 for every weight that an element of the output (transposed: input) meets. And the shape of
    the output."""
    total = 0
    hooks = []

    def count(layer: Any, given: Any, made: Any) -> None:
        nonlocal total
        kind = type(layer).__name__
        if kind == "Linear":
            total += 2 * math.prod(made.shape) * layer.weight.shape[0]
        elif kind.endswith("Transpose"):
            total += 2 * math.prod(given[0].shape) * math.prod(layer.weight.shape[1:])
        elif kind.startswith("Conv"):
            total += 2 * math.prod(made.shape) * math.prod(layer.weight.shape[1:])
        elif kind == "MultiHeadAttention":
            batch, queries, width = given[0].shape
            total += 2 * 2 * batch * queries * queries * width
        elif kind in ("LSTM", "GRU", "SimpleRNN"):
            positions = math.prod(given[0].shape[:2])
            total += 2 * positions * sum(math.prod(w.shape) for w in layer.parameters() if len(w.shape) == 2)

    for layer in network.sublayers(include_self=True):
        hooks.append(layer.register_forward_post_hook(count))
    shape = list(network(*inputs).shape)
    for hook in hooks:
        hook.remove()
    return total, shape


def _without_places(program: Any) -> bytes:
    """Where each operator was written in Python, and its other notes of the tracer."""
    for block in program.blocks:
        for op in block.ops:
            kept = [a for a in op.attrs if a.name not in ("op_callstack", "op_namescope", "op_role", "op_role_var", "op_device")]
            del op.attrs[:]
            op.attrs.extend(kept)
    return program.SerializeToString(deterministic=True)


def _written(paddle: Any, network: Any, specification: list[Any]) -> tuple[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="zoo") as folder:
        paddle.jit.save(network, f"{folder}/program", input_spec=specification)
        whole = pathlib.Path(folder) / "program.json"
        if whole.exists():
            return whole.name, whole.read_bytes()
        from paddle.base.proto import framework_pb2

        program = framework_pb2.ProgramDesc()
        program.ParseFromString(whole.with_suffix(".pdmodel").read_bytes())
        return "program.pdmodel", _without_places(program)


def make(name: str, folder: pathlib.Path) -> None:
    import paddle

    folder.mkdir(parents=True, exist_ok=True)
    network, specification = _NETWORKS[name](paddle)
    network.eval()
    inputs = [paddle.zeros([(2, 12)[axis > 0] if n in (None, -1) else n for axis, n in enumerate(s.shape)], s.dtype)
              for s in specification]
    flops: int | None
    flops, shape = _flops(network, inputs)
    if name == "control":
        flops = None  # which branch runs, and how often the loop, depends on the data
    if name == "attention":
        flops += 2 * 2 * 2 * 12 * 12 * 16  # both products, of no layer
    file, content = _written(paddle, network, specification)
    (folder / file).write_bytes(content)
    expected = {
        "parameters": sum(math.prod(p.shape) for p in network.parameters()),
        "output_shape": shape,
        "product_flops": flops,
    }
    (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


def make_older(folder: pathlib.Path) -> None:
    import paddle
    from paddle.base.proto import framework_pb2

    if not paddle.__version__.startswith("2."):
        return
    program, expected = _older(paddle)
    parsed = framework_pb2.ProgramDesc()
    parsed.ParseFromString(program.desc.serialize_to_string())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.pdmodel").write_bytes(_without_places(parsed))
    (folder / "expected.json").write_text(json.dumps(expected, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*_NETWORKS, "older"]))
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    for name in arguments.names or [*_NETWORKS, "older"]:
        if name == "older":
            make_older(arguments.output / name)
        else:
            make(name, arguments.output / name)


if __name__ == "__main__":
    main()
