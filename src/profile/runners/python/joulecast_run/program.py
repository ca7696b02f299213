# SPDX-License-Identifier: Apache-2.0
"""What is to be run: values with types, and operators applied to them in order. Extents are numbers; the arithmetic of
shapes has been done by the main program."""
import math
from dataclasses import dataclass, field
from typing import List, Optional

from .words import LARGEST, SMALLEST, Fields, Refusal, split, to_integer, to_number

# Bytes of an element.
ELEMENTS = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u8": 1, "bool": 1, "f8e4m3": 1,
            "f8e5m2": 1, "c64": 8}
FLOATS = ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2")
KINDS = ("computed", "input", "parameter", "constant")
MOST_AXES = 64


@dataclass
class Value:
    kind: str
    element: str
    shape: List[int]
    contents: list  # of constants whose contents are known

    @property
    def elements(self):
        return math.prod(self.shape)

    @property
    def bytes(self):
        return self.elements * ELEMENTS[self.element]

    @property
    def is_floating(self):
        return self.element in FLOATS


@dataclass
class Step:
    op: str
    inputs: List[Optional[int]]  # values; None for an optional one that is not there
    outputs: List[Optional[int]]  # None for those nobody reads
    fields: Fields


@dataclass
class Use:
    """What reads a value asks of its contents."""
    statistic: bool = False  # of a batch norm: it does not learn
    variance: bool = False
    below: Optional[int] = None  # of indices


@dataclass
class Program:
    values: List[Value] = field(default_factory=list)
    steps: List[Step] = field(default_factory=list)
    outputs: List[int] = field(default_factory=list)

    def add_line(self, line):
        words = split(line, " ")
        if not words:
            return
        if words[0] == "value":
            self.values.append(_value(words))
        elif words[0] == "node" and len(words) > 1:
            fields = Fields(words[2:])
            self.steps.append(Step(words[1], _ids(fields.text("in")), _ids(fields.text("out")), fields))
        elif words[0] == "output" and len(words) == 2:
            self.outputs.append(to_integer(words[1]))
        else:
            raise Refusal("protocol", f"'{words[0][:40]}' begins no line of a program")

    def check(self):
        """Ids name values, and everything is there before it is read."""
        known = {i for i, value in enumerate(self.values) if value.kind != "computed"}
        for step in self.steps:
            for one in step.inputs + step.outputs:
                if one is not None and not 0 <= one < len(self.values):
                    raise Refusal("protocol", "a node names a value that is none")
            for one in step.inputs:
                if one is not None and one not in known:
                    raise Refusal("protocol", f"{step.op[:40]} reads a value before it is computed")
            known.update(one for one in step.outputs if one is not None)
        if any(one not in known for one in self.outputs):
            raise Refusal("protocol", "an output names a value that is none")

    def ids(self, kind):
        return [i for i, value in enumerate(self.values) if value.kind == kind]


def _value(words):
    if len(words) < 3:
        raise Refusal("protocol", "a value needs kind and element")
    if words[1] not in KINDS:
        raise Refusal("protocol", f"'{words[1][:40]}' is no kind of value")
    if words[2] not in ELEMENTS:
        raise Refusal("unsupported", f"elements of type {words[2][:40]}")
    fields = Fields(words[3:])
    shape = fields.integers("shape")
    if len(shape) > MOST_AXES or any(extent < 0 for extent in shape):
        raise Refusal("protocol", "no tensor has that shape")
    contents = [to_number(word) for word in split(fields.text("contents"), ",")]
    value = Value(words[1], words[2], shape, contents)
    if contents and len(contents) != value.elements:
        raise Refusal("protocol", f"{len(contents)} numbers for {value.elements} elements")
    return value


def _ids(text):
    return [None if word == "_" else to_integer(word) for word in split(text, ",")]


class Context:
    """A step in its program, for what makes it runnable."""

    def __init__(self, program, step, training):
        self.program, self.step, self.training, self.fields = program, step, training, step.fields

    def refuse(self, text):
        raise Refusal("unsupported", f"{self.step.op}: {text}")

    def has(self, i):
        return i < len(self.step.inputs) and self.step.inputs[i] is not None

    def in_id(self, i):
        if not self.has(i):
            raise Refusal("protocol", f"{self.step.op} lacks input {i}")
        return self.step.inputs[i]

    def input(self, i):
        return self.program.values[self.in_id(i)]

    def output(self, i=0):
        if not self.wants(i):
            raise Refusal("protocol", f"{self.step.op} lacks output {i}")
        return self.program.values[self.step.outputs[i]]

    def wants(self, i):
        return i < len(self.step.outputs) and self.step.outputs[i] is not None

    def shape(self, i):
        return self.input(i).shape

    def rank(self, i=0):
        return len(self.input(i).shape)

    def axis(self, given, i=0):
        """Counted from the front."""
        axis = given + self.rank(i) if given < 0 else given
        if not 0 <= axis < max(self.rank(i), 1):
            raise Refusal("protocol", f"{self.step.op}: there is no axis {given}")
        return axis

    def integers(self, i):
        """Contents of an input as whole numbers; refused where they are not known."""
        value = self.input(i)
        if len(value.contents) != value.elements:
            self.refuse(f"input {i} depends on data")
        return [_saturated(one) for one in value.contents]

    def number(self, i):
        """The one number an input is known to be, else None."""
        known = self.input(i).contents if self.has(i) else []
        return known[0] if len(known) == 1 else None

    def list(self, key, size, value):
        """A list of the attributes, or one filled with the value where it is absent."""
        given = self.fields.integers(key) or [value] * size
        if len(given) != size:
            raise Refusal("protocol", f"{self.step.op}: {key} should have {size} numbers")
        return given


def _saturated(number):
    if isinstance(number, int):
        return number
    if math.isnan(number):
        return 0
    return int(min(max(number, SMALLEST), LARGEST))


def uses_of_values(program):
    uses = [Use() for _ in program.values]
    for step in program.steps:
        if step.op in ("embedding", "gather", "scatter"):
            _mark_index(program, step, uses)
        if step.op == "batch_norm":
            for i, one in list(enumerate(step.inputs))[3:]:
                if one is not None:
                    uses[one] = Use(statistic=True, variance=i == 4)
    return uses


def _mark_index(program, step, uses):
    if len(step.inputs) < 2 or step.inputs[0] is None or step.inputs[1] is None:
        return
    shape = program.values[step.inputs[0]].shape
    axis = step.fields.integer("axis") if step.op != "embedding" else 0
    if not -len(shape) <= axis < len(shape):
        return
    use = uses[step.inputs[1]]
    use.below = min(shape[axis], shape[axis] if use.below is None else use.below)


def deviation(value):
    """Weights of layers as wide as their fan-in asks; vectors (scales, shifts) and activations about one."""
    if value.kind != "parameter" or len(value.shape) < 2:
        return 1.0
    return 1.0 / math.sqrt(max(math.prod(value.shape[1:]), 1))


def padding_of(context):
    """Of a convolution or pool, in its own attributes: (begins, ends)."""
    axes = context.rank(0) - 2
    return context.list("padding_begin", axes, 0), context.list("padding_end", axes, 0)


def same_padding(context, kernel, stride, dilation):
    """out = ceil(in / stride); what is odd of the padding stands at the end."""
    begins, ends = [], []
    for extent, k, s, d in zip(context.shape(0)[2:], kernel, stride, dilation):
        every = max(0, (-(-extent // s) - 1) * s + (k - 1) * d + 1 - extent)
        begins.append(every // 2)
        ends.append(every - every // 2)
    return begins, ends


def split_sizes(context, axis):
    """Extents of a split's outputs along the axis; what nobody reads has the rest."""
    sizes = context.fields.integers("sizes") or (context.integers(1) if context.has(1) else [])
    if sizes:
        return sizes
    every, parts = context.shape(0)[axis], len(context.step.outputs)
    part = -(-every // max(parts, 1))
    return [min(part, every - i * part) for i in range(parts)]


def slice_cuts(context):
    """(axis, start, end, step) of each axis that is cut, as ONNX's Slice has them."""
    starts, ends = context.integers(1), context.integers(2)
    axes = context.integers(3) if context.has(3) else list(range(len(starts)))
    steps = context.integers(4) if context.has(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Refusal("protocol", "slice: its lists differ in length")
    if any(step < 1 for step in steps):
        context.refuse("backwards")
    return [(context.axis(axis), start, end, step) for axis, start, end, step in zip(axes, starts, ends, steps)]


def pads_of(context):
    """(begins, ends) of all axes."""
    pads, rank = context.integers(1), context.rank(0)
    axes = context.integers(3) if context.has(3) else list(range(len(pads) // 2))
    if len(pads) != 2 * len(axes):
        raise Refusal("protocol", "pad: its lists differ in length")
    begins, ends = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        begins[context.axis(axis)], ends[context.axis(axis)] = pads[i], pads[len(axes) + i]
    return begins, ends


def reduced_axes(context):
    axes = context.fields.integers("axes") or (context.integers(1) if context.has(1) else [])
    if not axes and not context.fields.flag("noop_with_empty_axes"):
        axes = list(range(context.rank(0)))
    return axes
