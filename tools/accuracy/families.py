#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the predictor on families of networks, and on GPUs, that it was not fitted on, and makes the factors of its
intervals from these errors.

    tools/accuracy/families.py --joulecast build/release/joulecast --data DATA --graphs DIR --work /some/folder \
        --calibration data/packs/calibration.json --report report.json

For each family the operations that no other family has are left out of the tables; a pack fitted on the rest predicts
these operations and the family's networks. For each GPU with whole networks all its rows are left out. DATA is the
folder of published tables (operations/, networks/); DIR holds a graph of every network (docs/accuracy.md).
Standard library only. The same tables give the same files.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import math
import pathlib
import re
import subprocess
import sys

LEVEL = 0.9
FAMILIES = {
    "AlexNet": ("alexnet",),
    "ConvNeXt": ("convnext",),
    "EfficientNet": ("efficientnet",),
    "Inception": ("inception",),
    "ResNet": ("resnet",),
    "ShuffleNet": ("shufflenet",),
    "SqueezeNet": ("squeezenet",),
    "Swin": ("swin",),
}
# The groups that families tell anything about: the rest has no networks behind it.
EAGER_TABLES = ("heidelberg_operations.csv", "neusight_gemm.csv", "neusight_vec.csv")
ALL_TABLES = (
    "heidelberg_operations.csv",
    "aic_gemm_bf16.csv",
    "aic_gemm_fp8.csv",
    "aic_prefill_attention.csv",
    "aic_decode_attention.csv",
    "aic_power_gemm_h200_sxm.csv",
    "aic_power_gemm_b200_sxm.csv",
    "aic_power_attention_h200_sxm.csv",
    "aic_power_attention_b200_sxm.csv",
    "neusight_gemm.csv",
    "neusight_vec.csv",
)
HELD_OUT_GPUS = {"a30": ("a30", "a30-no-tensor-cores"), "rtx2080ti": ("rtx2080ti",)}
QUANTITIES = ("time", "power", "energy")


def family_of(model: str) -> str | None:
    for family, beginnings in FAMILIES.items():
        if model.startswith(beginnings):
            return family
    return None


def key_of(module: str, shape: str) -> str:
    """An operation as the tables name it, in place or not."""
    return re.sub(r"(, )?inplace=(True|False)", "", module) + " " + shape


def own_operations(path: pathlib.Path) -> dict[str, set[str]]:
    """By family, the operations that only its networks have."""
    families = collections.defaultdict(set)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if family := family_of(row["model_name"]):
                families[key_of(row["op_repr"], row["op_input_shape"])].add(family)
    own: dict[str, set[str]] = {family: set() for family in FAMILIES}
    for key, used_by in families.items():
        if len(used_by) == 1:
            own[next(iter(used_by))].add(key)
    return own


def filtered(source: pathlib.Path, target: pathlib.Path, keep) -> pathlib.Path:
    """A copy of a table with the rows that `keep` wants."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open(newline="") as file, target.open("w", newline="") as out:
        reader = csv.DictReader(file)
        writer = csv.DictWriter(out, reader.fieldnames, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row for row in reader if keep(row))
    return target


class Runner:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.program = arguments.joulecast
        self.data = pathlib.Path(arguments.data)
        self.graphs = arguments.graphs
        self.work = pathlib.Path(arguments.work)
        self.work.mkdir(parents=True, exist_ok=True)

    def train(self, name: str, *options: str, tables: tuple[str, ...] = EAGER_TABLES) -> pathlib.Path:
        pack = self.work / f"{name}.jcpack"
        if not pack.exists():
            tables = [str(self.data / "operations" / table) for table in tables]
            command = [self.program, "train", "--quick", "-q", *options, *tables, "-o", str(pack)]
            subprocess.run(command, check=True)
        return pack

    def rows(self, table: pathlib.Path, pack: pathlib.Path, *options: str) -> list[dict]:
        path = table.with_suffix(".rows.csv")
        command = [self.program, "evaluate", str(table), "--pack", str(pack), "--rows", str(path), "--json", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with path.open(newline="") as file:
            return list(csv.DictReader(file))

    def subjects(self, pack: pathlib.Path) -> dict[str, str]:
        """What the program calls each measured operation, by key_of(): it prints numbers in its own way."""
        source = self.data / "operations" / "heidelberg_operations.csv"
        table = filtered(source, self.work / "all" / source.name, lambda row: True)
        by_line = {int(row["line"]): row["subject"] for row in self.rows(table, pack)}
        with table.open(newline="") as file:
            reader = csv.DictReader(file)
            return {
                key_of(row["op_repr"], row["input_shape"]): by_line[reader.line_num]
                for row in reader
                if reader.line_num in by_line
            }

    def operations(self, name: str, pack: pathlib.Path, keep) -> list[dict]:
        source = self.data / "operations" / "heidelberg_operations.csv"
        return self.rows(filtered(source, self.work / name / source.name, keep), pack)

    def networks(self, name: str, pack: pathlib.Path, keep) -> list[dict]:
        source = self.data / "networks" / "heidelberg_networks.csv"
        return self.rows(filtered(source, self.work / name / source.name, keep), pack, "--graphs", self.graphs)


def tagged(rows: list[dict], held_out: str) -> list[dict]:
    for row in rows:
        row["held_out"] = held_out
        for column in ("measured", "found", "lo", "hi", "baseline"):
            row[column] = float(row[column]) if row[column] else None
    return rows


def hold_out_families(run: Runner, everything: pathlib.Path) -> tuple[list[dict], list[dict]]:
    operations, networks = [], []
    subjects = run.subjects(everything)
    for family, own in own_operations(run.data / "networks" / "heidelberg_network_operations.csv").items():
        keys = run.work / f"{family}.keys"
        own &= subjects.keys()
        keys.write_text("".join(f"{line}\n" for line in sorted({subjects[key] for key in own})))
        pack = run.train(family, "--without", str(keys))
        operations += tagged(
            run.operations(family, pack, lambda row: key_of(row["op_repr"], row["input_shape"]) in own), family
        )
        networks += tagged(run.networks(family, pack, lambda row: family_of(row["model_name"]) == family), family)
        print(f"{family}: {len(own)} operations of its own", file=sys.stderr)
    return operations, networks


def hold_out_gpus(run: Runner) -> tuple[list[dict], list[dict]]:
    operations, networks = [], []
    for gpu, labels in HELD_OUT_GPUS.items():
        pack = run.train(f"without-{gpu}", "--without-gpu", gpu)
        name = f"gpu-{gpu}"
        operations += tagged(run.operations(name, pack, lambda row: row["gpu"] in labels), gpu)
        networks += tagged(run.networks(name, pack, lambda row: row["gpu"] in labels), gpu)
    return operations, networks


def median(values: list[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def r2(measured: list[float], found: list[float]) -> float | None:
    mean = sum(measured) / len(measured)
    spread = sum((m - mean) ** 2 for m in measured)
    return 1 - sum((m - f) ** 2 for m, f in zip(measured, found)) / spread if spread > 0 else None


def figures(rows: list[dict]) -> dict:
    """Error figures of one quantity."""
    measured = [row["measured"] for row in rows]
    found = [row["found"] for row in rows]
    errors = [abs(f - m) / m for m, f in zip(measured, found)]
    out = {
        "n": len(rows),
        "r2": r2(measured, found),
        "mape": sum(errors) / len(errors),
        "median_ape": median(errors),
        "bias": sum((f - m) / m for m, f in zip(measured, found)) / len(errors),
    }
    if rows[0]["baseline"] is not None:
        out["baseline_mape"] = sum(abs(row["baseline"] - row["measured"]) / row["measured"] for row in rows) / len(rows)
    return out


def tabulated(rows: list[dict], *columns: str) -> dict:
    """Figures by the given columns and quantity."""
    cells = collections.defaultdict(list)
    for row in rows:
        cells[" ".join(row[column] for column in columns) + " " + row["quantity"]].append(row)
    return {key: figures(cell) for key, cell in sorted(cells.items())}


def distance(row: dict) -> float:
    return abs(math.log(row["found"] / row["measured"]))


def conformal(rows: list[dict], alike: bool) -> float:
    """The factor, as a logarithm, that holds LEVEL of the rows; `alike`: every held-out family or GPU counts alike, as a
    new network is a draw among families and not among the rows of the largest one. One more place is left for the
    unseen one, as split conformal wants."""
    sizes = collections.Counter(row["held_out"] for row in rows)
    ordered = sorted((distance(row), 1.0 / sizes[row["held_out"]] if alike else 1.0) for row in rows)
    wanted = LEVEL * (1 + 1 / len(rows)) * sum(share for _, share in ordered)
    reached = 0.0
    for value, share in ordered:
        reached += share
        if reached >= wanted:
            return value
    return ordered[-1][0]


def leave_one_coverage(rows: list[dict], alike: bool) -> float:
    """Coverage of each held-out family by the factor of the others: what the calibration promises for the next one."""
    hits = []
    for family in {row["held_out"] for row in rows}:
        factor = conformal([row for row in rows if row["held_out"] != family], alike)
        hits += [distance(row) <= factor for row in rows if row["held_out"] == family]
    return sum(hits) / len(hits)


def group_of(subject: str) -> str | None:
    """The estimator's group of an operation of PyTorch's modules."""
    module = subject.split("(")[0]
    groups = {
        "conv": ("Conv2d",),
        "pointwise": ("ReLU", "ReLU6", "SiLU", "GELU", "Sigmoid", "StochasticDepth", "Hardswish"),
        "reduction": ("BatchNorm2d", "LayerNorm", "LayerNorm2d", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d"),
        "gemm-simt": ("Linear",),
    }
    return next((group for group, modules in groups.items() if module in modules), None)


class Factors:
    """Interval factors, each with how many rows it stands on and what it covers on families it was not made from."""

    def __init__(self) -> None:
        self.intervals: dict[str, float] = {}
        self.evidence: dict[str, dict] = {}

    def add(self, key: str, rows: list[dict], alike: bool, floor: float = 0.0) -> float:
        factor = max(round(conformal(rows, alike), 6), floor)
        self.intervals[key] = factor
        several = len({row["held_out"] for row in rows}) > 2
        self.evidence[key] = {
            "n": len(rows),
            "covers": round(sum(distance(row) <= factor for row in rows) / len(rows), 4),
            "covers_left_out": round(leave_one_coverage(rows, alike), 4) if several else None,
        }
        return factor


def of(rows: list[dict], quantity: str, group: str | None = None) -> list[dict]:
    return [r for r in rows if r["quantity"] == quantity and (group is None or group_of(r["subject"]) == group)]


def calibrate(family: tuple, gpu: tuple, far: list[dict]) -> dict:
    """Operations: all rows count alike. Networks: all families, then all GPUs. FP64 networks stay out: their kernels
    are far slower than the units, and their errors would widen everything else."""
    out = Factors()
    for quantity in QUANTITIES:
        for group in ("conv", "pointwise", "reduction", "gemm-simt"):
            seen = out.add(f"operation/{group}/seen/{quantity}", of(family[0], quantity, group), alike=False)
            out.add(f"operation/{group}/unseen-gpu/{quantity}", of(gpu[0], quantity, group), alike=False, floor=seen)
        out.add(f"network/{quantity}/inside", of(family[1], quantity), alike=True)
    times = [row for row in of(far, "time") if row["precision"] != "fp64" and row["support"] != "inside"]
    near = out.add("network/time/edge", of(gpu[1], "time"), alike=True, floor=out.intervals["network/time/inside"])
    edge = out.add("network/time/edge", of(gpu[1], "time") + times, alike=True, floor=near)
    # What nobody measured may be as bad as the worst that was tried.
    sets = collections.defaultdict(list)
    for row in times:
        sets[row["held_out"]].append(row)
    outside = max([edge] + [round(conformal(rows, alike=False), 6) for rows in sets.values()])
    out.intervals["network/time/outside"] = outside
    # Only the two GPUs have power: their factors widen as those of time do. Where nothing was measured, a network is no
    # better known than an operation on an unseen GPU, nor its energy better than its time.
    for quantity in ("power", "energy"):
        known = out.intervals[f"network/{quantity}/inside"]
        factor = out.add(f"network/{quantity}/edge", of(gpu[1], quantity), alike=True, floor=known)
        out.intervals[f"network/{quantity}/edge"] = round(factor * edge / near, 6)
        unseen = [v for k, v in out.intervals.items() if k.endswith(f"/unseen-gpu/{quantity}")]
        far_factor = max(round(factor * outside / near, 6), *unseen, outside if quantity == "energy" else 0.0)
        out.intervals[f"network/{quantity}/outside"] = far_factor
    return {"intervals": dict(sorted(out.intervals.items())), "evidence": dict(sorted(out.evidence.items()))}


def outside(run: Runner, pack: pathlib.Path) -> tuple[list[dict], dict]:
    """Whole networks on GPUs and hosts that have nothing to do with the fitted ones."""
    rows = []
    for name in ("torchvision_gpu_benchmark.csv", "timm_benchmark.csv"):
        source = run.data / "networks" / name
        copy = filtered(source, run.work / "outside" / name, lambda row: True)
        found = tagged(run.rows(copy, pack, "--graphs", run.graphs), "")
        for row in found:
            row["held_out"] = f"{name.removesuffix('.csv')} {row['gpu']}"  # a machine of its own each
        rows += found
    return rows, tabulated(rows, "held_out", "mode", "precision")


def ratios(rows: list[dict], base: str, other: str) -> dict:
    """From one GPU to another: the predicted ratio of the same network's times a sample, beside one constant ratio for
    all networks (the median of the measured ones, which is fitted on what it is judged on)."""
    times: dict[str, dict[str, list]] = {base: collections.defaultdict(list), other: collections.defaultdict(list)}
    for row in rows:
        for gpu, cells in times.items():
            if row["held_out"].endswith(gpu) and row["mode"] == "inference" and row["quantity"] == "time":
                batch = float(row["batch"])
                cells[row["subject"]].append((row["measured"] / batch, row["found"] / batch))
    pairs = []
    for subject in times[base].keys() & times[other].keys():
        value = [[median([pair[i] for pair in times[gpu][subject]]) for gpu in (base, other)] for i in (0, 1)]
        pairs.append((value[0][1] / value[0][0], value[1][1] / value[1][0]))
    constant = median([measured for measured, _ in pairs])
    return {
        "n": len(pairs),
        "predicted_median_ape": median([abs(found / measured - 1) for measured, found in pairs]),
        "constant_median_ape": median([abs(constant / measured - 1) for measured, _ in pairs]),
        "predicted_bias": sum(found / measured - 1 for measured, found in pairs) / len(pairs),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, help="folder of published tables")
    parser.add_argument("--graphs", required=True, help="folder with MODEL.onnx and MODEL_SIZE.onnx")
    parser.add_argument("--work", required=True, help="folder for packs and rows; packs found there are used again")
    parser.add_argument("--calibration", help="write the interval factors here")
    parser.add_argument("--report", help="write all figures here")
    arguments = parser.parse_args()
    run = Runner(arguments)
    everything = run.train("everything", tables=ALL_TABLES)
    family = hold_out_families(run, everything)
    gpu = hold_out_gpus(run)
    far_rows, far = outside(run, everything)
    calibration = {"schema": "joulecast.calibration/1", "level": LEVEL, **calibrate(family, gpu, far_rows)}
    if arguments.calibration:
        pathlib.Path(arguments.calibration).write_text(json.dumps(calibration, indent=1) + "\n")
    report = {
        "family_operations": tabulated(family[0], "gpu", "mode"),
        "family_operations_by_family": tabulated(family[0], "held_out"),
        "family_networks": tabulated(family[1], "gpu", "mode"),
        "family_networks_by_family": tabulated(family[1], "held_out"),
        "gpu_operations": tabulated(gpu[0], "gpu", "mode"),
        "gpu_networks": tabulated(gpu[1], "gpu", "mode"),
        "outside_networks": far,
        "timm_3090_to_4090": ratios(far_rows, "RTX 3090", "RTX 4090"),
        "calibration": calibration,
    }
    text = json.dumps(report, indent=1) + "\n"
    if arguments.report:
        pathlib.Path(arguments.report).write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
