#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What eight measured rows of an unseen GPU are worth: calibrated.py --joulecast PROGRAM --data DATA --work WORK

WORK/without-GPU.jcpack is a pack that has not seen the GPU (families.py makes them). Eight rows, of different kinds where
the table has kinds, correct it (`joulecast train --calibrate`); all other rows of the GPU judge it before and after, and
after a correction by themselves, which is about what such corrections come to at best. Prints a table, mean error in percent, bias
in brackets, or puts it with --page into a page in the place of the one that is there (docs/howto/add-your-gpu.md). Standard library
only.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROWS = 8
AT_MOST = 3000  # rows judged
HEAD = "| GPU, table, mode |"
QUANTITIES = ("time", "power", "energy")

# GPU of the pack's name, table, and what its rows call the GPU.
CASES = (
    ("a30", "heidelberg_operations.csv", "a30"),
    ("rtx2080ti", "heidelberg_operations.csv", "rtx2080ti"),
    ("t4", "neusight_gemm.csv", "Tesla T4"),
    ("t4", "neusight_vec.csv", "Tesla T4"),
    ("v100-pcie-32gb", "neusight_gemm.csv", "Tesla V100-PCIE-32GB"),
    ("p100-pcie-16gb", "neusight_gemm.csv", "Tesla P100-PCIE-16GB"),
    ("p100-pcie-16gb", "neusight_vec.csv", "Tesla P100-PCIE-16GB"),
    ("a100-pcie-40gb", "neusight_gemm.csv", "NVIDIA A100-PCIE-40GB"),
)


def rows_of(table: pathlib.Path, gpu: str) -> tuple[list[str], list[list[str]]]:
    with table.open(newline="") as file:
        lines = csv.reader(file)
        head = next(lines)
        at = {name: i for i, name in enumerate(head)}
        mine = [r for r in lines if r[at["gpu"]] == gpu and r[at["primary"]] != "0"] if "primary" in at else None
    if mine is None:
        with table.open(newline="") as file:
            mine = [r for r in list(csv.reader(file))[1:] if r[at["gpu"]] == gpu]
    random.Random(5).shuffle(mine)
    mine = mine[:AT_MOST]
    if "op_type" in at:  # one of each kind first
        kinds: set[tuple[str, str]] = set()
        first = []
        for r in mine:
            kind = (r[at["mode"]], r[at["op_type"]])
            if kind not in kinds:
                kinds.add(kind)
                first.append(r)
        mine = first + [r for r in mine if r not in first]
    return head, mine


def write(path: pathlib.Path, head: list[str], rows: list[list[str]]) -> str:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return str(path)


def judged(program: str, table: str, pack: str) -> dict[str, dict]:
    command = [program, "evaluate", table, "--pack", pack, "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {group["mode"]: group for group in report["groups"] if group["n"]}


def cell(group: dict, quantity: str) -> str:
    figures = group[quantity]
    return "-" if figures.get("mape") is None else f"{100 * figures['mape']:.1f} ({100 * figures['bias']:+.1f})"


def corrected(program: str, table: str, pack: str, folder: str) -> str:
    """The pack that these rows correct."""
    mine = str(pathlib.Path(folder) / "mine.jcpack")
    subprocess.run([program, "train", "--calibrate", table, "--pack", pack, "-o", mine, "--quiet"], check=True)
    return mine


def put_into(page: pathlib.Path, table: list[str]) -> None:
    lines = page.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(HEAD))
    last = next(i for i in range(first, len(lines)) if not lines[i].startswith("|"))
    page.write_text("\n".join([*lines[:first], *table, *lines[last:]]) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of published tables")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder with without-GPU.jcpack")
    parser.add_argument("--page", type=pathlib.Path, help="page whose table this one replaces")
    arguments = parser.parse_args()
    columns = [f"{what}: {when}" if when == "before" else when for what in QUANTITIES for when in ("before", "after", "by all")]
    out = [f"{HEAD} {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for gpu, table, label in CASES:
        pack = str(arguments.work / f"without-{gpu}.jcpack")
        head, rows = rows_of(arguments.data / "operations" / table, label)
        with tempfile.TemporaryDirectory() as folder:
            few = write(pathlib.Path(folder) / table, head, rows[:ROWS])
            mine = corrected(arguments.joulecast, few, pack, folder)
            rest = write(pathlib.Path(folder) / table, head, rows[ROWS:])
            found = [judged(arguments.joulecast, rest, one) for one in (pack, mine)]
            found.append(judged(arguments.joulecast, rest, corrected(arguments.joulecast, rest, pack, folder)))
        for mode in found[0]:
            cells = [cell(groups[mode], quantity) for quantity in QUANTITIES for groups in found]
            out.append(f"| {gpu}, {table.removesuffix('.csv')}, {mode} | {' | '.join(cells)} |")
    if arguments.page:
        put_into(arguments.page, out)
    else:
        print("\n".join(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
