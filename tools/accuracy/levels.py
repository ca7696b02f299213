#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What measured networks of a GPU are worth for others on it: levels.py --joulecast PROGRAM --data DATA --graphs DIR

Corrects the shipped pack by timm's networks (`joulecast train --calibrate TABLE --graphs DIR`), once by ten of them and once by
all, but each time without a fifth of the families (the letters a name begins with), which judges it. DIR has MODEL.onnx of each.
Prints a table for docs/howto/add-your-gpu.md: median and bias in percent. Standard library only.
"""

from __future__ import annotations

import argparse
import collections
import csv
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from errors import median, read_rows, relative

FOLDS = 5
FEW = 10
COUNTS = (0, FEW, None)  # networks to learn from; None: all


def family(model: str) -> str:
    return re.match(r"[a-z]*", model.removeprefix("tf_"))[0]


def write(path: pathlib.Path, rows: list[dict]) -> str:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def corrected(program: str, graphs: str, rows: list[dict], folder: pathlib.Path) -> list[str]:
    """Options for the pack that these rows correct; none for no rows."""
    if not rows:
        return []
    pack = str(folder / "mine.jcpack")
    table = write(folder / "learnt.csv", rows)
    subprocess.run([program, "train", "--calibrate", table, "--graphs", graphs, "-q", "-o", pack], check=True)
    return ["--pack", pack]


def judged(program: str, graphs: str, rows: list[dict], pack: list[str], folder: pathlib.Path) -> list[dict]:
    table, found = write(folder / "judged.csv", rows), folder / "rows.csv"
    command = [program, "evaluate", table, "--graphs", graphs, "--rows", str(found), "--json", *pack]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [row for row in read_rows(found) if row["quantity"] == "time"]


def learnt(rows: list[dict], without: set[str], count: int | None, seed: int) -> list[dict]:
    models = sorted({row["model"] for row in rows} - without)
    if count is not None:
        models = random.Random(seed).sample(models, count)
    return [row for row in rows if row["model"] in models]


def cell(rows: list[dict]) -> str:
    off = [relative(row) for row in rows]
    return f"{100 * median([abs(one) for one in off]):.1f} ({100 * median(off):+.1f})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of published tables")
    parser.add_argument("--graphs", required=True, type=pathlib.Path, help="folder with MODEL.onnx")
    arguments = parser.parse_args()
    known = {path.stem for path in arguments.graphs.glob("*.onnx")}
    with (arguments.data / "networks" / "timm_benchmark.csv").open(newline="") as file:
        table = [row for row in csv.DictReader(file) if row["model"] in known]
    families = sorted({family(row["model"]) for row in table})
    found: dict[tuple, dict[int | None, list[dict]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for fold in range(FOLDS):
        without = {row["model"] for row in table if family(row["model"]) in families[fold::FOLDS]}
        for count in COUNTS:
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                pack = corrected(arguments.joulecast, str(arguments.graphs), learnt(table, without, count, fold), folder)
                rows = [row for row in table if row["model"] in without]
                for row in judged(arguments.joulecast, str(arguments.graphs), rows, pack, folder):
                    found[row["gpu"], row["mode"], row["variant"], row["precision"]][count].append(row)
    print(f"| GPU, mode | rows | as shipped | {FEW} networks | all others |")
    print("|---|---:|---:|---:|---:|")
    for (gpu, mode, variant, precision), by_count in sorted(found.items()):
        label = ", ".join(part for part in (gpu.removeprefix("NVIDIA "), mode, variant, precision) if part)
        print(f"| {label} | {len(by_count[0])} | {' | '.join(cell(by_count[count]) for count in COUNTS)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
