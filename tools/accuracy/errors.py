# SPDX-License-Identifier: Apache-2.0
"""Figures of errors over rows that `joulecast evaluate --rows` wrote."""

from __future__ import annotations

import collections
import csv
import json
import math
import pathlib
import re
from collections.abc import Callable, Iterable, Iterator

QUANTITIES = ("time", "power", "energy")
NUMBERS = ("measured", "found", "lo", "hi", "spread", "baseline")


def trusted(row: dict) -> bool:
    """Power of runs shorter than what the sensor averages over, and the like, is none to judge by, nor to fit on."""
    return row["quantity"] == "time" or "power" not in row["cautions"]


def read_rows(path: pathlib.Path, keep: Callable[[dict], bool] = lambda row: True) -> Iterator[dict]:
    """Rows with numbers for numbers."""
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if not keep(row) or not trusted(row):
                continue
            for column in NUMBERS:
                row[column] = float(row[column]) if row[column] else None
            yield row


def of(rows: Iterable[dict], quantity: str) -> list[dict]:
    return [row for row in rows if row["quantity"] == quantity]


def quantile(values: list[float], share: float) -> float:
    """Interpolated between neighbours, as numpy does by default."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def median(values: list[float]) -> float:
    return quantile(values, 0.5)


def r2(measured: list[float], found: list[float]) -> float | None:
    mean = sum(measured) / len(measured)
    spread = sum((m - mean) ** 2 for m in measured)
    return 1 - sum((m - f) ** 2 for m, f in zip(measured, found)) / spread if spread > 0 else None


def relative(row: dict, column: str = "found") -> float:
    return (row[column] - row["measured"]) / row["measured"]


def covered(row: dict) -> bool:
    return row["lo"] <= row["measured"] <= row["hi"]


def figures(rows: list[dict]) -> dict:
    """Error figures of one quantity."""
    errors = [abs(relative(row)) for row in rows]
    out = {
        "n": len(rows),
        "r2": r2([row["measured"] for row in rows], [row["found"] for row in rows]),
        "mape": sum(errors) / len(errors),
        "median_ape": median(errors),
        "p90_ape": quantile(errors, 0.9),
        "worst_ape": max(errors),
        "bias": sum(relative(row) for row in rows) / len(rows),
        "coverage": sum(covered(row) for row in rows) / len(rows),
    }
    if rows[0]["baseline"] is not None:
        baseline = [abs(relative(row, "baseline")) for row in rows]
        out |= {"baseline_mape": sum(baseline) / len(baseline), "baseline_median_ape": median(baseline)}
    return out


def by(rows: Iterable[dict], key: Callable[[dict], str]) -> dict[str, list[dict]]:
    cells = collections.defaultdict(list)
    for row in rows:
        cells[key(row)].append(row)
    return dict(sorted(cells.items()))


def tabulated(rows: Iterable[dict], *columns: str) -> dict:
    """By the given columns, then by quantity, figures."""
    cells = by(rows, lambda row: " ".join(row[column] for column in columns))
    return {key: {q: figures(of(cell, q)) for q in QUANTITIES if of(cell, q)} for key, cell in cells.items()}


def repeats(rows: Iterable[dict]) -> dict | None:
    """How far measurements of one thing lie from their own mean: nobody can predict better than that. None where
    nothing was measured twice."""
    same = by(rows, lambda row: "|".join(row[c] for c in ("subject", "gpu", "campaign", "mode", "precision", "batch")))
    distances = []
    for cell in same.values():
        if len(cell) < 2:
            continue
        mean = sum(row["measured"] for row in cell) / len(cell)
        distances += [abs(row["measured"] / mean - 1) for row in cell]
    if not distances:
        return None
    return {"n": len(distances), "median": median(distances), "p90": quantile(distances, 0.9)}


def rounded(value, digits: int = 4):
    """A JSON value with its numbers cut to some digits, so that what nobody can read does not change."""
    if isinstance(value, dict):
        return {key: rounded(entry, digits) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(entry, digits) for entry in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def write_json(path: pathlib.Path, schema: str, content: dict) -> None:
    """Rounded, a figure a line but for lists of numbers, so that differences can be read."""
    text = json.dumps(rounded({"schema": schema, **content}), indent=1, ensure_ascii=False)
    numbers = re.compile(r"\[[-\d.,\s\[\]e]+\]")
    path.write_text(numbers.sub(lambda match: re.sub(r"\s+", "", match[0]), text) + "\n")
