#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which kinds of operations networks are off by, on GPUs of which nobody measured an operation.

    tools/fit/kinds.py timm_benchmark.csv --joulecast build/release/joulecast --graphs GRAPHS

Networks differ in what they are made of: log(measured / predicted) of a network is taken for a sum over its kinds of operations, of
their shares of the GPU's predicted time. Prints for each GPU and way to run networks what such a fit finds: positive, and the law of
this kind is too fast. Rows of one network (other versions, other sizes) weigh together as much as one. Kinds that stand together in
most networks (a convolution and its batch norm) are told apart poorly; the last figure is what chance makes of it. What a kind has
on several GPUs is its law's; what all kinds have on one, the GPU's.
Pointed so at the rate of 1x1 convolutions and the traffic of batch norm in halves, and at depthwise convolutions
under a power limit and channels-last (src/predict/features_conv.cpp, features_reduction.cpp). Standard library only.
"""

from __future__ import annotations

import argparse
import collections
import csv
import math
import pathlib
import re
import subprocess
import tempfile

RIDGE = 0.3  # draws kinds that hardly any network has to nothing
NORMAL = 0.05  # errors beyond weigh less
FEWEST = 100  # networks a way, to tell so many kinds
CONVOLUTION = re.compile(r"conv \d+x(\d+)x.*? -> \d+, (\d+)x(\d+)")


def kind_of(label: str) -> str:
    convolution = CONVOLUTION.match(label)
    if convolution:
        groups = re.search(r" g(\d+)", label)
        if groups:
            return "depthwise conv" if groups[1] == convolution[1] else "grouped conv"
        side = convolution[2]
        return f"{side}x{side} conv" if side in ("1", "3") and convolution[3] == side else "other conv"
    word = re.match(r"[a-z ]+", label)
    return word[0].strip() if word else label


def solve(matrix: list[list[float]], right: list[list[float]]) -> list[list[float]]:
    """Gauss and Jordan, for symmetric positive definite matrices."""
    n = len(matrix)
    rows = [line + more for line, more in zip(matrix, right)]
    for i in range(n):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(n):
            if j != i:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i])]
    return [line[n:] for line in rows]


Network = tuple[str, float, dict[str, float]]  # its name, log(measured / predicted) and the shares of its kinds


def fit(networks: list[Network]) -> list[tuple[str, float, float, float]]:
    """Kind, mean share, coefficient and its standard error, by iterated least squares."""
    kinds = sorted({kind for _, _, parts in networks for kind in parts})
    every = range(len(kinds))
    lines = [[parts.get(kind, 0.0) for kind in kinds] for _, _, parts in networks]
    rows = collections.Counter(name for name, _, _ in networks)
    alike = [1.0 / rows[name] for name, _, _ in networks]
    weights = alike
    for _ in range(20):
        matrix = [[sum(w * x[i] * x[j] for w, x in zip(weights, lines)) + (RIDGE if i == j else 0.0) for j in every] for i in every]
        right = [[sum(w * x[i] * off for w, x, (_, off, _) in zip(weights, lines, networks))] for i in every]
        found = [line[0] for line in solve(matrix, right)]
        left = [off - sum(a * b for a, b in zip(found, x)) for x, (_, off, _) in zip(lines, networks)]
        weights = [w / max(1.0, abs(off) / NORMAL) for w, off in zip(alike, left)]
    spread = math.sqrt(sum(w * off * off for w, off in zip(weights, left)) / sum(weights))
    inverse = solve(matrix, [[1.0 if i == j else 0.0 for j in every] for i in every])
    means = [sum(w * x[i] for w, x in zip(alike, lines)) / len(rows) for i in every]
    return [(kind, means[i], found[i], spread * math.sqrt(inverse[i][i])) for i, kind in enumerate(kinds)]


def read(path: pathlib.Path) -> list[dict]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def judged(program: str, table: str, graphs: str) -> dict[tuple, list[Network]]:
    """Networks by GPU and way to run them, as they ran."""
    with tempfile.TemporaryDirectory() as folder:
        rows, operations = pathlib.Path(folder) / "rows.csv", pathlib.Path(folder) / "operations.csv"
        command = [program, "evaluate", table, "--graphs", graphs, "--uncorrected", "--rows", rows, "--operations", operations]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        parts: dict[str, dict[str, float]] = collections.defaultdict(lambda: collections.defaultdict(float))
        for row in read(operations):
            parts[row["line"]][kind_of(row["operation"])] += float(row["busy_s"])
        out = collections.defaultdict(list)
        for row in read(rows):
            if row["quantity"] != "time" or not parts[row["line"]]:
                continue
            whole = sum(parts[row["line"]].values())
            network = row["subject"].rpartition(" ")[0] or row["subject"]
            off = math.log(float(row["measured"]) / float(row["found"]))
            shares = {kind: seconds / whole for kind, seconds in parts[row["line"]].items()}
            out[row["gpu"], row["mode"], row["precision"], row["variant"]].append((network, off, shares))
        return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--graphs", required=True, help="folder with MODEL.onnx and MODEL_SIZE.onnx")
    arguments = parser.parse_args()
    for way, networks in judged(arguments.joulecast, arguments.table, arguments.graphs).items():
        count = len({name for name, _, _ in networks})
        if count < FEWEST:
            continue
        print(", ".join(filter(None, way)), f"({count} networks, {len(networks)} rows)")
        for kind, share, value, error in fit(networks):
            if share >= 0.005:
                print(f"    {kind:18} {100 * share:5.1f} % of the time, {100 * value:+6.1f} % +- {100 * error:.1f}")


if __name__ == "__main__":
    main()
