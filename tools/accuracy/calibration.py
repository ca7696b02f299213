# SPDX-License-Identifier: Apache-2.0
"""Factors of intervals from errors on what was left out.

A new network is a draw among families and machines, not among the rows of those that somebody measured most. So of
networks left out every unit, a family or a GPU, counts alike, however many rows it has. Units of operations have from five to
seven thousand rows, those of other machines' networks, a family on a machine each, from one to sixty; there each counts as the
root of its rows, between every row alike, where the largest decides, and every unit alike, where the odd one does.

Few units make a quantile of their errors too small for the next one. Split conformal's own correction, (n + 1) / n, would
ask for more than the largest error where n is 8. So the level at which the quantile is taken is raised, to 95 % at most,
to where units that are left out in turn are covered by the factor of the others most nearly as often as is promised.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable

from errors import QUANTITIES, by, median, of

LEVEL = 0.9
LEVELS = tuple(LEVEL + 0.0025 * step for step in range(21))

Weight = Callable[[int], float]  # of a unit, from the number of its rows


def alike(_rows: int) -> float:
    return 1.0


def distance(row: dict) -> float:
    """In units of the row's spread, by which the program multiplies the factor."""
    return abs(math.log(row["found"] / row["measured"])) / row["spread"]


def weighted_quantile(units: Iterable[list[float]], level: float, weight: Weight) -> float:
    """The value that a share `level` of the distances does not exceed."""
    ordered = sorted((value, weight(len(unit)) / len(unit)) for unit in units for value in unit)
    wanted = level * sum(share for _, share in ordered) * (1 - 1e-12)
    reached = 0.0
    for value, share in ordered:
        reached += share
        if reached >= wanted:
            return value
    return ordered[-1][0]


def share_within(values: list[float], factor: float) -> float:
    return sum(value <= factor for value in values) / len(values)


class Calibrated:
    """A factor, as a logarithm, and what it is worth."""

    def __init__(self, rows: list[dict], weight: Weight) -> None:
        self.units = {key: [distance(row) for row in cell] for key, cell in by(rows, left_out).items()}
        self.weight = weight
        self.level = LEVEL
        if len(self.units) > 1:
            self.level = min(LEVELS, key=lambda level: round(abs(self._left_out(level) - LEVEL), 6))
        self.factor = round(weighted_quantile(self.units.values(), self.level, weight), 6)
        self.spread = median([row["spread"] for row in rows])

    def without(self, unit: str, level: float | None = None) -> float:
        """The factor of all other units."""
        others = (values for key, values in self.units.items() if key != unit)
        return weighted_quantile(others, level or self.level, self.weight)

    def _mean(self, shares: dict[str, float]) -> float:
        """Over units, as they weigh."""
        weights = {key: self.weight(len(values)) for key, values in self.units.items()}
        return sum(weights[key] * share for key, share in shares.items()) / sum(weights.values())

    def _left_out(self, level: float) -> float:
        return self._mean({key: share_within(v, self.without(key, level)) for key, v in self.units.items()})

    def evidence(self, factor: float) -> dict:
        """Coverage by `factor` of rows and of units, and of units that the factor of the others was tried on."""
        rows = [value for values in self.units.values() for value in values]
        return {
            "n": len(rows),
            "units": len(self.units),
            "spread": round(self.spread, 6),
            "covers": round(share_within(rows, factor), 4),
            "covers_units": round(self._mean({key: share_within(v, factor) for key, v in self.units.items()}), 4),
            "covers_left_out": round(self._left_out(self.level), 4) if len(self.units) > 1 else None,
        }


class Factors:
    """Interval factors by the key the pack has them under."""

    def __init__(self) -> None:
        self.intervals: dict[str, float] = {}
        self.evidence: dict[str, dict] = {}

    def add(self, key: str, rows: list[dict], weight: Weight, floor: float = 0.0) -> float:
        """Also gives the rows bounds: by the factor of the other units, as if theirs had never been seen."""
        calibrated = Calibrated(rows, weight)
        self.intervals[key] = max(calibrated.factor, floor)
        self.evidence[key] = calibrated.evidence(self.intervals[key])
        others = {key: max(calibrated.without(key), floor) for key in calibrated.units if len(calibrated.units) > 1}
        for row in rows:
            bound(row, others.get(left_out(row), self.intervals[key]))
        return self.intervals[key]


def bound(row: dict, factor: float) -> None:
    width = factor * row["spread"]
    row["lo"], row["hi"] = row["found"] / math.exp(width), row["found"] * math.exp(width)


def left_out(row: dict) -> str:
    """The row's unit: what was left out, or a finer one."""
    return row.get("unit", row["held_out"])


def family_on_machine(row: dict) -> str:
    """Networks of a family, the letters their names begin with, share their errors on a machine."""
    return f"{row['held_out']}, {re.match('(?:tf_|legacy_)?([a-z]*)', row['subject'])[1]}"


@dataclasses.dataclass
class Held:
    """Rows predicted without having been fitted on: with families (or a fifth of a table) left out, with GPUs left out,
    and networks of other machines."""

    operations: list[dict]
    networks: list[dict]
    operations_of_gpus: list[dict]
    networks_of_gpus: list[dict]
    elsewhere: list[dict]


GROUPS = ("conv", "pointwise", "reduction", "gemm-simt")


def calibrate(held: Held) -> dict:
    """The factors of every group that PyTorch's tables have, and of networks. The pack finds those of captured kernels
    itself."""
    out = Factors()
    operations(out, held)
    return networks(out, held)


def calibrate_networks(held: Held, earlier: dict) -> dict:
    """Those of networks, of which alone `held` has rows, beside those of operations in an earlier run's calibration."""
    out = Factors()
    out.intervals.update(earlier["intervals"])
    out.evidence.update(earlier["evidence"])
    return networks(out, held)


def operations(out: Factors, held: Held) -> None:
    for quantity in QUANTITIES:
        for group in GROUPS:
            seen, unseen = (
                [row for row in of(rows, quantity) if row["group"] == group]
                for rows in (held.operations, held.operations_of_gpus)
            )
            known = out.add(f"operation/{group}/seen/{quantity}", seen, math.sqrt)
            floor = known * median([row["spread"] for row in seen]) if seen else known
            out.add(f"operation/{group}/unseen-gpu/{quantity}", unseen, math.sqrt, floor)


def networks(out: Factors, held: Held) -> dict:
    """All factors. FP64 networks stay out: their kernels are far slower than the units, and their errors would widen
    everything else."""
    for quantity in QUANTITIES:
        out.add(f"network/{quantity}/inside", of(held.networks, quantity), alike)
    network_times(out, held)
    # Only two GPUs have power: their factors widen as those of time do. Where nothing was measured, a network is no
    # better known than an operation on an unseen GPU, nor its energy better than its time.
    near, edge, worst = (out.intervals[f"network/time/{support}"] for support in ("gpus", "edge", "outside"))
    for quantity in ("power", "energy"):
        known = out.intervals[f"network/{quantity}/inside"]
        factor = out.add(f"network/{quantity}/edge", of(held.networks_of_gpus, quantity), alike, known)
        out.intervals[f"network/{quantity}/edge"] = round(factor * edge / near, 6)
        unseen = [v for k, v in out.intervals.items() if k.endswith(f"/unseen-gpu/{quantity}")]
        far_factor = max(round(factor * worst / near, 6), *unseen, worst if quantity == "energy" else 0.0)
        out.intervals[f"network/{quantity}/outside"] = far_factor
    for part in (out.intervals, out.evidence):
        del part["network/time/gpus"]
    return {"intervals": dict(sorted(out.intervals.items())), "evidence": dict(sorted(out.evidence.items()))}


def network_times(out: Factors, held: Held) -> None:
    """Edge: GPUs left out and other machines; outside: what nobody measured may be as bad as the worst of these."""
    times = [row for row in of(held.elsewhere, "time") if row["precision"] != "fp64"]
    gpus = of(held.networks_of_gpus, "time")
    near = out.add("network/time/gpus", gpus, alike, out.intervals["network/time/inside"])
    for row in gpus + times:
        row["unit"] = family_on_machine(row)
    edge = out.add("network/time/edge", gpus + [row for row in times if row["support"] == "edge"], math.sqrt, near)
    machines = {
        key: Calibrated(rows, math.sqrt).factor
        for key, rows in by((row for row in times if row["support"] != "inside"), lambda row: row["held_out"]).items()
    }
    out.intervals["network/time/outside"] = max(edge, *machines.values())
    for row in times:
        if row["support"] == "inside":
            bound(row, out.intervals["network/time/inside"])
        if row["support"] == "outside":
            bound(row, max([edge] + [factor for key, factor in machines.items() if key != row["held_out"]]))
    for row in of(held.elsewhere, "time"):
        if row["precision"] == "fp64":
            bound(row, out.intervals[f"network/time/{row['support']}"])
