#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What HW-GPT-Bench's decoders tell of layers with unaligned rows and of joined slices (src/predict/law.cpp,
features_pointwise.cpp).

    tools/fit/decoders.py --joulecast build/release/joulecast --data DATA --graphs GRAPHS

GRAPHS has the decoders that tools/accuracy/graphs.py --data exports. For each GPU and size of networks the device times are
taken apart into the head (rows of 50,254 halves), the joined slices and everything else as the program predicts it, and what
would make the first two right, and microseconds for each kernel besides, is printed: 1, 1 and 0 where the laws hold. "Bias" is
that of the program as it is. numpy.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import pathlib
import re
import subprocess

import numpy as np

GPUS = {
    "A100": "a100-sxm4-40gb",
    "A40": "a40",
    "H100": "h100-sxm5-80gb",
    "P100": "p100-pcie-16gb",
    "RTX 2080 Ti": "rtx-2080-ti",
    "RTX 3080": "rtx-3080-10gb",
    "RTX A6000": "rtx-a6000",
    "V100": "v100-sxm2-16gb",
}
BATCH = {"s": 8, "m": 4, "l": 1}
NAME = re.compile(r"hwgpt-([sml])_(\d+)")
Parts = tuple[float, float, float, int]  # seconds of the head, of joins, of the rest; kernels


def parts(operations: list[dict]) -> Parts:
    head = joins = rest = 0.0
    for operation in operations:
        if "-> 50254" in operation["operation"]:
            head += operation["time_s"]
        elif "place by place" in operation["operation"]:
            joins += operation["time_s"]
        else:
            rest += operation["time_s"]
    return head, joins, rest, sum(operation["count"] for operation in operations)


def predicted(joulecast: str, graphs: pathlib.Path) -> dict[tuple[str, str, str], Parts]:
    out = {}
    for path in sorted(graphs.glob("hwgpt-*.onnx")):
        scale, arch = NAME.match(path.name).groups()
        shape = f"input_ids:{BATCH[scale]}x1024"
        command = [joulecast, "predict", str(path), "--gpu", ",".join(GPUS.values()), "--precision", "amp", "--shapes", shape]
        command += ["--batch", str(BATCH[scale]), "--breakdown", "--json"]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        for prediction in found["predictions"]:
            out[prediction["gpu"], scale, arch] = parts(prediction["operations"])
    return out


def least_squares(columns: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Not negative: the best of all choices of columns whose own solution is not."""
    best, least = np.zeros(columns.shape[1]), float(wanted @ wanted)
    for size in range(1, columns.shape[1] + 1):
        for chosen in itertools.combinations(range(columns.shape[1]), size):
            part = np.linalg.lstsq(columns[:, chosen], wanted, rcond=None)[0]
            left = float(np.sum((columns[:, chosen] @ part - wanted) ** 2))
            if (part >= 0).all() and left < least:
                best, least = np.zeros(columns.shape[1]), left
                best[list(chosen)] = part
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--graphs", required=True, type=pathlib.Path)
    options = parser.parse_args()
    found = predicted(options.joulecast, options.graphs)
    rows: dict[tuple[str, str], list[tuple[Parts, float]]] = {}
    with (options.data / "networks/hwgpt_8gpus.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            key = (GPUS[row["gpu"]], row["scale"], row["arch_id"])
            if key in found:
                rows.setdefault((row["gpu"], row["scale"]), []).append((found[key], float(row["latency_s"])))
    print(f"{'GPU':<14}{'batch':>5}{'n':>5}{'bias %':>8}{'head':>7}{'joins':>7}{'us a kernel':>13}{'left %':>8}")
    for (gpu, scale), cells in sorted(rows.items()):
        values = np.array([part for part, _ in cells])
        time = np.array([measured for _, measured in cells])
        columns = values[:, [0, 1, 3]] * [1, 1, 1e-6] / time[:, None]
        factors = least_squares(columns, 1 - values[:, 2] / time)
        left = columns @ factors + values[:, 2] / time - 1
        bias = 100 * float(np.mean(values[:, :3].sum(1) / time - 1))
        print(f"{gpu:<14}{BATCH[scale]:>5}{len(cells):>5}{bias:>8.1f}{factors[0]:>7.2f}{factors[1]:>7.2f}{factors[2]:>13.2f}{100 * left.std():>8.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
