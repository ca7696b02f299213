#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call costs on the machines of published tables of networks, relative to the reference machine.

    joulecast evaluate TABLE --graphs DIR --rows rows.csv
    tools/accuracy/hosts.py rows.csv

Takes each row's time on the GPU and on the host as predicted, and finds for every GPU and mode the factor on the host's
time that makes the mean |log(predicted / measured)| smallest. The factors multiply those of kMachines in
src/predict/measured_work.cpp; 1 means that nothing is to change. Machines whose rows the GPU alone explains (less than
a tenth of the rows would change by a hundredth) are named as such. Standard library only.
"""

from __future__ import annotations

import collections
import csv
import math
import sys

SHARPNESS = 6.0  # how host and GPU meet: src/predict/compose.h


def joined(a: float, b: float) -> float:
    return (a**SHARPNESS + b**SHARPNESS) ** (1.0 / SHARPNESS)


def error(rows: list[tuple[float, float, float, float]], factor: float) -> float:
    found = [(joined(gpu, factor * host) + beside, measured) for measured, gpu, host, beside in rows]
    return sum(abs(math.log(time / measured)) for time, measured in found) / len(rows)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    machines = collections.defaultdict(list)
    with open(sys.argv[1], newline="") as file:
        for row in csv.DictReader(file):
            if row["quantity"] == "time":
                gpu, host = float(row["gpu_busy_s"]), float(row["host_busy_s"])
                beside = float(row["found"]) - joined(gpu, host)  # of a step, which the factor leaves alone
                machines[row["gpu"], row["mode"]].append((float(row["measured"]), gpu, host, max(0.0, beside)))
    for (gpu, mode), rows in sorted(machines.items()):
        factors = [math.exp(0.01 * i) for i in range(-160, 161)]
        best = min(factors, key=lambda factor: error(rows, factor))
        moved = sum(joined(g, best * h) > 1.01 * joined(g, h) or joined(g, best * h) < 0.99 * joined(g, h)
                    for _, g, h, _ in rows)
        told = "" if moved * 10 > len(rows) else "   (the GPU alone explains these rows)"
        print(f"{gpu:28} {mode:10} {len(rows):5} rows   factor {best:5.2f}   "
              f"mean |log error| {100 * error(rows, 1.0):5.1f} -> {100 * error(rows, best):5.1f} %{told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
