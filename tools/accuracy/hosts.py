#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call costs on the machines of published tables of networks, relative to the reference machine.

    joulecast evaluate TABLE --graphs DIR --uncorrected --rows rows.csv
    tools/accuracy/hosts.py rows.csv [--copies | --loop]

Takes each row's time on the GPU and on the host as predicted, and what the step does beside both, and finds for every
machine (a GPU and a campaign of the table) and mode the factor on the host's time that makes the mean
|log(predicted / measured)| smallest. It multiplies the calls' cost of kMachines in src/predict/measured_work.cpp; 1
means that nothing is to change. --copies, for benchmarks that copy each step's input to the GPU: the time beside is
that copy, and a factor on it is found too, one for both modes; it divides the rate of kMachines, and 0 means that no
copy is seen. Machines without a rate there keep theirs: enter one to try. --loop, for TensorFlow: the time beside is
what a step costs whatever it runs, and the factor multiplies that too. Rows in FP64 have no part in it: there the
GPU's time is far off. Machines whose rows the GPU alone explains (less than a tenth of the rows would change by a
hundredth) are named as such. Standard library only.
"""

from __future__ import annotations

import argparse
import collections
import csv
import math
import sys

SHARPNESS = 6.0  # how host and GPU meet: src/predict/compose.h
CALLS = [math.exp(0.02 * i) for i in range(-150, 81)]
COPIES = [0.0] + [math.exp(0.1 * i) for i in range(-20, 26)]
Row = tuple[float, float, float, float]  # seconds: measured, GPU, host, beside


def joined(a: float, b: float) -> float:
    return (a**SHARPNESS + b**SHARPNESS) ** (1.0 / SHARPNESS)


def error(rows: list[Row], calls: float, copies: float) -> float:
    found = [(joined(gpu, calls * host) + copies * beside, measured) for measured, gpu, host, beside in rows]
    return sum(abs(math.log(time / measured)) for time, measured in found) / len(rows)


def read(path: str) -> dict[tuple[str, str], dict[str, list[Row]]]:
    """By GPU and campaign, then mode."""
    machines: dict = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["quantity"] != "time" or row["precision"] == "fp64":
                continue
            gpu, host = float(row["gpu_busy_s"]), float(row["host_busy_s"])
            beside = max(0.0, float(row["found"]) - joined(gpu, host))
            times = (float(row["measured"]), gpu, host, beside if beside > 1e-3 * gpu else 0.0)
            machines[row["gpu"], row["campaign"]][row["mode"]].append(times)
    return machines


def best_calls(rows: list[Row], copies: float | None) -> float:
    """With the time beside times `copies`, or where that is None times the same factor."""
    return min(CALLS, key=lambda calls: error(rows, calls, calls if copies is None else copies))


def best_copies(modes: dict[str, list[Row]]) -> float:
    if not any(beside for rows in modes.values() for *_, beside in rows):
        return 1.0
    return min(COPIES, key=lambda copies: sum(error(rows, best_calls(rows, copies), copies) for rows in modes.values()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", help="what `evaluate --rows` wrote")
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument("--copies", action="store_true", help="the time beside GPU and host is a copy, to be fitted too")
    beside.add_argument("--loop", action="store_true", help="the time beside GPU and host is the host's as well")
    arguments = parser.parse_args()
    for (gpu, campaign), modes in sorted(read(arguments.rows).items()):
        together = None if arguments.loop else best_copies(modes) if arguments.copies else 1.0
        for mode, rows in sorted(modes.items()):
            calls = best_calls(rows, together)
            copies = calls if together is None else together
            moved = sum(not 0.99 < joined(g, calls * h) / joined(g, h) < 1.01 for _, g, h, _ in rows)
            told = "" if moved * 10 > len(rows) else "   (the GPU alone explains these rows)"
            print(f"{gpu:20} {campaign:10} {mode:10} {len(rows):4} rows   calls {calls:5.2f}, copies {copies:5.2f}   "
                  f"mean |log error| {100 * error(rows, 1.0, 1.0):5.1f} -> {100 * error(rows, calls, copies):5.1f} %{told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
