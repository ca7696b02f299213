#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where predicted energy and energy-delay product are least over SM clocks, network by network.

    tools/accuracy/clocks.py examples/*.onnx --joulecast build/release/joulecast --data DATA --graphs GRAPHS --out clocks.json

For training and inference: the networks that DATA/networks/heidelberg_networks.csv measured in training on the GPU, each at
its size of image, from GRAPHS; and any other files, at their own or the usual one. Energies and products are relative to
those at the highest clock.
"""
import argparse
import csv
import io
import json
import pathlib
import subprocess
import sys

from errors import write_json


class Sweep:
    """Predictions over the clocks by one program, pack and GPU."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.program, self.gpu, self.pack = options.joulecast, options.gpu, options.pack
        self.clocks = sorted(int(clock) for clock in options.clocks.split(","))

    def run(self, *words: str) -> str:
        done = subprocess.run([self.program, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def of(self, name: str, graph: pathlib.Path, mode: str, batch: int | None, shape: str | None) -> dict:
        """`shape` is that of the one input, without the batch; `batch` None is the graph's own."""
        words = ["predict", str(graph), "--gpu", self.gpu, "--mode", mode, "--pack", self.pack, "--csv"]
        words += ["--sm-clock", ",".join(map(str, self.clocks))] + (["--batch", str(batch)] if batch else [])
        if shape:
            inputs = json.loads(self.run("inspect", str(graph), "--json"))["inputs"]
            words += ["--shapes", f"{inputs[0]['name']}:{batch}x{shape}"]
        rows = list(csv.DictReader(io.StringIO(self.run(*words))))
        energy, edp = ([float(row[column]) for row in rows] for column in ("energy_j", "edp_js"))
        return {
            "network": f"{name}, batch {rows[0]['batch']}",
            "energy": [value / energy[-1] for value in energy],
            "edp": [value / edp[-1] for value in edp],
            "least_energy_at": self.clocks[energy.index(min(energy))],
            "least_edp_at": self.clocks[edp.index(min(edp))],
        }

    def of_file(self, graph: pathlib.Path, mode: str, batch: int) -> dict:
        try:
            return self.of(graph.stem, graph, mode, batch, None)
        except RuntimeError:  # some networks fix their batch
            return self.of(graph.stem, graph, mode, None, None)


def published(data: pathlib.Path, gpu: str) -> list[tuple[str, int, str]]:
    """Name, batch and size of image of each network that was measured in training on the GPU."""
    with (data / "networks/heidelberg_networks.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["gpu"] == gpu and row["mode"] == "training"]
    found = sorted({(row["model_name"], *map(int, row["input_shape"].split("x"))) for row in rows})
    return [(name, batch, "x".join(map(str, image))) for name, batch, *image in found]


def graph_of(folder: pathlib.Path, name: str, shape: str) -> pathlib.Path:
    of_size = folder / f"{name}_{shape.split('x')[-1]}.onnx"
    return of_size if of_size.exists() else folder / f"{name}.onnx"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of published tables")
    parser.add_argument("--graphs", required=True, type=pathlib.Path, help="folder of graphs (graphs.py)")
    parser.add_argument("others", nargs="*", type=pathlib.Path, help="files of other networks")
    parser.add_argument("--gpu", default="a30")
    parser.add_argument("--clocks", default="210,300,600,900,1200,1440")
    parser.add_argument("--batch", default=32, type=int, help="of the other networks")
    parser.add_argument("--pack", default=str(pathlib.Path(__file__).resolve().parents[2] / "data/packs/joulecast.jcpack"))
    parser.add_argument("--out", required=True, help="the JSON file to write")
    options = parser.parse_args()
    sweep = Sweep(options)
    networks = published(options.data, options.gpu)
    if not networks:
        raise RuntimeError(f"{options.data} has no networks in training on '{options.gpu}'")
    content = {"gpu": options.gpu, "clocks": [str(clock) for clock in sweep.clocks], "others": {}}
    for mode in ("training", "inference"):
        content[mode] = [
            sweep.of(f"{name} {shape.split('x')[-1]}", graph_of(options.graphs, name, shape), mode, batch, shape)
            for name, batch, shape in networks
        ]
        content["others"][mode] = [sweep.of_file(graph, mode, options.batch) for graph in options.others]
    write_json(pathlib.Path(options.out), "joulecast.accuracy-clocks/1", content)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as error:
        sys.exit(f"clocks.py: {error}")
