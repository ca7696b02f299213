#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where predicted energy and energy-delay product are least over SM clocks, network by network.

    tools/accuracy/clocks.py examples/*.onnx --gpu a30 --joulecast build/release/joulecast --out clocks.json

For training and inference. Energies are relative to the highest clock.
"""
import argparse
import csv
import io
import pathlib
import subprocess
import sys

from errors import write_json


def predictions(model: str, mode: str, options: argparse.Namespace) -> list[dict[str, str]] | None:
    """One row a clock, or None where the network cannot be predicted so."""
    command = [options.joulecast, "predict", model, "--gpu", options.gpu, "--mode", mode, "--sm-clock", options.clocks]
    command += ["--csv", "--pack", options.pack]
    for extra in (["--batch", options.batch], []):  # some networks fix their batch
        done = subprocess.run(command + extra, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return list(csv.DictReader(io.StringIO(done.stdout)))
    print(f"{model}: {done.stderr.splitlines()[0]}", file=sys.stderr)
    return None


def swept(model: str, mode: str, options: argparse.Namespace) -> dict | None:
    rows = predictions(model, mode, options)
    if rows is None:
        return None
    energy = [float(row["energy_j"]) for row in rows]
    edp = [float(row["edp_js"]) for row in rows]
    clocks = [int(clock) for clock in options.clocks.split(",")]
    return {
        "network": f"{pathlib.Path(model).stem}, batch {rows[0]['batch']}",
        "energy": [e / energy[-1] for e in energy],
        "least_energy_at": clocks[energy.index(min(energy))],
        "least_edp_at": clocks[edp.index(min(edp))],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--gpu", default="a30")
    parser.add_argument("--clocks", default="210,300,600,900,1200,1440")
    parser.add_argument("--batch", default="32")
    parser.add_argument("--pack", default=str(pathlib.Path(__file__).resolve().parents[2] / "data/packs/joulecast.jcpack"))
    parser.add_argument("--out", required=True, help="the JSON file to write")
    options = parser.parse_args()
    modes = {}
    for mode in ("training", "inference"):
        found = [swept(model, mode, options) for model in options.models]
        modes[mode] = [entry for entry in found if entry is not None]
    content = {"gpu": options.gpu, "clocks": options.clocks.split(","), **modes}
    write_json(pathlib.Path(options.out), "joulecast.accuracy-clocks/1", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
