#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and power over locked SM clocks of operations on a laptop's GPU, beside what is predicted for such a board.

    tools/accuracy/laptop.py --joulecast build/release/joulecast --data DATA --out docs/accuracy/laptop.json

Nothing is fitted to it: no GPU of these generations has a sweep in the pack, and no laptop's at all. The table names
neither board nor shapes. The board is taken for an RTX 4050 Laptop, with the limit and the highest clock that the sweep
itself shows; each workload is stood in for by an operation of its kind that is large enough for the GPU. So only ratios
to the run without a locked clock are judged. Clocks above the highest are the same run again and left out.
"""
import collections
import csv
import io
import pathlib
import subprocess
import sys
import tempfile

import arguments
import limits
from errors import median, write_json

HIGHEST_MHZ = 2520.0
BOARD = """schema = "joulecast.gpu/1"
id = "ada-laptop-6gb"
name = "6 GB Ada laptop"
vendor = "NVIDIA"
architecture = "Ada"

[figures]
compute_capability = "8.9"
sm_count = 20
cuda_core_count = 2560
boost_clock_mhz = 2520
memory_gb = 6
memory_bandwidth_gb_per_s = 192
power_limit_w = 68
fp32_tflops = 12.9
tf32_tflops = 25.8
l2_cache_mib = 12
idle_power_w = 10

[sources]
default = "data sheet of the RTX 4050 Laptop; clock and limit as the sweep shows them"
"""
# Words of a workload's name, the first that fits; what it is called on the page; what stands in for it.
KINDS = (
    (("gemm", "matmul"), "products", "input %x : f32[4096, 4096]", "linear(%x, %w)", "parameter %w : f32[4096, 4096]"),
    (
        ("conv2d_forward",),
        "convolutions",
        "input %x : f32[32, 128, 56, 56]",
        "conv(%x, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}",
        "parameter %w : f32[128, 128, 3, 3]",
    ),
    (("softmax",), "softmax", "input %x : f32[16384, 4096]", "softmax(%x) {axis = 1}", ""),
    (
        ("elementwise_add", "elementwise_sub", "elementwise_mul"),
        "elementwise",
        "input %x : f32[16384, 4096]",
        "binary(%x, %x)",
        "",
    ),
    (
        ("relu", "sigmoid", "tanh", "gelu", "softplus", "mish", "clamp", "elu", "selu"),
        "elementwise",
        "input %x : f32[16384, 4096]",
        "activation(%x)",
        "",
    ),
)
FUSED = ("ConvTranspose", "diagonal", "symmetric")  # of several operations, or stated as none of ours
Curve = limits.Sweep  # seconds and watts by clock in MHz


def stand_in(workload: str) -> tuple[str, str] | None:
    """Its kind and a graph, or None where nothing stands in for it."""
    if any(word in workload for word in FUSED):
        return None
    for words, kind, given, made, parameter in KINDS:
        if any(word in workload.lower() for word in words):
            return kind, f'graph "operation" {{\n  {given}\n  {parameter}\n  %y = {made}\n  output %y\n}}\n'
    return None


def curves(data: pathlib.Path) -> dict[str, tuple[Curve, tuple[float, float]]]:
    """By workload, the runs at locked clocks and the one without."""
    locked: dict[str, Curve] = collections.defaultdict(dict)
    free: dict[str, tuple[float, float]] = {}
    with (data / "power/laptop_clock_sweep_ops.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            run = (float(row["runtime_s"]), float(row["mean_power_w"]))
            if row["baseline"] == "1":
                free[row["workload"]] = run
            elif (clock := float(row["requested_sm_clock_hz"]) / 1e6) < HIGHEST_MHZ:
                locked[row["workload"]][clock] = run
    return {name: (locked[name], free[name]) for name in sorted(free) if len(locked[name]) > 20}


def predicted(model: pathlib.Path, board: pathlib.Path, clocks: list[float], known, options) -> Curve:
    command = [options.joulecast, "predict", str(model), "--gpu-file", str(board), "--gpu", "ada-laptop-6gb"]
    command += ["--pack", options.pack, "--precision", "fp32", "--csv"]
    command += ["--sm-clock", ",".join(f"{clock:g}" for clock in clocks)]
    if known:
        command += ["--measured", f"setting=default,time={known[0]:.9g},power={known[1]:.9g}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return {clock: (float(row["time_s"]), float(row["power_w"])) for clock, row in zip(clocks, rows)}


def least(curve: Curve) -> float:
    return min(curve, key=lambda clock: curve[clock][0] * curve[clock][1])


def judged(measured: Curve, free: tuple[float, float], found: Curve) -> dict[str, float]:
    """Errors of ratios to the free run, from half of the highest clock up and below; clocks of least energy, and what
    the best and the predicted one save."""
    out: dict[str, float] = {}
    for name, wanted in (("upper", lambda c: c >= HIGHEST_MHZ / 2), ("lower", lambda c: c < HIGHEST_MHZ / 2)):
        for q, quantity in enumerate(("time", "power")):
            ratios = [
                (found[c][q] / found[HIGHEST_MHZ][q]) / (measured[c][q] / free[q]) - 1 for c in measured if wanted(c)
            ]
            out[f"{quantity}_{name}"] = sum(map(abs, ratios)) / len(ratios)
    choice = least({clock: found[clock] for clock in measured})
    energies = {clock: time * power for clock, (time, power) in measured.items()}
    out["least_energy_mhz"], out["predicted_mhz"] = least(measured), choice
    out["saved_at_best"] = 1 - min(energies.values()) / (free[0] * free[1])
    out["saved_at_predicted"] = 1 - energies[choice] / (free[0] * free[1])
    return out


def summed_up(kind: str, known: str, cells: list[dict[str, float]]) -> dict:
    clocks = ("least_energy_mhz", "predicted_mhz")
    mean = {k: sum(c[k] for c in cells) / len(cells) for k in cells[0] if k not in clocks}
    return {"kind": kind, "n": len(cells), "known": known, **mean, **{k: median([c[k] for c in cells]) for k in clocks}}


def main() -> int:
    options = arguments.of_command_line(__doc__)
    cells: dict[tuple[str, str], list[dict[str, float]]] = collections.defaultdict(list)
    left_out = []
    with tempfile.TemporaryDirectory() as folder:
        board, model = pathlib.Path(folder) / "board.toml", pathlib.Path(folder) / "operation.jcg"
        board.write_text(BOARD)
        for workload, (measured, free) in curves(options.data).items():
            stands_in = stand_in(workload)
            if stands_in is None:
                left_out.append(workload)
                continue
            kind, graph = stands_in
            model.write_text(graph)
            for known, run in (("nothing", None), ("default", free)):
                found = predicted(model, board, [*sorted(measured), HIGHEST_MHZ], run, options)
                cells[kind, known].append(judged(measured, free, found))
    rows = [summed_up(kind, known, found) for (kind, known), found in cells.items()]
    write_json(pathlib.Path(options.out), "joulecast.accuracy-laptop/1", {"rows": rows, "left_out": len(left_out)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
