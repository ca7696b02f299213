# SPDX-License-Identifier: Apache-2.0
"""A program as an ONNX model. Inputs are inputs of the graph, so that nothing of the work can be done beforehand; weights are
initializers whose contents the session is given, as those of a model file are."""
import numpy
import onnx
from onnx import TensorProto, helper

from .onnx_ops import make_nodes
from .program import Context, deviation
from .words import Refusal

OPSET, IR_VERSION = 21, 10
TYPES = {"f64": TensorProto.DOUBLE, "f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16,
         "i64": TensorProto.INT64, "i32": TensorProto.INT32, "i16": TensorProto.INT16, "i8": TensorProto.INT8,
         "u8": TensorProto.UINT8, "bool": TensorProto.BOOL}


class Builder:
    """Nodes of the steps so far. Names of values are v0, v1, ...; what lies between is t0, t1, ..."""

    def __init__(self, program):
        self.program, self.nodes, self.initializers, self.known, self.infos = program, [], [], {}, []
        self.names = [f"v{i}" for i in range(len(program.values))]
        self._next = 0

    def fresh(self):
        self._next += 1
        return f"t{self._next}"

    def node(self, op, inputs, outputs=1, **attributes):
        """The name of its output, or a list of their names where there are several."""
        names = [self.fresh() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"{op}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def declare(self, name, element, shape):
        """Of what ONNX's own inference does not know."""
        self.infos.append(helper.make_tensor_value_info(name, type_of(element), shape))
        return name

    def constant(self, numbers, element, shape=None):
        """Of a few numbers; a scalar where it is one number and no shape is given."""
        numbers = list(numbers) if isinstance(numbers, (list, tuple)) else [numbers]
        key = (tuple(numbers), element, None if shape is None else tuple(shape))
        if key not in self.known:
            self.known[key] = self.fresh()
            extents = ([len(numbers)] if len(numbers) != 1 else []) if shape is None else shape
            self.initializers.append(helper.make_tensor(self.known[key], type_of(element), extents, numbers))
        return self.known[key]

    def integers(self, numbers):
        return self.constant(list(numbers), "i64", [len(numbers)])

    def filled(self, shape, number, element):
        """A constant tensor of one number, of any size."""
        one = self.constant(number, element)
        return self.node("Expand", [one, self.integers(shape)]) if shape else one

    def array(self, array):
        self.initializers.append(onnx.numpy_helper.from_array(array, self.fresh()))
        return self.initializers[-1].name

    def cast(self, name, element):
        return self.node("Cast", [name], to=type_of(element))


class StepContext(Context):
    """A step that adds its nodes to a builder."""

    def __init__(self, program, step, build):
        super().__init__(program, step, training=False)
        self.build = build

    def name(self, i):
        return self.build.names[self.in_id(i)]

    def optional_name(self, i):
        return self.name(i) if self.has(i) else None

    def element(self, i=0):
        return self.input(i).element


def type_of(element):
    if element not in TYPES:
        raise Refusal("unsupported", f"elements of type {element}")
    return TYPES[element]


class OnnxModel:
    """`inputs` and `weights` are values of the program; weights are external initializers of the same names (v7)."""

    def __init__(self, program):
        self.program = program
        fed = "input" if program.ids("input") else "parameter"  # of weights alone everything would be known beforehand
        self.inputs = program.ids(fed)
        self.weights = [i for kind in ("parameter", "constant") for i in program.ids(kind)
                        if kind != fed and not program.values[i].contents]
        self._build = Builder(program)
        for step in program.steps:
            self._add(step)
        self.outputs = self._output_names()
        self.proto = self._model()
        self._refuse_what_is_known()
        self._check_shapes()

    def _add(self, step):
        context = StepContext(self.program, step, self._build)
        self._known_inputs(step)
        made = make_nodes(context)
        for one, name in zip(step.outputs, [made] if isinstance(made, str) else made):
            if one is not None:
                self._build.names[one] = name

    def _known_inputs(self, step):
        """Constants whose contents are known become initializers where they are first read."""
        for i in step.inputs:
            if i is not None and self.program.values[i].contents and self._build.names[i] == f"v{i}":
                value = self.program.values[i]
                self._build.names[i] = self._build.constant(value.contents, value.element, value.shape)

    def _output_names(self):
        """Of each output; one that is no node's, or named twice, gets a node of its own."""
        made, out = {name for node in self._build.nodes for name in node.output}, []
        for i in self.program.outputs:
            if self.program.values[i].contents and self._build.names[i] == f"v{i}":
                raise Refusal("unsupported", "an output is known beforehand")
            name = self._build.names[i]
            out.append(name if name in made and name not in out else self._build.node("Identity", [name]))
        return out

    def _model(self):
        values = self.program.values
        inputs = [helper.make_tensor_value_info(f"v{i}", type_of(values[i].element), values[i].shape) for i in self.inputs]
        outputs = [helper.make_tensor_value_info(name, type_of(values[i].element), None)
                   for i, name in zip(self.program.outputs, self.outputs)]
        weights = [_external(f"v{i}", values[i]) for i in self.weights]
        graph = helper.make_graph(self._build.nodes, "program", inputs, outputs, self._build.initializers + weights,
                                  value_info=self._build.infos)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)

    def _refuse_what_is_known(self):
        """What depends on no input is computed when the session is made, and never again."""
        varying = {f"v{i}" for i in self.inputs}
        for node in self.proto.graph.node:
            if varying.intersection(node.input):
                varying.update(node.output)
        if not varying.issuperset(self.outputs):
            raise Refusal("unsupported", "an output depends on no input: ONNX Runtime computes it beforehand")

    def _check_shapes(self):
        """An operator that makes something else is not the one that was meant."""
        try:
            inferred = onnx.shape_inference.infer_shapes(self.proto, strict_mode=True).graph
        except onnx.shape_inference.InferenceError as error:
            raise Refusal("unsupported", " ".join(str(error).split())[:400])
        shapes = {one.name: _extents(one) for one in [*inferred.value_info, *inferred.output]}
        for step in self.program.steps:
            for one in step.outputs:
                made = None if one is None else shapes.get(self._build.names[one])
                if made is not None and made != self.program.values[one].shape:
                    raise Refusal("unsupported", f"{step.op} makes {made} of what should be {self.program.values[one].shape}")


def _extents(info):
    kind = info.type.tensor_type
    if not kind.HasField("shape") or any(not one.HasField("dim_value") for one in kind.shape.dim):
        return None
    return [one.dim_value for one in kind.shape.dim]


def _external(name, value):
    """An initializer whose contents are elsewhere: the session is given them."""
    out = TensorProto(name=name, data_type=type_of(value.element), dims=value.shape, data_location=TensorProto.EXTERNAL)
    for key, text in (("location", name), ("offset", "0"), ("length", str(value.bytes))):
        out.external_data.add(key=key, value=text)
    return out


def random_array(value, use, generator):
    """Contents that the operators reading the value can take; bf16 as its bits."""
    shape, element = value.shape, value.element
    if value.contents:
        numbers = numpy.array(value.contents).reshape(shape)
    elif use.variance or element == "bool":
        numbers = numpy.ones(shape)
    elif not value.is_floating:
        numbers = generator.integers(0, max(2 if use.below is None else use.below, 1), shape)
    else:
        numbers = generator.standard_normal(shape, dtype=numpy.float32) * numpy.float32(deviation(value))
    if element == "bf16":
        return (numpy.asarray(numbers, numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)
    return numpy.asarray(numbers, helper.tensor_dtype_to_np_dtype(type_of(element)))
