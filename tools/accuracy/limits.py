#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power limits through the whole pipeline, from a model file on, beside sweeps that somebody measured.

    tools/accuracy/limits.py --joulecast build/release/joulecast --data DATA --out docs/accuracy/limits.json

Zeus' training of ResNet-50 on ImageNet, whose images are cropped to 224 x 224, and one large product on a B300, of which
nothing is fitted. Times and powers are judged as ratios to those at the default limit; energy and delay times energy by
what the recommended limit, or the measured one next to it, loses against the best measured one: of the batches that
recommend does not refuse because they do not fit the board by their prediction.
"""
import collections
import csv
import io
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from typing import NamedTuple

import arguments
from errors import write_json

IMAGES = 1281167  # of ImageNet's training set
BOARDS = {"V100": "v100-pcie-16gb", "P100": "p100-pcie-16gb", "A40": "a40"}
PRODUCTS = 4000  # of 8192 x 8192 matrices, in each run on the B300
PRODUCT = """graph "product" {
  input %x : bf16[8192, 8192]
  parameter %w : bf16[8192, 8192]
  %y = linear(%x, %w)
  output %y
}
"""
Sweep = dict[float, tuple[float, float]]  # seconds and watts by limit


def zeus(data: pathlib.Path) -> dict[tuple[str, int], Sweep]:
    """ResNet-50 by board and batch; of repeats the first one counts."""
    sweeps: dict[tuple[str, int, str], Sweep] = collections.defaultdict(dict)
    with (data / "power/zeus_power_limit_sweep.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["network"] != "resnet50" or row["gpu"] not in BOARDS:
                continue
            batch = int(row["batch_size"])
            time = float(row["time_per_epoch_s"]) * batch / IMAGES
            key = (BOARDS[row["gpu"]], batch, row["optimizer"])
            sweeps[key][float(row["power_limit_w"])] = (time, float(row["average_power_w"]))
    return {key[:2]: sweeps[key] for key in sorted(sweeps, reverse=True)}


def b300(data: pathlib.Path) -> Sweep:
    """The counter's energy: the runs are shorter than what the sensor averages over."""
    sweep: Sweep = {}
    with (data / "power/b300_power_ladder.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["rung"].startswith("cap-"):
                time = float(row["steady_s"])
                sweep[float(row["power_limit_w"])] = (time / PRODUCTS, float(row["energy_counter_j"]) / time)
    return sweep


class Workload(NamedTuple):
    model: str
    gpu: str
    extra: list[str]

    def told(self, verb: str, sweep: Sweep, given: list[float], options, *words: str) -> str:
        command = [options.joulecast, verb, self.model, "--gpu", self.gpu, "--pack", options.pack, *self.extra, *words]
        for limit in given:
            time, power = sweep[limit]
            command += ["--measured", f"setting={limit:g}W,time={time:.9g},power={power:.9g}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def predicted(self, sweep: Sweep, given: list[float], options) -> Sweep:
        limits = sorted(sweep)
        words = ["--csv", "--power-limit", ",".join(f"{limit:g}" for limit in limits)]
        rows = list(csv.DictReader(io.StringIO(self.told("predict", sweep, given, options, *words))))
        return {limit: (float(row["time_s"]), float(row["power_w"])) for limit, row in zip(limits, rows)}

    def recommended(self, sweep: Sweep, given: list[float], options, best: str) -> float | None:
        """The limit of the sweep that is nearest to what is recommended; nothing for a batch that is said not to fit."""
        fits = json.loads(self.told("predict", sweep, [], options, "--json"))["predictions"][0]["fits"]
        if not fits:
            return None
        found = json.loads(self.told("recommend", sweep, given, options, "--json", "--best", best))
        setting = found["candidates"][0]["setting"]
        limit = max(sweep) if setting is None else setting["power_limit_w"]
        return min(sweep, key=lambda measured: abs(measured - limit))


def lost(sweep: Sweep, chosen: float | None, power_of_time: int) -> float | None:
    if chosen is None:
        return None
    cost = {limit: power * time**power_of_time for limit, (time, power) in sweep.items()}
    return cost[chosen] / min(cost.values()) - 1


def judged(sweep: Sweep, found: Sweep, given: list[float], energy: float | None, edp: float | None) -> dict:
    """`found`: what is predicted; `energy`, `edp`: the limits that are recommended."""
    default = max(sweep)
    errors = []
    for limit in sweep:
        if limit >= 0.499 * default and limit != default and limit not in given:
            errors.append([found[limit][q] / found[default][q] / (sweep[limit][q] / sweep[default][q]) for q in (0, 1)])
    mean = [sum(abs(error[q] - 1) for error in errors) / len(errors) for q in (0, 1)]
    return {"time": mean[0], "power": mean[1], "energy_lost": lost(sweep, energy, 1), "edp_lost": lost(sweep, edp, 2)}


def row(name: str, known: str, cells: list[dict[str, float | None]]) -> dict:
    known_of = {key: [cell[key] for cell in cells if cell[key] is not None] for key in cells[0]}
    mean = {key: statistics.fmean(values) if values else None for key, values in known_of.items()}
    return {"sweeps": name, "n": len(cells), "n_recommended": len(known_of["energy_lost"]), "known": known, **mean}


def known_settings(sweep: Sweep) -> dict[str, list[float]]:
    default = max(sweep)
    half = min(sweep, key=lambda limit: abs(limit - default / 2))
    return {"nothing": [], "default": [default], "default, 50": [default, half]}


def judge(workload: Workload, sweep: Sweep, given: list[float], options) -> dict:
    energy, edp = (workload.recommended(sweep, given, options, best) for best in ("energy", "edp"))
    return judged(sweep, workload.predicted(sweep, given, options), given, energy, edp)


def main() -> int:
    options = arguments.of_command_line(__doc__)
    cells: dict[tuple[str, str], list] = collections.defaultdict(list)
    resnet = str(arguments.ROOT / "examples/resnet50.onnx")
    for (gpu, batch), sweep in sorted(zeus(options.data).items()):
        workload = Workload(resnet, gpu, ["--mode", "training", "--batch", str(batch)])
        for known, given in known_settings(sweep).items():
            cells[f"ResNet-50 in training, {gpu}", known].append(judge(workload, sweep, given, options))
    with tempfile.TemporaryDirectory() as folder:
        product = pathlib.Path(folder) / "product.jcg"
        product.write_text(PRODUCT)
        sweep = b300(options.data)
        workload = Workload(str(product), "b300-sxm", ["--precision", "bf16"])
        for known, given in known_settings(sweep).items():
            cells["a product of 8192 x 8192, b300-sxm", known].append(judge(workload, sweep, given, options))
    rows = [row(name, known, found) for (name, known), found in cells.items()]
    write_json(pathlib.Path(options.out), "joulecast.accuracy-limits/1", {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
