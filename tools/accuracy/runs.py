# SPDX-License-Identifier: Apache-2.0
"""How far earlier runs of the same networks lie from the run that is judged: nobody's predictions can be better than that."""

from __future__ import annotations

import collections
import csv
import pathlib

from errors import median

OTHER_STATE = ("low-power", "trial")  # in the name of a run


def apart(rows: list[dict], of: str) -> list[float]:
    """Of pairs of rows."""
    return [abs(float(row[of]) / float(now[of]) - 1.0) for row, now in rows if row[of] and now[of]]


def earlier_runs(table: pathlib.Path) -> dict[str, dict[str, dict]]:
    """By GPU and mode, and by run: number of networks, and how far time and energy are apart."""
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    key = lambda row: (row["gpu"], row["mode"], row["model_name"], row["input_shape"])
    judged = {key(row): row for row in rows if row["primary"] == "1"}
    runs: dict[tuple[str, str], list] = collections.defaultdict(list)
    for row in rows:
        if row["primary"] != "1" and key(row) in judged and not any(word in row["generation"] for word in OTHER_STATE):
            runs[f"{row['gpu']} {row['mode']}", row["generation"]].append((row, judged[key(row)]))
    out: dict[str, dict[str, dict]] = {}
    for (machine, run), pairs in sorted(runs.items()):
        cell = {"n": len(pairs)}
        for quantity, column in (("time", "time_s"), ("energy", "energy_j")):
            found = apart(pairs, column)
            cell[quantity] = {"mape": sum(found) / len(found), "median_ape": median(found), "worst_ape": max(found)}
        out.setdefault(machine, {})[run] = cell
    return out
