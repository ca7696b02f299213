# SPDX-License-Identifier: Apache-2.0
"""The thesis' features of an operation (its section 4.2), apart from our own of src/fit/thesis/features.cpp."""

import ast
import re

ATTRIBUTES = ["bias", "in_channels", "out_channels", "kernel_size", "padding", "stride", "in_features", "out_features",
              "inplace", "affine", "eps", "momentum", "num_features", "p", "output_size"]  # fmt: skip
POSITIONAL = {"Conv2d": ["in_channels", "out_channels"], "BatchNorm2d": ["num_features"]}
DEFAULTS = {"Conv2d": {"bias": True, "padding": (0, 0)}, "Linear": {"bias": True}, "BatchNorm2d": {"bias": True},
            "LayerNorm": {"bias": True}, "ReLU": {"inplace": False}, "SiLU": {"inplace": False}}  # fmt: skip


def attributes(text):
    """Type and attributes of a module as it prints itself."""
    kind, inside = re.fullmatch(r"(\w+)\((.*)\)", text).groups()
    inside = re.sub(r"mode=(\w+)", r"mode='\1'", inside)
    call = ast.parse(f"f({inside})", mode="eval").body
    found = dict(DEFAULTS.get(kind, {}))
    for name, value in zip(POSITIONAL.get(kind, []), call.args):
        found[name] = ast.literal_eval(value)
    for keyword in call.keywords:
        found[keyword.arg] = ast.literal_eval(keyword.value)
    return kind, found


def features(text, shape):
    """A dictionary of columns; absent ones are -1, or 0 where they are flags."""
    kind, found = attributes(text)
    out = {"type_" + kind: 1}
    for name in ATTRIBUTES:
        value = found.get(name)
        if isinstance(value, tuple):
            out.update({f"{name}_{i}": v for i, v in enumerate(value)})
            out[name + "_tuple_applicable"] = 1
        elif isinstance(value, (int, float)):
            out[name] = value
            out[name + "_applicable"] = 1
    for i, extent in enumerate(shape.split("x")):
        out[f"input_{i}"] = int(extent)
        out[f"input_{i}_applicable"] = 1
    return out


def columns_of(rows):
    """Names of all columns that these (module, shape) pairs have."""
    return sorted({name for row in rows for name in features(*row)})


def matrix(rows, columns):
    """One list of numbers a (module, shape) pair. Columns that the others lack are left out."""
    absent = [0 if name.endswith("_applicable") or name.startswith("type_") else -1 for name in columns]
    out = []
    for row in rows:
        made = features(*row)
        out.append([made.get(name, missing) for name, missing in zip(columns, absent)])
    return out
