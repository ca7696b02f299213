#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the operators of model files as their framework names them, and what joulecast does not know of them:

    PYTHONPATH=tools python3 -m zoo.seen build/release/joulecast FOLDER... -o docs/coverage.json

Every model below the folders counts: .pt2, .pt, saved_model.pb, .pb, .tflite (which needs tensorflow), .keras, .pdmodel and
inference.json. Models of a form that are in the output already are counted anew, others stay. tools/docs/coverage.py makes
docs/coverage.md of it.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import zipfile


def of_pt2(path):
    with zipfile.ZipFile(path) as archive:
        name = next(one for one in archive.namelist() if re.search(r"(models/model|serialized_exported_program)\.json$", one))
        program = json.loads(archive.read(name))
    targets = (node["target"] for node in program["graph_module"]["graph"]["nodes"])
    return collections.Counter(target.removeprefix("torch.ops.") for target in targets)


def of_torchscript(path):
    out = collections.Counter()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if re.search(r"/code/.*\.py$", name):
                calls = re.findall(r"\b(?:torch|ops\.\w+)\.(\w+)\(", archive.read(name).decode())
                out.update(call for call in calls if not call[0].isupper())
    return out


def fields(message):
    """(number, value) of a message in protobuf's wire form."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte, at = message[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(key & 7) or varint()
        yield key >> 3, message[at:at + size]
        at += size


def below(message, *path):
    """The messages at the end of a path of field numbers."""
    if not path:
        return [message]
    return [end for number, value in fields(message) if number == path[0] for end in below(value, *path[1:])]


def of_graph_def(path):
    content = path.read_bytes()
    graphs = below(content, 2, 2) if path.name == "saved_model.pb" else [content]
    nodes = [node for graph in graphs for way in ((1,), (2, 1, 3)) for node in below(graph, *way)]
    return collections.Counter(bytes(below(node, 2)[0]).decode() for node in nodes)


def of_tflite(path):
    import tensorflow

    interpreter = tensorflow.lite.Interpreter(str(path), experimental_op_resolver_type=tensorflow.lite.experimental.OpResolverType.BUILTIN_REF)
    return collections.Counter(one["op_name"] for one in interpreter._get_ops_details())


def of_keras(path):
    out = collections.Counter()

    def walk(value):
        if isinstance(value, dict):
            if "class_name" in value and "inbound_nodes" in value or value.get("class_name") in ("Sequential", "Functional"):
                out[value["class_name"]] += 1
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    with zipfile.ZipFile(path) as archive:
        walk(json.loads(archive.read("config.json")))
    return out


def of_pdmodel(path):
    return collections.Counter(bytes(kind).decode() for kind in below(path.read_bytes(), 1, 4, 3))


def of_pir(path):
    out = collections.Counter()

    def walk(regions):
        for operator in (one for region in regions for block in region["blocks"] for one in block["ops"]):
            kind = operator["#"]
            out[kind.split(".", 1)[-1]] += kind not in ("p", "0.combine", "0.split")  # parameters and lists of tensors
            walk(operator.get("regions", ()))

    walk(json.loads(path.read_bytes())["program"]["regions"])
    return +out


FORMS = {
    "pt2": ("torch.export (.pt2)", "*.pt2", of_pt2), "torchscript": ("TorchScript (.pt)", "*.pt", of_torchscript),
    "saved_model": ("TensorFlow SavedModel", "saved_model.pb", of_graph_def), "frozen": ("TensorFlow frozen GraphDef", "*.pb", of_graph_def),
    "tflite": ("TensorFlow Lite", "*.tflite", of_tflite), "keras": ("Keras (.keras)", "*.keras", of_keras),
    "pdmodel": ("Paddle 2 (.pdmodel)", "*.pdmodel", of_pdmodel), "pir": ("Paddle 3 (.json)", "inference.json", of_pir),
}  # fmt: skip


def unknown_to(program, path):
    """What stays under its own name, and why nothing was read where that is so."""
    done = subprocess.run([program, "inspect", str(path), "--as-written", "--json"], stdout=subprocess.PIPE)
    answer = json.loads(done.stdout)
    if "error" in answer:
        return [], answer["error"]["message"].replace(str(path), path.name)
    # TorchScript's code says torch.relu where others say aten.relu.
    names = (one["operator"] for one in answer["operators"] if not one["known"])
    return sorted(name.removeprefix("aten.") if path.suffix == ".pt" else name for name in names), None


def network_of(path):
    """"resnet50" of .../resnet50/torch/export.pt2, of .../resnet50.pt2 and of .../resnet50/keras/saved_model/saved_model.pb."""
    place = path.parent if path.name == "saved_model.pb" else path
    return place.parent.parent.name if place.parent.name in ("torch", "keras", "paddle") else place.stem


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    seen = json.loads(options.output.read_text()) if options.output.exists() else {}
    for form, (_, pattern, count) in FORMS.items():
        paths = sorted({path for folder in options.folders for path in folder.rglob(pattern) if form != "frozen" or path.name not in ("saved_model.pb", "fingerprint.pb")})
        for path in paths:
            try:
                operators = count(path)
            except ModuleNotFoundError as error:
                print(f"{path}: not counted: {error}")
                continue
            unknown, refused = unknown_to(options.program, path)
            entry = {"operators": dict(sorted(operators.items())), "unknown": unknown}
            if refused:
                entry["refused"] = refused
            seen.setdefault(form, {})[network_of(path)] = entry
    options.output.write_text(json.dumps(seen, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
