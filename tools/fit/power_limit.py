#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of their clock chips keep under their power limit, and what an SM of 128 lanes reaches in FP32 (src/predict/device.cpp).

    tools/fit/power_limit.py squares.csv --joulecast build/release/joulecast

`squares.csv` is plain CSV (docs/formats/measurements.md) of products of square matrices that ran for seconds, in FP32, TF32
(`tf32-all`), FP16 and BF16, as anyone publishes them:

    name,gpu,mode,precision,runtime,operator,operands,attributes,time_s
    mm4096,l4,inference,fp16,pytorch-eager,matmul,"f16[4096, 4096]; f16[4096, 4096]",,0.00259

The constants come from 413 such rows of 34 GPUs in https://github.com/zzc0721/torch-performance-test-data, its issues and
database.md: torch.mm, 36 times, sides of 1024 to 10240; where one rate stands for all of them, it was taken as 8192's. Prints, for
each generation and kind of arithmetic, the mean log error of the program's bounds of sides from 4096 on, and for boards that feel
their limit the rho0 with which their own would be right. Standard library only.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import pathlib
import re
import subprocess
import tempfile

SIDE = re.compile(r"\[(\d+), \1\]")
FIGURES = {"fp32": "fp32_tflops", "tf32-all": "tf32_tflops", "tf32": "tf32_tflops", "fp16": "fp16_tflops",
           "bf16": "bf16_tflops", "fp8": "fp8_tflops", "nvfp4": "fp4_tflops"}  # fmt: skip
ENERGY = {"tf32": 2.0, "tf32-all": 2.0, "fp8": 0.5, "nvfp4": 0.43}  # of a flop, by that of halves
FELT = 0.97  # boards that keep more of their clock say little of rho0


def fed(capability: float) -> float:
    if 10.0 <= capability < 12.0:
        return 0.89
    return 0.77 if capability >= 8.6 else 1.0


def rho0(capability: float, precision: str) -> float:
    if precision == "fp32":
        return 0.15 if capability >= 8.9 else 0.093 if capability >= 8.6 else 0.0737 if capability >= 8.0 else 0.07
    generations = ((12.0, 1.05), (10.0, 2.4), (9.0, 2.0), (8.9, 1.05), (8.0, 1.3), (0.1, 0.55))
    of_halves = next((value for least, value in generations if capability >= least), 1.8)
    return of_halves / ENERGY.get(precision, 1.0)


def rate_by_limit(figures: dict, precision: str) -> float:
    """TFLOP/s at boost clock for each watt of the limit, by rho0."""
    capability = float(figures["compute_capability"])
    rate = figures[FIGURES[precision]] * (fed(capability) if precision == "fp32" else 1.0)
    return rate / figures["power_limit_w"] / rho0(capability, precision)


def held(figures: dict, precision: str) -> float:
    """The fraction of the clock that work of this precision keeps."""
    return (1.0 + rate_by_limit(figures, precision) ** 4) ** -0.25


def figures_of(program: str, gpu: str) -> dict:
    text = subprocess.run([program, "gpus", gpu, "--json"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)["gpus"][0]["figures"]


def errors(program: str, table: str) -> dict[tuple[str, str], float]:
    """By GPU and precision, mean log(predicted / measured) of large products."""
    out = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder) / "rows.csv"
        subprocess.run([program, "evaluate", table, "--rows", str(rows)], check=True, stdout=subprocess.DEVNULL)
        with rows.open(newline="") as file:
            for row in csv.DictReader(file):
                side = SIDE.search(row["subject"])
                if side and int(side[1]) >= 4096 and row["quantity"] == "time":
                    off = math.log(float(row["baseline"]) / float(row["measured"]))
                    out[row["gpu"], row["precision"]].append(off)
    return {key: sum(values) / len(values) for key, values in out.items()}


def wanted_rho0(figures: dict, precision: str, off: float) -> float:
    """With which the board keeps exp(off) of what it does."""
    keeps = held(figures, precision) * math.exp(off)
    limited = keeps**-4 - 1.0
    now = rate_by_limit(figures, precision) * rho0(float(figures["compute_capability"]), precision)
    return now / limited**0.25 if limited > 0.0 else math.inf


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    groups = collections.defaultdict(list)
    for (gpu, precision), off in sorted(errors(options.joulecast, options.table).items()):
        figures = figures_of(options.joulecast, gpu)
        if FIGURES[precision] in figures:
            groups[figures["compute_capability"], precision].append((gpu, figures, off))
    for (capability, precision), boards in sorted(groups.items(), key=lambda item: (item[0][1], float(item[0][0]))):
        mean = sum(off for _, _, off in boards) / len(boards)
        print(f"{precision:9} {capability:5} {len(boards):2} boards: mean {100 * mean:+6.1f} %, rho0 {rho0(float(capability), precision):.3g}")
        for gpu, figures, off in boards:
            keeps = held(figures, precision)
            wanted = f", exact with rho0 {wanted_rho0(figures, precision, off):.3g}" if keeps < FELT else ""
            print(f"    {gpu:26} keeps {keeps:4.2f} of its clock, {100 * off:+6.1f} %{wanted}")


if __name__ == "__main__":
    main()
