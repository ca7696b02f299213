#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks in every form that PyTorch can: export_torch.py FOLDER [NETWORK...] (with tools in PYTHONPATH)

FOLDER/NETWORK/torch/ gets torchscript.onnx, dynamo.onnx, export.pt2, decomposed.pt2 and traced.pt, with the batch open where the
form allows it.
"""
from __future__ import annotations

import pathlib
import sys
import warnings

import torch
from zoo import exported, exporters, strip
from zoo import network as networks

NETWORKS = {
    "resnet50": "torchvision:resnet50", "vgg16": "torchvision:vgg16", "mobilenet_v2": "torchvision:mobilenet_v2",
    "efficientnet_b0": "torchvision:efficientnet_b0", "densenet121": "torchvision:densenet121", "vit_b_16": "torchvision:vit_b_16",
    "bert_base": "hf:bert_base", "lstm": "recurrent:lstm",
}


def write_onnx(network: networks.Network, exporter: str, path: pathlib.Path) -> None:
    model = exporters.export(network, exporter)
    strip.strip(model)
    path.write_bytes(model.SerializeToString())


def write_traced(network: networks.Network, path: pathlib.Path) -> None:
    torch.jit.save(torch.jit.trace(network.module, network.example(), check_trace=False), str(path))


FORMS = {
    "torchscript.onnx": lambda network, path: write_onnx(network, "torchscript", path),
    "dynamo.onnx": lambda network, path: write_onnx(network, "dynamo", path),
    "export.pt2": lambda network, path: path.write_bytes(exported.export(network, False)),
    "decomposed.pt2": lambda network, path: path.write_bytes(exported.export(network, True)),
    "traced.pt": write_traced,
}


def main(folder: str, *names: str) -> None:
    warnings.simplefilter("ignore")
    for name in names or NETWORKS:
        place = pathlib.Path(folder) / name / "torch"
        place.mkdir(parents=True, exist_ok=True)
        for form, write in FORMS.items():
            if (place / form).exists():
                continue
            try:
                write(networks.build(NETWORKS[name], networks.Options()), place / form)
                print(f"{name}: {form}", flush=True)
            except Exception as error:  # the next form may work; the table tells what is not there
                print(f"{name}: {form}: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
