# SPDX-License-Identifier: Apache-2.0
"""What the charts are drawn from: counts in bins, never single measurements."""

from __future__ import annotations

import collections
import math
import re

from errors import by, covered, median, of, quantile, relative

BINS_PER_DECADE = {"time": 12, "power": 40, "energy": 12}  # power spans hardly one


def density(title: str, rows: list[dict]) -> dict:
    """How many rows fall into each cell of measured by predicted, both on logarithms. All rows are of one quantity."""
    bins = BINS_PER_DECADE[rows[0]["quantity"]]
    cells = collections.Counter(
        tuple(math.floor(bins * math.log10(row[column])) for column in ("measured", "found")) for row in rows
    )
    errors = [abs(relative(row)) for row in rows]
    naive = [abs(relative(row, "baseline")) for row in rows if row["baseline"] is not None]
    return {
        "title": title,
        "quantity": rows[0]["quantity"],
        "bins_per_decade": bins,
        "n": len(rows),
        "median_ape": median(errors),
        "baseline_median_ape": median(naive) if naive else None,
        "within_10_percent": sum(error <= 0.1 for error in errors) / len(errors),
        "within_a_factor_of_2": sum(0.5 <= row["found"] / row["measured"] <= 2 for row in rows) / len(rows),
        "cells": [[*cell, count] for cell, count in sorted(cells.items())],
    }


NUMBER = re.compile(r"\d+(?:\.\d+)?")


class Neighbours:
    """The distance of an operation from those a pack was fitted on: the factor between the numbers in its words and
    those of the nearest operation of the same form, taken where it is largest. 1: equal but for its words' form;
    2: some extent is twice or half that of anything alike. None: nothing of that form was there."""

    def __init__(self, subjects: set[str]) -> None:
        self._forms = collections.defaultdict(list)
        for subject in subjects:
            form, numbers = self._parsed(subject)
            self._forms[form].append(numbers)

    @staticmethod
    def _parsed(subject: str) -> tuple[str, tuple[float, ...]]:
        return NUMBER.sub("#", subject), tuple(math.log2(float(n) + 1) for n in NUMBER.findall(subject))

    def factor(self, subject: str) -> float | None:
        form, numbers = self._parsed(subject)
        best = min(
            (max((abs(a - b) for a, b in zip(numbers, other)), default=0.0) for other in self._forms.get(form, ())),
            default=None,
        )
        return None if best is None else 2.0**best


DISTANCES = ((1.0, 1.26), (1.26, 1.6), (1.6, 2.2), (2.2, 4.5), (4.5, math.inf))


def by_distance(rows: list[dict], distances: dict[str, float | None]) -> dict[str, list[dict]]:
    """Errors of operations by their group, then by how far they are from what the pack knew."""
    def bin_of(row: dict) -> str:
        factor = distances[row["subject"]]
        return str(len(DISTANCES) if factor is None else next(i for i, (_, end) in enumerate(DISTANCES) if factor < end))

    out: dict[str, list[dict]] = {}
    for group, of_group in by(rows, lambda row: row["group"]).items():
        out[group] = []
        for index, cell in by(of_group, bin_of).items():
            least, most = DISTANCES[int(index)] if int(index) < len(DISTANCES) else (None, None)
            out[group].append({"from": least, "to": None if most == math.inf else most, **summaries(cell, ("time", "power"))})
    return out


def summary(rows: list[dict]) -> dict:
    """Quantiles of the errors of one quantity, the naive estimate's beside them."""
    errors = [abs(relative(row)) for row in rows]
    out = {
        "n": len(rows),
        "subjects": len({row["subject"] for row in rows}),
        "median_ape": median(errors),
        "p25_ape": quantile(errors, 0.25),
        "p75_ape": quantile(errors, 0.75),
        "p90_ape": quantile(errors, 0.9),
        "coverage": sum(map(covered, rows)) / len(rows),
        # How much the interval costs: its half width beside the prediction.
        "width": median([(row["hi"] - row["lo"]) / (2 * row["found"]) for row in rows]),
    }
    if rows[0]["baseline"] is not None:
        out["baseline_median_ape"] = median([abs(relative(row, "baseline")) for row in rows])
    return out


def summaries(rows: list[dict], quantities: tuple[str, ...]) -> dict:
    return {quantity: summary(of(rows, quantity)) for quantity in quantities if of(rows, quantity)}
