#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well a predictor fitted on a campaign's own rows knows a family of networks that was left out of it.

    families.py JOULECAST ROWS.csv GPU.toml GRAPHS [OUT.json]

GRAPHS has NETWORK.onnx for every network of the table (tools/zoo makes them). For each family every operation that any
of its networks has is left out of the fit, in both modes, and so are its networks; then the family's operations and
networks are predicted. Printed are mean absolute errors in percent, by the shipped pack (which knows GPUs alone), by the bound
without trees, and by the fit; OUT.json gets the means over all families, as shares.
"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FAMILIES = ("alexnet", "vgg", "resnet", "wide_resnet", "resnext", "squeezenet", "vit", "convnext", "mnasnet", "mobilenet", "regnet",
            "shufflenet", "googlenet", "efficientnet")


def family_of(network):
    return max((name for name in FAMILIES if network.startswith(name)), key=len)


class Judge:
    def __init__(self, joulecast, table, gpu, graphs):
        self.joulecast, self.gpu, self.graphs = joulecast, gpu, pathlib.Path(graphs)
        with open(table, newline="") as file:
            self.rows = list(csv.DictReader(file))
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)

    def run(self, *words):
        done = subprocess.run([self.joulecast, *map(str, words)], capture_output=True, text=True)
        if done.returncode not in (0, 1) or not (done.stdout or "train" in words):
            sys.exit(f"{words}: {done.stderr}")
        return done.stdout

    def write(self, name, rows):
        path = self.folder / name
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, self.rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return path

    @staticmethod
    def key(row):
        return row["operator"], row["operands"], row["attributes"], row["mode"]

    def operations_of(self, networks):
        files = [self.graphs / f"{name}.onnx" for name in networks]
        plan = json.loads(self.run("profile", *files, "--mode", "inference,training", "--gpu", "cpu", "-n", "--json", "-o",
                                   self.folder / "none"))
        return {self.key(case) for case in plan["cases"] if "operator" in case}

    def error(self, rows, *options):
        """Mean absolute error in percent."""
        out = self.folder / "predicted.csv"
        self.run("evaluate", rows, "--gpu-file", self.gpu, "--graphs", self.graphs, "--rows", out, "--json", *options)
        with open(out, newline="") as file:
            pairs = [(float(row["measured"]), float(row["found"])) for row in csv.DictReader(file)
                     if row["quantity"] == "time" and row["found"]]
        return 100 * sum(abs(p / m - 1) for m, p in pairs) / len(pairs), len(pairs)

    def family(self, name):
        networks = {row["name"] for row in self.rows if row["kind"] == "network" and family_of(row["name"]) == name}
        own = self.operations_of(networks)
        left = self.write("left.csv", [row for row in self.rows if row["kind"] == "operation" and self.key(row) not in own])
        packs = {"shipped": ()}
        for estimator in ("physics", "ours"):
            pack = self.folder / f"{estimator}.jcpack"
            pack.unlink(missing_ok=True)
            self.run("train", left, "--gpu-file", self.gpu, "--quick", "-q", "--estimator", estimator, "-o", pack)
            packs[estimator] = ("--pack", pack)
        for kind in ("operation", "network"):
            for mode in ("inference", "training"):
                wanted = [row for row in self.rows if row["kind"] == kind and row["mode"] == mode
                          and (row["name"] in networks if kind == "network" else self.key(row) in own)]
                table = self.write("wanted.csv", wanted)
                errors = [self.error(table, *options) for options in packs.values()]
                yield kind, mode, errors[0][1], [error for error, _ in errors]


def main():
    judge = Judge(*sys.argv[1:5])
    out = {"table": pathlib.Path(sys.argv[2]).name, "families": len(FAMILIES), "means": {}}
    print(f"{'family left out':<16}{'rows of':<11}{'mode':<11}{'n':>5}{'shipped':>9}{'bound':>8}{'fit':>8}")
    sums = {}
    for name in FAMILIES:
        for kind, mode, count, errors in judge.family(name):
            print(f"{name:<16}{kind:<11}{mode:<11}{count:>5}{errors[0]:>9.0f}{errors[1]:>8.1f}{errors[2]:>8.1f}", flush=True)
            sums.setdefault((kind, mode), []).append((count, errors))
    for (kind, mode), parts in sums.items():
        total = sum(count for count, _ in parts)
        means = [sum(count * errors[i] for count, errors in parts) / total for i in range(3)]
        out["means"][f"{kind}s, {mode}"] = {"n": total, **dict(zip(("shipped", "bound", "fit"), (m / 100 for m in means)))}
        print(f"{'all':<16}{kind:<11}{mode:<11}{total:>5}{means[0]:>9.0f}{means[1]:>8.1f}{means[2]:>8.1f}")
    if sys.argv[5:]:
        pathlib.Path(sys.argv[5]).write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    main()
