#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power limits through the whole pipeline, from a model file on, beside sweeps that somebody measured.

    tools/accuracy/limits.py --joulecast build/release/joulecast --data DATA --out docs/accuracy/limits.json

Zeus' training of ResNet-50 on ImageNet, whose images are cropped to 224 x 224, and one large product on a B300, of which
nothing is fitted. Times and powers are judged as ratios to those at the default limit; energy and delay times energy by
what the limit of the least predicted one loses against the best measured one.
"""
import collections
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

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


def predicted(model: str, gpu: str, extra: list[str], sweep: Sweep, given: list[float], options) -> Sweep:
    limits = sorted(sweep)
    command = [options.joulecast, "predict", model, "--gpu", gpu, "--pack", options.pack, "--csv", *extra]
    command += ["--power-limit", ",".join(f"{limit:g}" for limit in limits)]
    for limit in given:
        time, power = sweep[limit]
        command += ["--measured", f"setting={limit:g}W,time={time:.9g},power={power:.9g}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return {limit: (float(row["time_s"]), float(row["power_w"])) for limit, row in zip(limits, rows)}


def lost(sweep: Sweep, found: Sweep, power_of_time: int) -> float:
    def cost(runs: Sweep, limit: float) -> float:
        return runs[limit][1] * runs[limit][0] ** power_of_time

    chosen = min(found, key=lambda limit: cost(found, limit))
    return cost(sweep, chosen) / min(cost(sweep, limit) for limit in sweep) - 1


def judged(sweep: Sweep, found: Sweep, given: list[float]) -> dict[str, float]:
    default = max(sweep)
    errors = []
    for limit in sweep:
        if limit >= 0.499 * default and limit != default and limit not in given:
            errors.append([found[limit][q] / found[default][q] / (sweep[limit][q] / sweep[default][q]) for q in (0, 1)])
    mean = [sum(abs(error[q] - 1) for error in errors) / len(errors) for q in (0, 1)]
    return {"time": mean[0], "power": mean[1], "energy_lost": lost(sweep, found, 1), "edp_lost": lost(sweep, found, 2)}


def row(name: str, known: str, cells: list[dict[str, float]]) -> dict:
    mean = {key: sum(cell[key] for cell in cells) / len(cells) for key in cells[0]}
    return {"sweeps": name, "n": len(cells), "known": known, **mean}


def known_settings(sweep: Sweep) -> dict[str, list[float]]:
    default = max(sweep)
    half = min(sweep, key=lambda limit: abs(limit - default / 2))
    return {"nothing": [], "default": [default], "default, 50": [default, half]}


def main() -> int:
    options = arguments.of_command_line(__doc__)
    cells: dict[tuple[str, str], list] = collections.defaultdict(list)
    resnet = str(arguments.ROOT / "examples/resnet50.onnx")
    for (gpu, batch), sweep in sorted(zeus(options.data).items()):
        for known, given in known_settings(sweep).items():
            found = predicted(resnet, gpu, ["--mode", "training", "--batch", str(batch)], sweep, given, options)
            cells[f"ResNet-50 in training, {gpu}", known].append(judged(sweep, found, given))
    with tempfile.TemporaryDirectory() as folder:
        product = pathlib.Path(folder) / "product.jcg"
        product.write_text(PRODUCT)
        sweep = b300(options.data)
        for known, given in known_settings(sweep).items():
            found = predicted(str(product), "b300-sxm", ["--precision", "bf16"], sweep, given, options)
            cells["a product of 8192 x 8192, b300-sxm", known].append(judged(sweep, found, given))
    rows = [row(name, known, found) for (name, known), found in cells.items()]
    write_json(pathlib.Path(options.out), "joulecast.accuracy-limits/1", {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
