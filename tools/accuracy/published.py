#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shipped pack, without what networks corrected in it, on every published table, in one run of `joulecast evaluate`.

    tools/accuracy/published.py --joulecast build/release/joulecast --data DATA --graphs DIR --work /some/folder \
        --out docs/accuracy/tables.json

--only profet_train takes that table alone anew and leaves the rest of the file as it is.
Beside each error stands that of the naive estimate (an operation's bound, a network's roofline) and how far repeats of
the table itself lie from their mean. Standard library only.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import pathlib
import subprocess
import sys

from errors import QUANTITIES, figures, read_rows, repeats, write_json

JUDGED = (*QUANTITIES, "memory")

PACK = pathlib.Path(__file__).resolve().parents[2] / "data" / "packs" / "joulecast.jcpack"
FOLDERS = ("operations", "networks", "power", "memory")
COLUMNS = ("subject", "gpu", "campaign", "mode", "precision", "batch", "measured", "found", "lo", "hi", "baseline")


def evaluate(arguments: argparse.Namespace, tables: list[pathlib.Path], rows: pathlib.Path) -> dict:
    command = [arguments.joulecast, "evaluate", *map(str, tables), "--graphs", arguments.graphs, "--rows", str(rows)]
    command += ["--pack", str(PACK), "--uncorrected", "--json"]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found if "tables" in found else {"tables": [found], "not_judged": []}  # of a single table


def groups_of(rows) -> dict[str, dict[str, dict]]:
    """Figures of one table's rows by GPU, mode and variant, then quantity."""
    cells: dict[tuple[str, str, str], list[dict]] = {}
    for row in rows:
        how = ", ".join(filter(None, (row["mode"], row["variant"])))
        cells.setdefault((row["gpu"], how, row["quantity"]), []).append({key: row[key] for key in COLUMNS})
    out: dict[str, dict[str, dict]] = {}
    for (gpu, mode, quantity), cell in sorted(cells.items(), key=lambda e: (e[0][:2], JUDGED.index(e[0][2]))):
        found = figures(cell)
        if quantity != "time":  # the bound is one of time only
            found.pop("baseline_mape", None)
            found.pop("baseline_median_ape", None)
        out.setdefault(f"{gpu}, {mode}", {})[quantity] = {**found, "repeats": repeats(cell)}
    return out


def rows_without(evaluation: dict) -> list[dict]:
    """Why rows were not predicted, the most frequent reasons; names of single networks are no reason of their own."""
    return evaluation["unmapped_because"][:2]


def keep_others(path: pathlib.Path, out: dict) -> None:
    """Adds the tables of an earlier run that this one did not take."""
    before = json.loads(path.read_text())
    taken = {e["table"] for kind in ("tables", "not_judged") for e in out[kind]}
    for kind in ("tables", "not_judged"):
        out[kind] = sorted(out[kind] + [e for e in before[kind] if e["table"] not in taken], key=lambda e: e["table"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, help="folder of published tables")
    parser.add_argument("--graphs", required=True, help="folder with MODEL.onnx and MODEL_SIZE.onnx")
    parser.add_argument("--work", required=True, help="folder for rows")
    parser.add_argument("--out", required=True, help="the JSON file to write")
    parser.add_argument("--only", action="append", default=[], help="a table's name without .csv (repeatable)")
    arguments = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    data = pathlib.Path(arguments.data)
    tables = sorted(itertools.chain.from_iterable((data / folder).glob("*.csv") for folder in FOLDERS))
    if arguments.only:
        tables = [path for path in tables if path.stem in arguments.only]
    rows_path = pathlib.Path(arguments.work) / "published.rows.csv"
    rows_path.parent.mkdir(parents=True, exist_ok=True)
    done = evaluate(arguments, tables, rows_path)
    short = {str(path): path.relative_to(data).as_posix() for path in tables}
    judged = {}
    # The rows of a single table do not name it.
    for table, rows in itertools.groupby(read_rows(rows_path), key=lambda row: row.get("table", str(tables[0]))):
        judged[table] = groups_of(rows)
    rows_path.unlink()
    out = {
        "tables": [
            {
                "table": short[e["table"]],
                "layout": e["layout"],
                "fitted_on": e["fitted_on"],
                "groups": judged[e["table"]],
                "not_predicted": sum(reason["rows"] for reason in e["unmapped_because"]),
                "because": rows_without(e),
            }
            for e in done["tables"]
        ],
        "not_judged": [
            {
                "table": short[e["table"]],
                "rows": sum(reason["rows"] for reason in e["unmapped_because"]),
                "reason": e["unmapped_because"][0]["reason"] if e["unmapped_because"] else e["reason"],
            }
            for e in done["not_judged"]
        ],
    }
    if arguments.only:
        keep_others(pathlib.Path(arguments.out), out)
    write_json(pathlib.Path(arguments.out), "joulecast.accuracy-tables/1", out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
