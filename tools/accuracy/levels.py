#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What measured networks of a GPU are worth for others on it: levels.py --joulecast PROGRAM --data DATA --graphs DIR --out JSON

Corrects the shipped pack by networks of GPUs that it knows no operation of (`joulecast train --calibrate TABLE --graphs DIR`), once
by ten of them and once by all, but each time without a fifth of the families (the letters a name begins with), which judges it.
DIR has MODEL.onnx of each. With --ship PACK it writes the pack that all of them correct instead: what is shipped
(data/packs/joulecast.jcpack). Standard library only.
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

from errors import figures, read_rows, write_json

FOLDS = 5
COUNTS = {"uncorrected": 0, "ten": 10, "all": None}  # networks to learn from; None: all others

# FP64 is left out: its kernels are far slower than the units, and no level says that; so is FP16 that is multiplied in FP32.
OLDER = {"GeForce GTX 1080 Ti": ("fp32",), "TITAN V": ("fp32", "fp16"), "TITAN Xp": ("fp32",)}
SOURCES = {
    "timm_benchmark.csv": lambda row: True,
    "torchvision_gpu_benchmark.csv": lambda row: row["n_gpus"] == "1" and row["dtype"] in OLDER.get(row["gpu"], ()),
}


def family(model: str) -> str:
    return re.match(r"[a-z]*", model.removeprefix("tf_"))[0]


def write(path: pathlib.Path, rows: list[dict]) -> str:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


class Table:
    """Rows of one published table that a graph is known of."""

    def __init__(self, path: pathlib.Path, graphs: pathlib.Path) -> None:
        known = {path.stem for path in graphs.glob("*.onnx")}
        self.name = path.stem
        with path.open(newline="") as file:
            self.rows = [row for row in csv.DictReader(file) if row["model"] in known and SOURCES[path.name](row)]
        self.families = sorted({family(row["model"]) for row in self.rows})

    def fold(self, fold: int) -> set[str]:
        """Networks of a fifth of the families."""
        return {row["model"] for row in self.rows if family(row["model"]) in self.families[fold::FOLDS]}

    def learnt(self, without: set[str], count: int | None, seed: int) -> list[dict]:
        """Rows of so many networks a GPU."""
        out = []
        for gpu in sorted({row["gpu"] for row in self.rows}):
            mine = [row for row in self.rows if row["gpu"] == gpu]
            models = sorted({row["model"] for row in mine} - without)
            if count is not None:
                models = random.Random(seed).sample(models, min(count, len(models)))
            out += [row for row in mine if row["model"] in models]
        return out


class Program:
    def __init__(self, joulecast: str, graphs: pathlib.Path, folder: pathlib.Path) -> None:
        self.joulecast, self.graphs, self.folder = joulecast, str(graphs), folder

    def run(self, *words: str) -> None:
        subprocess.run([self.joulecast, *words, "--graphs", self.graphs], check=True, stdout=subprocess.DEVNULL)

    def corrected(self, rows: list[dict]) -> list[str]:
        """Options for the pack that these rows correct."""
        if not rows:
            return ["--uncorrected"]
        pack = str(self.folder / "mine.jcpack")
        self.run("train", "--calibrate", write(self.folder / "learnt.csv", rows), "-q", "-o", pack)
        return ["--pack", pack]

    def judged(self, rows: list[dict], pack: list[str]) -> list[dict]:
        found = self.folder / "rows.csv"
        self.run("evaluate", write(self.folder / "judged.csv", rows), "--rows", str(found), "--json", *pack)
        return [row for row in read_rows(found) if row["quantity"] == "time"]


def held_out(table: Table, program: Program) -> dict[str, dict]:
    """By GPU, mode, variant and precision, figures by what was learnt from."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for fold in range(FOLDS):
        without = table.fold(fold)
        rows = [row for row in table.rows if row["model"] in without]
        for key, count in COUNTS.items():
            pack = program.corrected([] if count == 0 else table.learnt(without, count, fold))
            for row in program.judged(rows, pack):
                label = ", ".join(filter(None, (row["gpu"], row["mode"], row["variant"], row["precision"])))
                found[label][key].append(row)
    return {label: {key: figures(rows) for key, rows in cell.items()} for label, cell in sorted(found.items())}


def ship(tables: list[Table], program: Program, pack: str) -> None:
    learnt = [write(program.folder / f"{table.name}.csv", table.rows) for table in tables]
    program.run("train", "--calibrate", *learnt, "-o", pack)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of published tables")
    parser.add_argument("--graphs", required=True, type=pathlib.Path, help="folder with MODEL.onnx")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=pathlib.Path, help="the JSON file of figures to write")
    what.add_argument("--ship", metavar="PACK", help="the corrected pack to write")
    arguments = parser.parse_args()
    tables = [Table(arguments.data / "networks" / name, arguments.graphs) for name in SOURCES]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments.joulecast, arguments.graphs, pathlib.Path(folder))
        if arguments.ship:
            ship(tables, program, arguments.ship)
        else:
            found = {table.name: held_out(table, program) for table in tables}
            write_json(arguments.out, "joulecast.accuracy-levels/1", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
