#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the runners in Python make of a program computes the same, by PyTorch and by ONNX Runtime, from the same contents.

agreement_test.py <joulecast> <folder with model files>; skipped where either library is not there (python_runners.py)
"""
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import python_runners

python_runners.use_interpreter("torch", "numpy", "onnx", "onnxruntime")
PROGRAM, EXAMPLES = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
sys.path.insert(0, str(python_runners.PACKAGE))

import numpy  # noqa: E402
import onnxruntime  # noqa: E402
import torch  # noqa: E402
from joulecast_run.onnx_graph import OnnxModel, random_array  # noqa: E402
from joulecast_run.onnx_ops import activations, elementwise, reductions  # noqa: E402
from joulecast_run.program import Program, uses_of_values  # noqa: E402
from joulecast_run.torch_module import ProgramClass  # noqa: E402
from joulecast_run.words import Refusal  # noqa: E402

IMAGE = "2,6,9,9"


def program_of(text):
    program = Program()
    for line in text.splitlines():
        program.add_line(line)
    program.check()
    return program


def one(op, *inputs, out, element="f32", attributes=""):
    """The program of one operator; inputs are `KIND ELEMENT SHAPE [CONTENTS]`, or _ where one is absent."""
    values, ids = [], []
    for text in inputs:
        ids.append("_" if text == "_" else str(len(values)))
        if text != "_":
            kind, of, shape, *contents = text.split()
            values.append(f"value {kind} {of}" + (f" shape={shape}" if shape != "scalar" else "")
                          + "".join(f" contents={numbers}" for numbers in contents))
    outputs = out if isinstance(out, list) else [out]
    elements = element if isinstance(element, list) else [element] * len(outputs)
    first = len(values)
    values += [f"value computed {of} shape={shape}" for of, shape in zip(elements, outputs)]
    made = ",".join(str(first + i) for i in range(len(outputs)))
    wanted = [f"output {first + i}" for i in range(len(outputs))]
    return "\n".join([*values, f"node {op} in={','.join(ids)} out={made} {attributes}", *wanted])


def by_torch(program, arrays):
    tensors = {i: torch.from_numpy(array.copy()) for i, array in arrays.items()}
    made = ProgramClass(program, False, torch.device("cpu"))
    module = made.make(tensors).eval()
    with torch.inference_mode():
        return [one.numpy() for one in module.checked(*(tensors[i] for i in program.ids("input")))]


def by_onnx(program, arrays):
    model, options = OnnxModel(program), onnxruntime.SessionOptions()
    options.log_severity_level = 3
    weights = [onnxruntime.OrtValue.ortvalue_from_numpy(arrays[i]) for i in model.weights]
    options.add_external_initializers([f"v{i}" for i in model.weights], weights)
    session = onnxruntime.InferenceSession(model.proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(model.outputs, {f"v{i}": arrays[i] for i in model.inputs})


def arrays_of(program, positive=False):
    uses, generator = uses_of_values(program), numpy.random.default_rng(1)
    arrays = {i: random_array(value, uses[i], generator) for i, value in enumerate(program.values) if value.kind != "computed"}
    for i in program.ids("input"):  # masks: what PyTorch makes of a row that is masked as a whole is its own
        if uses[i].below is None and arrays[i].dtype.kind == "i":
            arrays[i] = numpy.ones_like(arrays[i])
    if positive:  # for roots and logarithms
        arrays = {i: numpy.abs(array) + array.dtype.type(0.5) if array.dtype.kind == "f" else array for i, array in arrays.items()}
    return arrays


class Agreement(unittest.TestCase):
    def assert_agree(self, text, positive=False, tolerance=1e-5):
        program, text = program_of(text), "\n".join(text.splitlines()[-8:])
        arrays = arrays_of(program, positive)
        for ours, theirs in zip(by_torch(program, arrays), by_onnx(program, arrays)):
            self.assertEqual((ours.shape, ours.dtype), (theirs.shape, theirs.dtype), text)
            if ours.dtype.kind == "f":
                self.assertTrue(numpy.isfinite(ours).all(), text)
                difference = numpy.abs(ours - theirs).max() if ours.size else 0
                self.assertLessEqual(difference, tolerance * max(numpy.abs(ours).max(), 1e-30), text)
            else:
                self.assertTrue((ours == theirs).all(), f"{text}: {ours} {theirs}")

    def test_products(self):
        x, w, b = f"input f32 {IMAGE}", "parameter f32 4,3,3,3", "parameter f32 4"
        conv = "stride=2,1 dilation=1,2 padding_begin=1,1 padding_end=1,1 groups=2 transposed=0 same_padding=0"
        self.assert_agree(one("conv", x, w, b, out="2,4,5,7", attributes=conv))
        self.assert_agree(one("conv", x, w, "_", out="2,4,5,9", attributes="stride=2,1 groups=2 same_padding=1"))
        self.assert_agree(one("conv", x, w, "_", out="2,4,8,9", attributes="groups=2 padding_begin=0,1 padding_end=1,1"))
        self.assert_agree(one("conv", x, "parameter f32 6,4,3,3", b, out="2,4,18,17",
                              attributes="stride=2,2 padding_begin=1,1 padding_end=1,1 output_padding=1,0 transposed=1"))
        for shape, out in (("5,8", "5,3"), ("2,5,8", "2,5,3")):
            self.assert_agree(one("linear", f"input f32 {shape}", "parameter f32 3,8", "parameter f32 3", out=out, attributes="weight_in_out=0"))
            self.assert_agree(one("linear", f"input f32 {shape}", "parameter f32 8,3", "_", out=out, attributes="weight_in_out=1"))
        self.assert_agree(one("matmul", "input f32 2,5,4", "input f32 2,3,5", out="2,4,3", attributes="transpose_a=1 transpose_b=1"))

    def test_attention(self):
        q, kv = "input f32 2,4,5,8", ("input f32 2,4,7,8", "input f32 2,4,7,8")
        self.assert_agree(one("attention", q, *kv, "_", out="2,4,5,8", attributes="causal=0 dropout=0"))
        self.assert_agree(one("attention", q, *kv, "_", out="2,4,5,8", attributes="causal=1 dropout=0"))
        self.assert_agree(one("attention", q, *kv, "input f32 5,7", out="2,4,5,8", attributes="causal=0"))
        self.assert_agree(one("attention", q, *kv, "constant bool 1,1,1,7 1,1,0,1,0,1,1", out="2,4,5,8", attributes="causal=0"))
        shared = ("input f32 2,2,7,8", "input f32 2,2,7,8")
        self.assert_agree(one("attention", q, *shared, out="2,4,5,8", attributes="causal=0"))

    def test_attention_on_other_than_four_axes(self):
        for front in ("3", "2,3,4"):
            operands = [f"input f32 {front},{rows},8" for rows in (5, 7, 7)]
            for mask, causal in (("_", 0), ("_", 1), ("input f32 5,7", 0)):
                self.assert_agree(one("attention", *operands, mask, out=f"{front},5,8", attributes=f"causal={causal} dropout=0"))

    def test_attention_by_hand_is_the_same(self):
        q, kv, shared = "input f32 2,4,5,8", ["input f32 2,4,7,8"] * 2, ["input f32 2,2,7,8"] * 2
        for keys, mask, causal in ((kv, "_", 0), (kv, "_", 1), (kv, "input f32 5,7", 0), (shared, "_", 0),
                                   (kv, "constant bool 1,1,1,7 1,1,0,1,0,1,1", 0)):
            self.assert_agree(one("attention", q, *keys, mask, out="2,4,5,8", attributes=f"by_hand=1 causal={causal}"))

    def test_norms(self):
        x, own = f"input f32 {IMAGE}", ["parameter f32 6"] * 4
        self.assert_agree(one("batch_norm", x, *own, out=IMAGE), positive=True)
        self.assert_agree(one("group_norm", x, *own[:2], out=IMAGE, attributes="groups=3"), tolerance=1e-4)
        self.assert_agree(one("instance_norm", x, *own[:2], out=IMAGE), tolerance=1e-4)
        self.assert_agree(one("layer_norm", x, *own[:2], out=IMAGE, attributes="channels_first=1 axes=1"))
        self.assert_agree(one("layer_norm", x, "parameter f32 9,9", "_", out=IMAGE, attributes="axes=2"))
        self.assert_agree(one("rms_norm", x, "parameter f32 9", out=IMAGE, attributes="axes=1"))

    def test_pools_and_images(self):
        x = f"input f32 {IMAGE}"
        for kind in ("max", "average"):
            self.assert_agree(one("pool", x, out="2,6,5,4", attributes=f"kind={kind} kernel=3,2 stride=2,2 padding_begin=1,0 padding_end=1,0"))
            self.assert_agree(one("adaptive_pool", x, out="2,6,1,1", attributes=f"kind={kind} size=1,1"))
            self.assert_agree(one("adaptive_pool", x, out="2,6,3,3", attributes=f"kind={kind} size=3,3"))
        for kind in ("nearest", "linear", "cubic"):
            self.assert_agree(one("resize", x, out="2,6,18,5", attributes=f"kind={kind}"), tolerance=1e-4)
        self.assert_agree(one("pixel_shuffle", "input f32 2,8,3,5", out="2,2,6,10", attributes="factor=2 inverse=0"))
        self.assert_agree(one("pixel_shuffle", "input f32 2,2,6,10", out="2,8,3,5", attributes="factor=2 inverse=1"))
        self.assert_agree(one("grid_sample", x, "input f32 2,4,4,2", out="2,6,4,4", attributes="kind=linear"), tolerance=1e-4)

    def test_every_activation(self):
        for kind in [*activations.NAMED, *activations.COMPOSED]:
            more = {"prelu": ["parameter f32 6"], "clip": ["constant f32 scalar -0.5", "constant f32 scalar 0.7"]}.get(kind, [])
            out = "2,6,8,4" if kind == "glu" else "2,6,8,8"
            self.assert_agree(one("activation", "input f32 2,6,8,8", *more, out=out, attributes=f"kind={kind}"), tolerance=1e-5)
        for log in (0, 1):
            self.assert_agree(one("softmax", f"input f32 {IMAGE}", out=IMAGE, attributes=f"axis=1 log={log}"))

    def test_every_function_of_elements(self):
        truth = ("not", "is_nan", "is_inf")
        near_one = ("acosh",)
        small = ("asin", "acos", "atanh")
        for kind in [*elementwise.OF_ONE, *elementwise.COMPOSED]:
            of = "i32" if kind == "bitwise_not" else "bool" if kind == "not" else "f32"
            text = one("unary", f"input {of} 4,5", out="4,5", element="bool" if kind in truth else of, attributes=f"kind={kind}")
            if kind in near_one or kind in small:
                program, numbers = program_of(text), numpy.linspace(1.1, 3, 20) if kind in near_one else numpy.linspace(-0.9, 0.9, 20)
                arrays = {0: numbers.astype(numpy.float32).reshape(4, 5)}
                numpy.testing.assert_allclose(by_torch(program, arrays)[0], by_onnx(program, arrays)[0], 1e-4, 1e-6)
            else:
                self.assert_agree(text, positive=True)
        compared = ("equal", "less", "less_equal", "greater", "greater_equal")
        for kind in [*elementwise.OF_TWO, "mod", "fmod"]:
            of = "bool" if kind in ("and", "or", "xor") else "i32" if kind.startswith("bitwise") else "f32"
            self.assert_agree(one("binary", f"input {of} 4,5", f"input {of} 5", out="4,5", element="bool" if kind in compared else of,
                                  attributes=f"kind={kind}"), positive=True)
        self.assert_agree(one("where", "input bool 4,5", "input f32 5", "input f32 4,1", out="4,5"))
        self.assert_agree(one("cast", "input f32 4,5", out="4,5", element="i64", attributes="to=i64"))
        self.assert_agree(one("triangle", "input f32 4,5", out="4,5"))

    def test_shapes(self):
        x = "input f32 4,6"
        self.assert_agree(one("reshape", x, "constant i64 2 3,8", out="3,8"))
        self.assert_agree(one("transpose", x, out="6,4", attributes="order=1,0"))
        self.assert_agree(one("expand", "input f32 4,1", "constant i64 2 4,6", out="4,6"))
        self.assert_agree(one("tile", x, "constant i64 2 2,3", out="8,18"))
        self.assert_agree(one("concat", x, x, out="4,12", attributes="axis=-1"))
        self.assert_agree(one("split", x, out=["4,4", "4,2"], attributes="axis=1 sizes=4,2"))
        self.assert_agree(one("split", "input f32 4,5", out=["4,3", "4,2"], attributes="axis=1"))
        self.assert_agree(one("slice", x, "constant i64 2 1,-4", "constant i64 2 9223372036854775807,-1", "constant i64 2 0,1",
                              "constant i64 2 1,2", out="3,2"))
        self.assert_agree(one("pad", x, "constant i64 4 1,0,0,2", "constant f32 scalar 1.5", out="5,8"))
        self.assert_agree(one("roll", x, out="4,6", attributes="axes=0,1 shifts=1,-2"))

    def test_indices(self):
        x, at = "input f32 4,6", "input i64 3"
        self.assert_agree(one("gather", x, at, out="4,3", attributes="kind=slices axis=1"))
        self.assert_agree(one("gather", x, "constant i64 scalar 2", out="4", attributes="kind=slices axis=1"))
        self.assert_agree(one("gather", x, "input i64 2,3", out="2,3", attributes="kind=elements axis=1"))
        self.assert_agree(one("gather", x, "constant i64 2,1 3,0", out="2,6", attributes="kind=nd axis=0 batch_axes=0"))
        self.assert_agree(one("scatter", x, "constant i64 1,3 2,0,5", "input f32 1,3", out="4,6", attributes="kind=elements axis=1"))
        self.assert_agree(one("scatter", x, "constant i64 2,1 3,0", "input f32 2,6", out="4,6", attributes="kind=nd axis=0"))
        self.assert_agree(one("embedding", "parameter f32 9,5", "input i64 2,3", out="2,3,5"))
        self.assert_agree(one("one_hot", "input i64 5", out="5,4", attributes="axis=-1 depth=4"))
        self.assert_agree(one("top_k", x, out=["4,2", "4,2"], element=["f32", "i64"], attributes="axis=-1 k=2"))

    def test_reductions(self):
        for kind in reductions.OVER_AXES:
            if kind != "prod":  # PyTorch's runners have none over several axes
                self.assert_agree(one("reduce", "input f32 3,4,5", out="3,1,1", attributes=f"kind={kind} axes=1,2 keep_axes=1"), positive=True)
        for kind in ("any", "all"):
            self.assert_agree(one("reduce", "input bool 3,4", out="3", element="bool", attributes=f"kind={kind} axes=1 keep_axes=0"))
        for kind in ("arg_max", "arg_min"):
            self.assert_agree(one("reduce", "input f32 3,4", out="3", element="i64", attributes=f"kind={kind} axes=1 keep_axes=0"))
        self.assert_agree(one("cumulate", "input f32 3,4", out="3,4", attributes="axis=1"))

    def test_recurrent_layers(self):
        for kind, gates in (("lstm", 4), ("gru", 3), ("rnn", 1)):
            rows = gates * 6
            weights = [f"parameter f32 2,{rows},4", f"parameter f32 2,{rows},6", f"parameter f32 2,{2 * rows}"]
            outs = ["7,2,3,6", "2,3,6", "2,3,6"][:3 if kind == "lstm" else 2]
            for x, first in (("7,3,4", 0), ("3,7,4", 1)):
                self.assert_agree(one("rnn", f"input f32 {x}", *weights, out=outs,
                                      attributes=f"kind={kind} hidden=6 directions=2 batch_first={first}"), tolerance=1e-4)

    def test_what_onnx_lacks_is_refused_by_name(self):
        for text, word in ((one("adaptive_pool", f"input f32 {IMAGE}", out="2,6,4,4", attributes="kind=average size=4,4"), "adaptive_pool"),
                           (one("binary", "input f32 4", "input f32 4", out="4", attributes="kind=atan2"), "atan2"),
                           (one("fill", "constant i64 1 4", out="4", attributes="value=1"), "depends on no input"),
                           (one("conv", f"input f32 {IMAGE}", "parameter f32 4,6,3,3", out="2,4,9,9"), "conv makes [2, 4, 7, 7]")):
            with self.assertRaises(Refusal) as caught:
                OnnxModel(program_of(text))
            self.assertEqual(caught.exception.kind, "unsupported")
            self.assertIn(word, str(caught.exception))

    def test_example_networks(self):
        with tempfile.TemporaryDirectory() as folder:
            models = sorted(EXAMPLES.glob("*.onnx"))
            done = subprocess.run([PROGRAM, "profile", *models, "--gpu", "cpu", "--only", "networks", "--runner",
                                   python_runners.HERE / "fake_runner.py", "-o", f"{folder}/out", "--json", "-q"], capture_output=True,
                                  env=os.environ | {"FAKE_PROGRAMS": folder, "FAKE_LOG": f"{folder}/log"}, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["failed"], 0)
            programs = [pathlib.Path(path).read_text() for path in glob.glob(f"{folder}/*.program")]
        self.assertEqual(len(programs), len(models))
        for text in programs:
            self.assert_agree(text, tolerance=2e-3)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
