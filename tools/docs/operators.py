#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/operators.md: which ONNX operators are known, what becomes of them, and where they occur.

    tools/docs/operators.py              rewrites what follows from this repository; the zoo's part stays
    tools/docs/operators.py --zoo DIR    counts the networks below DIR (tools/zoo makes them) as well
    tools/docs/operators.py --check      fails if the page is stale
"""

import argparse
import collections
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/operators.md"
ZOO_BEGIN, ZOO_END = "<!-- zoo -->\n", "<!-- end of zoo -->\n"

# What a lowering function emits. A word in `..` is an operator of include/joulecast/operators.h; {} is the kind that
# the list of operators gives it.
BECOMES = {
    "activation": "`activation` {}", "arg": "`reduce` {}", "attention": "`attention`", "batch_norm": "`batch_norm`",
    "bias_gelu": "`binary` add, `activation` gelu", "binary": "`binary` {}", "bit_shift": "`binary` shift",
    "cast": "`cast`", "cast_like": "`cast`", "chain": "`binary` {}, one for each further input",
    "clip": "`activation` clip; of integers `binary` min and max", "concat": "`concat`",
    "concat_from_sequence": "`concat`", "constant": "a constant", "constant_of_shape": "`fill`", "conv": "`conv`",
    "conv_integer": "`conv`", "conv_transpose": "`conv`, transposed", "cumulate": "`cumulate`",
    "deform_conv": "opaque: shape known, cost not", "dequantize": "`dequantize`", "dropout": "`dropout`",
    "dynamic_quantize": "`reduce`, `binary`, `quantize`", "einsum": "`matmul`, or `binary` mul, with `transpose`",
    "embed_layer_norm": "`embedding`, `binary` add, `layer_norm`", "expand": "`expand`",
    "fast_gelu": "`binary` add, `activation` gelu", "flatten": "`flatten`", "fused_conv": "`conv`, `activation`",
    "fused_matmul": "`linear` or `matmul`", "gather": "`gather`, or `embedding`", "gather_elements": "`gather`",
    "gather_nd": "`gather`", "gelu": "`activation` gelu", "gemm": "`linear`, or `matmul` and `binary`",
    "global_pool": "`adaptive_pool` {}", "grid_sample": "`grid_sample`",
    "group_norm": "`group_norm`", "group_query_attention": "`attention`", "identity": "nothing", "if": "`if`",
    "instance_norm": "`instance_norm`", "layer_norm": "`layer_norm`", "loop": "`loop`", "lp_norm": "`reduce`, `binary`",
    "matmul": "`linear` or `matmul`", "matmul_integer": "`linear` or `matmul`", "mean": "`binary` add and div",
    "mean_variance_norm": "`reduce`, `binary`, `unary`", "mod": "`binary` mod", "ms_attention": "`linear`, `attention`",
    "multi_head_attention": "`attention`", "one_hot": "`one_hot`", "pad": "`pad`",
    "pixel_shuffle": "`pixel_shuffle`", "pool": "`pool` {}", "prelu": "`activation` prelu",
    "qlinear_binary": "`binary` {}", "qlinear_conv": "`conv`", "qlinear_matmul": "`linear` or `matmul`",
    "quantize": "`quantize`", "random": "`fill`", "random_like": "`fill`", "range": "`range`", "reduce": "`reduce` {}",
    "reshape": "`reshape`", "resize": "`resize`", "rms_norm": "`rms_norm`", "rnn": "`rnn` {}", "scan": "`scan`",
    "scatter_elements": "`scatter`", "scatter_nd": "`scatter`", "sequence_at": "nothing: taken apart while reading",
    "sequence_construct": "nothing: taken apart while reading", "sequence_empty": "nothing: taken apart while reading",
    "sequence_erase": "nothing: taken apart while reading", "sequence_insert": "nothing: taken apart while reading",
    "sequence_length": "a constant", "shape": "`shape_of`", "size": "`shape_of`, `reduce`",
    "skip_layer_norm": "`binary` add, `layer_norm`", "skip_rms_norm": "`binary` add, `rms_norm`", "slice": "`slice`",
    "softmax": "`softmax`", "split": "`split`", "split_to_sequence": "`split`", "squeeze": "`squeeze`",
    "swiglu": "`activation` silu, `binary` mul", "swish": "`activation` silu", "tile": "`tile`", "top_k": "`top_k`",
    "transpose": "`transpose`", "triangle": "`triangle`", "unary": "`unary` {}", "unsqueeze": "`unsqueeze`",
    "upsample": "`resize`", "where": "`where`",
    "non_max_suppression": "opaque: how many it keeps depends on data", "unique": "opaque: size depends on data",
    "non_zero": "opaque: size depends on data", "roi_align": "opaque: shape known, cost not",
}  # fmt: skip

HEAD = """# ONNX operators

What becomes of each ONNX operator when a file is read. Simplification then folds groups of them to what the framework
ran (attention, norms, activations; `src/graph/passes/passes.cpp` lists the patterns). An operator that is not here stays
in the graph as an opaque one: its shapes are taken from the file, its cost is that of its bytes, and every output says so.

Written by `tools/docs/operators.py`; don't edit.
"""


def snake(kind):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()


def known_operators():
    """(domain, name) -> what becomes of it, from the importer's list."""
    text = (ROOT / "src/import/onnx/operators.cpp").read_text()
    entries = re.findall(r'\{"([\w.]*)", "(\w+)", \d+,\s*lower_(\w+?)(?:<(?:\w+::k)?(\w+)>)?\}', text)
    assert len(entries) == len(re.findall(r'^\s*\{"[\w.]*", "', text, re.M)), "an entry of the list was not understood"
    out = {}
    for domain, name, function, kind in entries:
        assert function in BECOMES, f"say what lower_{function} emits: BECOMES in {__file__}"
        out[domain, name] = BECOMES[function].format(snake(kind))
    emitted = set(re.findall(r"`(\w+)`", " ".join(BECOMES.values())))
    ours = set(re.findall(r'kName = "(\w+)"', (ROOT / "include/joulecast/operators.h").read_text()))
    assert emitted <= ours, f"no operators of ours: {emitted - ours}"
    return out


def table(header, rows):
    return "\n".join([" | ".join(header).join(["| ", " |"]), "|" + "---|" * len(header)] +
                     [" | ".join(map(str, row)).join(["| ", " |"]) for row in rows]) + "\n"  # fmt: skip


def label(key):
    return f"`{key[0]}.{key[1]}`" if key[0] else f"`{key[1]}`"


def counted(references):
    """(networks, nodes) of each operator in the reference files, which have the counts of the file beside them."""
    networks, nodes = collections.Counter(), collections.Counter()
    for path in references:
        for operator, count in json.loads(path.read_text())["operators"].items():
            domain, _, name = operator.replace("::", ".").rpartition(".")
            key = ("" if domain == "ai.onnx" else domain, name)
            networks[key] += 1
            nodes[key] += count
    return networks, nodes


def known_part(known):
    networks, nodes = counted(sorted((ROOT / "examples/reference").glob("*.ref.json")))
    rows = [(label(key), becomes, networks[key] or "", nodes[key] or "") for key, becomes in known.items()]
    return (f"\n## The {len(known)} that are known\n\nThe last two columns count the networks of `examples/` that have it"
            f", and its nodes in them.\n\n" + table(["ONNX", "becomes", "examples", "nodes"], rows))  # fmt: skip


def zoo_part(known, folder):
    references = sorted(folder.rglob("*.ref.json"))
    networks, nodes = counted(references)
    order = sorted(networks, key=lambda key: (-networks[key], key))
    rows = [(label(key), known.get(key, "**opaque**"), networks[key], nodes[key]) for key in order]
    opaque = [key for key in order if key not in known]
    return (
        f"\n## In the zoo\n\n{len(references)} networks ([zoo.md](zoo.md)) with {sum(nodes.values()):,} nodes of "
        f"{len(order)} operators, {len(opaque)} of which stay opaque. Counted by "
        f"`tools/docs/operators.py --zoo DIR`, where `tools/zoo` had written to DIR.\n\n"
        + table(["ONNX", "becomes", "networks", "nodes"], rows)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    known = known_operators()
    old = PAGE.read_text() if PAGE.exists() else ""
    zoo = zoo_part(known, arguments.zoo) if arguments.zoo else old.partition(ZOO_BEGIN)[2].partition(ZOO_END)[0]
    new = HEAD + known_part(known) + "\n" + ZOO_BEGIN + zoo + ZOO_END
    if arguments.check:
        if new != old:
            sys.exit(f"{PAGE.relative_to(ROOT)} is stale: run tools/docs/operators.py")
    else:
        PAGE.write_text(new)


if __name__ == "__main__":
    main()
