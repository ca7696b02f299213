#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each kind of edge of NAS-Bench-201's cells takes, from HELP's networks of it: averages of 3 x 3 stand in no other table.

    tools/fit/cells.py help_nasbench201.csv --joulecast build/release/joulecast

A batch of 256 images keeps a GPU busy, and every network has fifteen cells of the same six edges, so its time is a sum over them.
Prints for each GPU what five of each stack's edges take in ms, how far the sum is off, the bandwidth of the edges that multiply by
zero, and the cycles of an SM for each number that a window of the average holds (kWindowed in src/predict/features_reduction.cpp).
Standard library only.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess

EDGES = ("avg_pool_3x3", "nor_conv_1x1", "nor_conv_3x3", "skip_connect")  # beside "none", which multiplies by zero
BOARDS = {"1080ti": "gtx-1080-ti", "2080ti": "rtx-2080-ti", "titanx": "titan-x-pascal", "titanxp": "titan-xp"}
BATCH, CELLS, WINDOW = 256, 5, 9
STACKS = ((16, 32), (32, 16), (64, 8))  # channels, pixels
OUTPUTS = sum(BATCH * CELLS * channels * pixels * pixels for channels, pixels in STACKS)  # of an edge, in all cells


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Gauss with pivots, of a few unknowns."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for column in range(len(rows)):
        best = max(range(column, len(rows)), key=lambda i: abs(rows[i][column]))
        rows[column], rows[best] = rows[best], rows[column]
        for i, row in enumerate(rows):
            if i != column:
                factor = row[column] / rows[column][column]
                rows[i] = [a - factor * b for a, b in zip(row, rows[column])]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def fitted(counts: list[list[int]], times: list[float]) -> tuple[list[float], float]:
    """Least squares; and the mean |error| relative to what was measured."""
    width = range(len(counts[0]))
    normal = [[float(sum(row[i] * row[j] for row in counts)) for j in width] for i in width]
    weights = solved(normal, [sum(row[i] * time for row, time in zip(counts, times)) for i in width])
    sums = [sum(weight * count for weight, count in zip(weights, row)) for row in counts]
    return weights, sum(abs(found / time - 1.0) for found, time in zip(sums, times)) / len(times)


def figures(program: str, name: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", name, "--json"], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)["gpus"][0]["figures"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--joulecast", required=True)
    arguments = parser.parse_args()
    with open(arguments.table, newline="") as file:
        rows = list(csv.DictReader(file))
    counts = [[1, *(len(re.findall(edge, row["arch"])) for edge in EDGES)] for row in rows]
    for board, name in BOARDS.items():
        (_, *beyond_none), error = fitted(counts, [1e3 * float(row[f"{board}_b{BATCH}_s"]) for row in rows])
        none = -beyond_none[-1]  # a skip costs nothing
        average, one, three = (none + time for time in beyond_none[:-1])
        gpu = figures(arguments.joulecast, name)
        cycles = average * 1e-3 * gpu["sm_count"] * gpu["boost_clock_mhz"] * 1e6 / (OUTPUTS * WINDOW)
        print(f"{board:8} none {none:.2f}, average {average:.2f}, 1x1 {one:.2f}, 3x3 {three:.2f} ms; {100 * error:.1f} % off; "
              f"none at {8e-9 * OUTPUTS / (none * 1e-3):.0f} of {gpu['memory_bandwidth_gb_per_s']:.0f} GB/s; "
              f"a number of the average {cycles:.2f} cycles")


if __name__ == "__main__":
    main()
