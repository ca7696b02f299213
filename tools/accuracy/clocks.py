#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where predicted energy and energy-delay product are least over SM clocks, network by network.

    tools/accuracy/clocks.py examples/*.onnx --gpu a30 --clocks 210,300,600,900,1200,1440 --joulecast build/release/joulecast

Prints a Markdown table: energy relative to the highest clock, the least energy in bold, and the clock of the least EDP.
"""
import argparse
import collections
import csv
import io
import pathlib
import subprocess
import sys


def predictions(program: str, model: str, options: argparse.Namespace) -> list[dict[str, str]] | None:
    """One row a clock, or None where the network cannot be predicted so."""
    command = [program, "predict", model, "--gpu", options.gpu, "--mode", options.mode, "--sm-clock", options.clocks, "--csv"]
    if options.pack:
        command += ["--pack", options.pack]
    for extra in (["--batch", options.batch], []):  # some networks fix their batch
        done = subprocess.run(command + extra, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return list(csv.DictReader(io.StringIO(done.stdout)))
    print(f"{model}: {done.stderr.splitlines()[0]}", file=sys.stderr)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--gpu", default="a30")
    parser.add_argument("--clocks", default="210,300,600,900,1200,1440")
    parser.add_argument("--batch", default="32")
    parser.add_argument("--mode", default="training", choices=["training", "inference"])
    parser.add_argument("--pack", default="")
    options = parser.parse_args()

    clocks = options.clocks.split(",")
    print(f"| network ({options.mode}) | " + " | ".join(f"{c} MHz" for c in clocks) + " | least EDP at |")
    print("|---" * (len(clocks) + 2) + "|")
    least_energy: collections.Counter[str] = collections.Counter()
    least_edp: collections.Counter[str] = collections.Counter()
    for model in options.models:
        rows = predictions(options.joulecast, model, options)
        if rows is None:
            continue
        energy = [float(r["energy_j"]) for r in rows]
        edp = [float(r["edp_js"]) for r in rows]
        best = energy.index(min(energy))
        best_edp = clocks[edp.index(min(edp))]
        least_energy[clocks[best]] += 1
        least_edp[best_edp] += 1
        cells = [f"{e / energy[-1]:.2f}" for e in energy]
        cells[best] = f"**{cells[best]}**"
        print(f"| {pathlib.Path(model).stem}, batch {rows[0]['batch']} | " + " | ".join(cells) + f" | {best_edp} MHz |")
    print()
    for what, counts in (("energy", least_energy), ("EDP", least_edp)):
        print(f"Least {what}: " + ", ".join(f"{n} networks at {c} MHz" for c, n in counts.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
