#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What intervals of single operations are worth in published benchmarks that the pack was not fitted on, and the factors
that widen them there.

    tools/accuracy/elsewhere.py --joulecast build/release/joulecast --data DATA --calibration data/packs/calibration.json \
        --out docs/accuracy/elsewhere.json

Others time other things, with other libraries and harnesses. A group's factor is in units of the bounds that the GPU has
otherwise, and 1 at least. Every benchmark counts alike, and each is judged by the factor of the others: a group that one
benchmark alone has gets none. Adds the factors to the calibration file, which

    joulecast train --calibrate --calibration FILE -o PACK

brings into a pack. Rows are those of the shipped pack as users have it, with what networks corrected.
DATA is the folder of published tables. Standard library only.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from calibration import Factors, alike, bound, left_out
from errors import by, figures, of, read_rows, write_json

PACK = pathlib.Path(__file__).resolve().parents[2] / "data" / "packs" / "joulecast.jcpack"
FITTED_THERE = ("recurrent",)  # the law's constants are from DeepBench's own rows
BENCHMARKS = ("operations/deepbench_ops", "operations/vidur_llm_ops", "networks/neusight_e2e_ops")


def rows_of(arguments: argparse.Namespace, benchmark: str, folder: pathlib.Path) -> list[dict]:
    found = folder / "rows.csv"
    table = arguments.data / f"{benchmark}.csv"
    command = [arguments.joulecast, "evaluate", str(table), "--pack", str(PACK), "--rows", str(found), "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = [row for row in of(read_rows(found), "time") if row["group"] not in FITTED_THERE]
    return [{**row, "held_out": benchmark} for row in rows]


def factors_of(rows: list[dict]) -> Factors:
    """Also gives the rows bounds: by the factor of the other benchmarks."""
    out = Factors()
    for group, cell in sorted(by(rows, lambda row: row["group"]).items()):
        if len(by(cell, left_out)) > 1:
            out.add(f"operation/{group}/elsewhere/time", cell, alike, floor=1.0)
    return out


def coverages(rows: list[dict]) -> dict:
    """By the bounds that GPUs have otherwise, and by those with the factor of the other benchmarks."""
    covered = figures(rows)["coverage"]
    for row in rows:
        bound(row, 1.0)
    return {"n": len(rows), "without": figures(rows)["coverage"], "covered": covered}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of published tables")
    parser.add_argument("--calibration", required=True, type=pathlib.Path, help="interval factors, to which these are added")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the JSON file of figures to write")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for name in BENCHMARKS for row in rows_of(arguments, name, pathlib.Path(folder))]
    found = factors_of(rows)
    benchmarks = {
        name: {group: coverages(cell) for group, cell in sorted(by(mine, lambda row: row["group"]).items())}
        for name, mine in by(rows, left_out).items()
    }
    calibration = json.loads(arguments.calibration.read_text())
    for part, values in (("intervals", found.intervals), ("evidence", found.evidence)):
        calibration[part] = dict(sorted({**calibration[part], **values}.items()))
    arguments.calibration.write_text(json.dumps(calibration, indent=1) + "\n")
    out = {"benchmarks": benchmarks, "intervals": found.intervals, "evidence": found.evidence}
    write_json(arguments.out, "joulecast.accuracy-elsewhere/1", out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
