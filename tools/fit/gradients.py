#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What autograd's gradients of elementwise operators move, beside src/predict/lower_gradient.cpp's count.

    tools/fit/gradients.py neusight_e2e_ops.csv --joulecast build/release/joulecast

NeuSight timed forward and backward of training's operators apart. A sum of two tensors has no kernel backward, so its time is
the timer's own, and is taken off; what is left moves bytes at 0.9 of the bandwidth. Prints these bytes for each element, the
median over rows of a million elements or more. Standard library only.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import statistics
import subprocess

STREAMED = 0.9
FEWEST = 1 << 20
GPUS = {"AMD_Instinct_MI100": "mi100", "Tesla_V100-PCIE-32GB": "v100-pcie-32gb"}  # those that trained
# By operator and number of tensors: bytes an element, all in FP32.
COUNTED = {("mul", 1): 8, ("mul", 2): 24, ("truediv", 1): 8, ("pow", 1): 28, ("tanh", 1): 12, ("gelu", 1): 12}
TIMER = ("add", 2)


def bandwidth(program: str, gpu: str) -> float:
    text = subprocess.run([program, "gpus", gpu, "--json"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)["gpus"][0]["figures"]["memory_bandwidth_gb_per_s"] * 1e9


def tensors(row: dict) -> list[int]:
    """Elements of each; what has one is a number."""
    sizes = [math.prod(shape) for shape in json.loads(row["input_shapes"])]
    return [size for size in sizes if size > 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="neusight_e2e_ops.csv")
    parser.add_argument("--joulecast", required=True, help="the program")
    arguments = parser.parse_args()
    times = collections.defaultdict(list)
    with open(arguments.table, newline="") as file:
        for row in csv.DictReader(file):
            if row["mode"] != "train" or row["gpu"] not in GPUS or not (sizes := tensors(row)):
                continue
            alike = len(set(sizes)) == 1
            if alike and sizes[0] >= FEWEST and float(row["backward_s"]) > 0:
                times[row["gpu"], row["target"], len(sizes)].append((sizes[0], float(row["backward_s"])))
    for gpu, name in GPUS.items():
        rate = STREAMED * bandwidth(arguments.joulecast, name)
        timer = statistics.median(seconds for _, seconds in times[(gpu, *TIMER)])
        print(f"{gpu}: timer {1e6 * timer:.1f} us")
        for (target, count), counted in COUNTED.items():
            found = [(seconds - timer) * rate / elements for elements, seconds in times[gpu, target, count]]
            if found:
                print(f"  {target} of {count}: {statistics.median(found):5.1f} bytes, counted {counted}, {len(found)} rows")


if __name__ == "__main__":
    main()
