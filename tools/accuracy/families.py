#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the predictor on families of networks, on GPUs and on a fifth of all operations that it was not fitted on, and
makes the factors of its intervals from these errors.

    tools/accuracy/families.py --joulecast build/release/joulecast --data DATA --graphs DIR --work /some/folder \
        --calibration calibration.json --out docs/accuracy

For each family the operations that no other family has are left out of the tables; a pack fitted on the rest predicts
these operations and the family's networks. For each GPU with whole networks all its rows are left out. DATA is the
folder of published tables (operations/, networks/); DIR holds a graph of every network (docs/accuracy.md). Writes
families.json (figures), predicted.json and distance.json (what charts are drawn from) to the folder of --out.
Standard library only. The same tables give the same files.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import zlib

from calibration import LEVEL, Held, calibrate, calibrate_networks
from errors import QUANTITIES, median, of, read_rows, tabulated, write_json
from runs import earlier_runs
from shapes import Neighbours, by_distance, density, summaries

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
EAGER_TABLES = ("heidelberg_operations.csv", "neusight_conv.csv", "neusight_gemm.csv", "neusight_vec.csv")
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
    "neusight_conv.csv",
    "neusight_gemm.csv",
    "neusight_vec.csv",
)
HELD_OUT_GPUS = {"a30": ("a30", "a30-no-tensor-cores"), "rtx2080ti": ("rtx2080ti",)}
# Those of NeuSight's tables: their operations only.
NEUSIGHT_GPUS = {
    "a100-pcie-40gb": "NVIDIA A100-PCIE-40GB",
    "a100-pcie-80gb": "NVIDIA A100 80GB PCIe",
    "p100-pcie-16gb": "Tesla P100-PCIE-16GB",
    "t4": "Tesla T4",
    "tesla-p4": "Tesla P4",
    "v100-pcie-32gb": "Tesla V100-PCIE-32GB",
}


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

    def evaluate(self, table: pathlib.Path, pack: pathlib.Path, rows: pathlib.Path, *options: str) -> pathlib.Path:
        command = [self.program, "evaluate", str(table), "--pack", str(pack), "--rows", str(rows), "--json", *options]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return rows

    def rows(self, table: pathlib.Path, pack: pathlib.Path, *options: str) -> list[dict]:
        return list(read_rows(self.evaluate(table, pack, table.with_suffix(".rows.csv"), *options)))

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
    return rows


def hold_out_families(run: Runner, everything: pathlib.Path) -> tuple[list[dict], list[dict], dict]:
    """Operations and networks of every family, and each operation's distance from what was kept."""
    operations, networks, distances = [], [], {}
    subjects = run.subjects(everything)
    for family, own in own_operations(run.data / "networks" / "heidelberg_network_operations.csv").items():
        keys = run.work / f"{family}.keys"
        own &= subjects.keys()
        left_out = {subjects[key] for key in own}
        keys.write_text("".join(f"{line}\n" for line in sorted(left_out)))
        pack = run.train(family, "--without", str(keys))
        operations += tagged(
            run.operations(family, pack, lambda row: key_of(row["op_repr"], row["input_shape"]) in own), family
        )
        networks += tagged(run.networks(family, pack, lambda row: family_of(row["model_name"]) == family), family)
        near = Neighbours(set(subjects.values()) - left_out)
        distances |= {subject: near.factor(subject) for subject in left_out}
        print(f"{family}: {len(own)} operations of its own", file=sys.stderr)
    return operations, networks, distances


def hold_out_gpus(run: Runner) -> tuple[list[dict], list[dict]]:
    operations, networks = [], []
    for gpu, labels in HELD_OUT_GPUS.items():
        pack = run.train(f"without-{gpu}", "--without-gpu", gpu)
        name = f"gpu-{gpu}"
        operations += tagged(run.operations(name, pack, lambda row: row["gpu"] in labels), gpu)
        networks += tagged(run.networks(name, pack, lambda row: row["gpu"] in labels), gpu)
    return operations, networks


def hold_out_neusight(run: Runner) -> list[dict]:
    """Operations of the other GPUs with eager tables, each left out; of these rows a fifth, as of the fifth.
    Convolutions err by other things than the rest, so theirs are machines of their own."""
    operations = []
    for gpu, label in NEUSIGHT_GPUS.items():
        pack = run.train(f"without-{gpu}", "--without-gpu", gpu)
        for table in ("neusight_conv.csv", "neusight_gemm.csv", "neusight_vec.csv"):
            rows = run.evaluate(run.data / "operations" / table, pack, run.work / f"gpu-{gpu}-{table}")
            name = f"convolutions of {label}" if table == "neusight_conv.csv" else gpu
            operations += tagged(list(read_rows(rows, lambda row: row["gpu"] == label and in_the_fifth(row))), name)
            rows.unlink()
    return operations


def in_the_fifth(row: dict) -> bool:
    return zlib.crc32(row["subject"].encode()) % 5 == 0


def hold_out_fifth(run: Runner, everything: pathlib.Path) -> dict[str, list[dict]]:
    """A fifth of the operations of every fitted table, chosen by their words, so equal ones are on one side."""
    paths = {table: run.data / "operations" / table for table in ALL_TABLES}
    keys = run.work / "fifth.keys"
    pack = run.work / "fifth.jcpack"
    if not pack.exists():
        found = set()
        for table, path in paths.items():
            rows = run.evaluate(path, everything, run.work / f"fifth-{table}")
            found |= {row["subject"] for row in read_rows(rows, in_the_fifth)}
        keys.write_text("".join(f"{line}\n" for line in sorted(found)))
        run.train("fifth", "--without", str(keys), tables=ALL_TABLES)
    out = {}
    for table, path in paths.items():
        rows = run.evaluate(path, pack, run.work / f"fifth-{table}")
        out[table] = list(read_rows(rows, in_the_fifth))
        for row in out[table]:
            row["held_out"] = f"{table} {row['gpu']}"
        rows.unlink()  # they have half a gigabyte
    return out


FAR = "networks of other machines"


def by_default(row: dict) -> bool:
    """Networks as PyTorch runs them unless told otherwise; the others are judged apart."""
    return row.get("layout") != "nhwc" and row.get("compiled", "0") == "0"


def outside(run: Runner, pack: pathlib.Path) -> list[dict]:
    """Whole networks on GPUs and hosts that have nothing to do with the fitted ones."""
    rows = []
    for name in ("torchvision_gpu_benchmark.csv", "timm_benchmark.csv"):
        source = run.data / "networks" / name
        copy = filtered(source, run.work / "outside" / name, by_default)
        found = run.rows(copy, pack, "--graphs", run.graphs)
        for row in found:
            row["held_out"] = f"{name.removesuffix('.csv')} {row['gpu']}"  # a machine of its own each
        rows += found
    return rows


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


def some(fifth: dict[str, list[dict]], begin: str, within: str = "") -> list[dict]:
    """Rows of the tables whose names begin so and have that in them."""
    return [row for table, rows in fifth.items() if table.startswith(begin) and within in table for row in rows]


Sets = list[tuple[str, list[dict]]]


def operation_sets(family: list[dict], gpu: list[dict], fifth: dict[str, list[dict]]) -> Sets:
    return [
        ("PyTorch operations, families left out", family),
        ("PyTorch operations, GPUs left out", gpu),
        ("NeuSight's operations, a fifth left out", some(fifth, "neusight_")),
        ("captured products, a fifth left out", some(fifth, "aic_", "gemm")),
        ("captured attention, a fifth left out", some(fifth, "aic_", "attention")),
    ]


def network_sets(family: list[dict], gpu: list[dict], far: list[dict]) -> Sets:
    return [
        ("networks, families left out", family),
        ("networks, GPUs left out", gpu),
        *((f"{FAR}: {name}", [r for r in far if r["held_out"].startswith(name)]) for name in ("torchvision", "timm")),
    ]


def pictures(sets: Sets) -> list[dict]:
    """Predicted against measured, one picture for each family of tables."""
    return [density(title, of(rows, q)) for q in QUANTITIES for title, rows in sets if of(rows, q)]


def support_of(family: list[dict], gpu: list[dict], far: list[dict]) -> dict:
    """Networks by level of support. That of what was left out is what the pack without it would say."""
    known = [row for row in far if row["precision"] != "fp64"]
    classes = {
        "inside: families left out": family,
        "edge: GPUs left out": gpu,
        **{f"{level}: other machines": [r for r in known if r["support"] == level] for level in ("inside", "edge", "outside")},
        "FP64, in no interval": [row for row in far if row["precision"] == "fp64"],
    }
    return {name: summaries(rows, QUANTITIES) for name, rows in classes.items() if rows}


def network_figures(family: list[dict], gpu: list[dict], far: list[dict]) -> dict:
    return {
        "family_networks": tabulated(family, "gpu", "mode"),
        "family_networks_by_family": tabulated(family, "held_out"),
        "gpu_networks": tabulated(gpu, "gpu", "mode"),
        "outside_networks": tabulated(far, "held_out", "mode", "precision"),
        "timm_3090_to_4090": ratios(far, "RTX 3090", "RTX 4090"),
    }


def networks_alone(run: Runner, everything: pathlib.Path, calibration: pathlib.Path, out: pathlib.Path) -> None:
    """Their part of the files; all else stays as an earlier run left it."""
    files = {name: json.loads((out / f"{name}.json").read_text()) for name in ("families", "predicted", "distance")}
    family = hold_out_families(run, everything)[1]
    gpu = hold_out_gpus(run)[1]
    far = outside(run, everything)
    factors = json.loads(calibration.read_text())
    factors.update(calibrate_networks(Held([], family, [], gpu, far), factors))
    calibration.write_text(json.dumps(factors, indent=1) + "\n")
    for part in ("intervals", "evidence"):
        shown = files["families"]["calibration"][part]
        shown.update({key: factors[part][key] for key in shown if key.startswith("network/")})
    files["families"].update(network_figures(family, gpu, far))
    fresh = {(panel["title"], panel["quantity"]): panel for panel in pictures(network_sets(family, gpu, far))}
    panels = files["predicted"]["panels"]
    files["predicted"]["panels"] = [fresh.get((panel["title"], panel["quantity"]), panel) for panel in panels]
    files["distance"]["networks"] = support_of(family, gpu, far)
    for name, content in files.items():
        schema = content.pop("schema")
        write_json(out / f"{name}.json", schema, content)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, help="folder of published tables")
    parser.add_argument("--graphs", required=True, help="folder with MODEL.onnx and MODEL_SIZE.onnx")
    parser.add_argument("--work", required=True, help="folder for packs and rows; packs found there are used again")
    parser.add_argument("--calibration", required=True, help="write the interval factors here (--networks: those of networks)")
    parser.add_argument("--out", required=True, help="write all figures to this folder")
    parser.add_argument("--networks", action="store_true", help="judge networks alone anew; of operations all stays as it was")
    arguments = parser.parse_args()
    run = Runner(arguments)
    everything = run.train("everything", tables=ALL_TABLES)
    if arguments.networks:
        networks_alone(run, everything, pathlib.Path(arguments.calibration), pathlib.Path(arguments.out))
        return 0
    *family, distances = hold_out_families(run, everything)
    gpu = hold_out_gpus(run)
    neusight = hold_out_neusight(run)
    far_rows = outside(run, everything)
    fifth = hold_out_fifth(run, everything)
    factors = calibrate(Held(family[0] + some(fifth, "neusight_"), family[1], gpu[0] + neusight, gpu[1], far_rows))
    calibration = {"schema": "joulecast.calibration/1", "level": LEVEL, **factors}
    pathlib.Path(arguments.calibration).write_text(json.dumps(calibration, indent=1) + "\n")
    distances = by_distance(family[0], distances)
    files = {
        "families": {
            "family_operations": tabulated(family[0], "gpu", "mode"),
            "family_operations_by_family": tabulated(family[0], "held_out"),
            "earlier_runs": earlier_runs(run.data / "networks" / "heidelberg_networks.csv"),
            "gpu_operations": tabulated(gpu[0], "gpu", "mode"),
            "fifth_operations": {table: tabulated(rows, "gpu", "mode") for table, rows in fifth.items()},
            **network_figures(family[1], gpu[1], far_rows),
            "calibration": calibration,
        },
        "predicted": {"panels": pictures(operation_sets(family[0], gpu[0], fifth) + network_sets(family[1], gpu[1], far_rows))},
        "distance": {"operations": distances, "networks": support_of(family[1], gpu[1], far_rows)},
    }
    for name, content in files.items():
        write_json(pathlib.Path(arguments.out) / f"{name}.json", f"joulecast.accuracy-{name}/1", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
