#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Convolutions of halves that lie channels-last on data-centre GPUs (src/predict/features_conv.cpp, device.cpp) and the
gradient of squeeze-and-excitation in that order (lower_gradient.cpp), against what NVIDIA published of three networks.

    tools/fit/channels_last.py --joulecast build/release/joulecast --graphs GRAPHS

GRAPHS has resnet50, resnext101_32x4d and seresnext101_32x4d as .onnx, .pt or .pt2, of torchvision and timm. The figures are
images a second on one GPU in PyTorch of NGC's container 21.03 (NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets,
READMEs of 2021): FP32 or TF32 channels-first, mixed precision channels-last, SGD with momentum. Printed are predicted by
published times of a step or batch.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess

A100, V100, T4 = "a100-sxm4-80gb", "v100-sxm2-16gb", "t4"
# network, GPU: mode, precision, batch -> images a second
PUBLISHED = {
    ("resnet50", A100): {("training", "tf32", 256): 938, ("training", "amp", 256): 2470},
    ("resnet50", V100): {
        ("training", "fp32", 128): 367,
        ("training", "amp", 256): 1200,
        ("inference", "fp32", 128): 1229,
        ("inference", "amp", 128): 3249,
        ("inference", "amp", 256): 3382,
    },
    ("resnet50", T4): {("inference", "fp32", 64): 428, ("inference", "amp", 128): 1190, ("inference", "amp", 256): 1198},
    ("resnext101_32x4d", A100): {("training", "tf32", 128): 456, ("training", "amp", 128): 1211},
    ("resnext101_32x4d", V100): {
        ("training", "fp32", 64): 147,
        ("training", "amp", 128): 587,
        ("inference", "amp", 128): 1699,
        ("inference", "amp", 256): 1746,
    },
    ("resnext101_32x4d", T4): {("inference", "amp", 128): 597, ("inference", "amp", 256): 598},
    ("seresnext101_32x4d", A100): {("training", "tf32", 128): 395, ("training", "amp", 128): 855},
    ("seresnext101_32x4d", V100): {
        ("training", "fp32", 64): 132,
        ("training", "amp", 128): 443,
        ("inference", "amp", 128): 1533,
        ("inference", "amp", 256): 1576,
    },
    ("seresnext101_32x4d", T4): {("inference", "amp", 128): 525, ("inference", "amp", 256): 527},
}


def graph_of(graphs: pathlib.Path, network: str) -> pathlib.Path:
    for suffix in ("onnx", "pt2", "pt"):
        if (path := graphs / f"{network}.{suffix}").exists():
            return path
    raise SystemExit(f"{graphs} has no {network}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True)
    parser.add_argument("--graphs", required=True, type=pathlib.Path)
    options = parser.parse_args()
    print(f"{'network':<20}{'GPU':<16}{'mode':<10}{'precision':>10}{'batch':>6}{'ms':>8}{'ratio':>7}")
    for (network, gpu), figures in PUBLISHED.items():
        for (mode, precision, batch), rate in figures.items():
            command = [options.joulecast, "predict", str(graph_of(options.graphs, network)), "--gpu", gpu, "-b", str(batch)]
            command += ["--mode", mode, "--precision", precision, "--json"]
            command += ["--optimizer", "sgd-momentum"] if mode == "training" else []
            command += ["--layout", "channels-last" if precision == "amp" else "channels-first"]
            out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            time = json.loads(out)["predictions"][0]["time_s"]["value"]
            print(f"{network:<20}{gpu:<16}{mode:<10}{precision:>10}{batch:>6}{time * 1e3:>8.1f}{time * rate / batch:>7.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
