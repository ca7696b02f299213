#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captured products and attention beyond the shapes that were learnt from, by one octave.

    tools/accuracy/octave.py --joulecast build/release/joulecast --data DATA --work /some/folder --out docs/accuracy/octave.json

A pack is trained on the rows of these tables within limits of their extents, and judged on those that exceed a limit, none
by more than twice. DATA is the folder of published tables. A pack in the work folder is used again. Standard library only.
"""
from __future__ import annotations

import argparse
import csv
import pathlib
import subprocess
import sys

import errors

# By table, the largest extents that are learnt from.
TABLES = {
    "aic_gemm_bf16.csv": {"m": 16384, "n": 8192, "k": 8192},
    "aic_gemm_fp8.csv": {"m": 16384, "n": 8192, "k": 8192},
    "aic_prefill_attention.csv": {"batch_size": 128, "isl": 8192},
    "aic_decode_attention.csv": {"batch_size": 1024, "step": 32767},
}


def parted(source: pathlib.Path, limits: dict[str, int], inside: pathlib.Path, beyond: pathlib.Path) -> None:
    """Two tables of one: within the limits, and beyond one of them by twice at most."""
    with source.open(newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    for target, wanted in ((inside, lambda far: far <= 1), (beyond, lambda far: 1 < far <= 2)):
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("w", newline="") as file:
            writer = csv.DictWriter(file, reader.fieldnames, lineterminator="\n")
            writer.writeheader()
            # Counts of tokens start at none: 32767 and 65535 are an octave apart.
            far = ((max((float(row[c]) + 1) / (most + 1) for c, most in limits.items()), row) for row in rows)
            writer.writerows(row for factor, row in far if wanted(round(factor, 3)))


def judged(program: str, table: pathlib.Path, pack: pathlib.Path) -> dict:
    rows = table.with_suffix(".rows.csv")
    command = [program, "evaluate", str(table), "--pack", str(pack), "--rows", str(rows), "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return errors.tabulated(errors.read_rows(rows), "gpu")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program, with joulecast-train beside it")
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, help="the JSON file to write")
    options = parser.parse_args()
    for table, limits in TABLES.items():
        parted(options.data / "operations" / table, limits, options.work / "inside" / table, options.work / "beyond" / table)
    pack = options.work / "octave.jcpack"
    if not pack.exists():
        inside = [str(options.work / "inside" / table) for table in TABLES]
        subprocess.run([options.joulecast, "train", "--quick", "-q", "-o", str(pack), *inside], check=True)
    found = {table: judged(options.joulecast, options.work / "beyond" / table, pack) for table in TABLES}
    errors.write_json(pathlib.Path(options.out), "joulecast.accuracy-octave/1", {"limits": TABLES, "tables": found})
    return 0


if __name__ == "__main__":
    sys.exit(main())
