#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts the MAELSTROM networks and writes docs/maelstrom.md: table.py JOULECAST FOLDER

FOLDER is what export.py wrote.
"""
from __future__ import annotations

import datetime
import json
import pathlib
import subprocess
import sys
from dataclasses import dataclass

PAGE = pathlib.Path(__file__).parents[2] / "docs/maelstrom.md"
GPU = "a100-sxm4-40gb"


@dataclass(frozen=True)
class Application:
    what: str
    file: str
    options: tuple[str, ...]
    batches: tuple[int, ...]  # the likeliest first
    why: str
    measured: tuple[float, float, float]  # ms, MB, mJ: D3.5, tables 5 to 8
    dippm: tuple[float, float, float]
    note: str = ""


APPLICATIONS = {
    "AP1": Application(
        "U-Net of 3-dimensional convolutions, 512 x 512 x 17, TensorFlow", "ap1", ("--runtime", "tensorflow"), (60, 1),
        "one file has 59 lead times, and the work of one example in the measured time would be 0.19 TFLOP/s at 314 W",
        (176.6, 40227, 55502), (3.6, 219, 378),
        "The measured memory is that of the whole card, which TensorFlow takes; ours is what the network needs."),
    "AP3": Application(
        "radiation emulator, three LSTM of 64 units over 137 levels, TensorFlow, TF32 off", "ap3",
        ("--runtime", "tensorflow", "--precision", "fp32"), (512, 256), "the inference script's default",
        (130, 2135, 13296), (67, 3004, 19564),
        "The measured time is 0.3 ms for each of the 413 steps: a loop of single kernels, as TensorFlow 2.6 runs it outside of cuDNN. "
        "joulecast predicts Keras' LSTM as cuDNN's layer."),
    "AP4": Application(
        "U-Net, 14 x 361 x 720, PyTorch", "ap4.pt2", (), (1, 2), "the script's default, and the likeliest speed",
        (4.9, 2823, 470), (2.7, 2166, 283),
        "The measured power, 96 W, is that of a GPU which has just begun: 35 runs take 0.2 s."),
    "AP5": Application(
        "U-Net, 96 x 120 x 10, TensorFlow", "ap5", ("--runtime", "tensorflow"), (32, 16, 64),
        "the default of a later version, and what DIPPM's own prediction fits", (8.1, 2733, 1278), (18.6, 2758, 4107)),
}

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by tools/maelstrom/table.py. -->
# The four networks of MAELSTROM's deliverable 3.5

Deliverable 3.5 of MAELSTROM (tables 5 to 8) holds DIPPM's predictions for an A100 against four measured applications. It says neither
batch nor precision. The networks are rebuilt here from their public code, each in its own framework
(`tools/maelstrom/networks.py`), read by joulecast from the framework's own files and predicted at the batch that is likeliest, and at others beside
it. Nothing of joulecast was fitted on them. Predicted on DAY; predictors change.

    cd tools/maelstrom                                              # with an environment that has tensorflow, keras and torch
    python3 export.py ap1 ap3 ap4 ap5 -o NETWORKS
    python3 table.py build/release/joulecast NETWORKS

The deliverable's energies read as joules would mean 96 to 314 thousand watts; they are taken as millijoules of one batch. Four points with
a guessed batch prove no accuracy: they tell whether a prediction is of the right size. Bold: the error of the likeliest batch is smaller
than DIPPM's.
"""


def predict(program: str, path: pathlib.Path, application: Application) -> list[dict]:
    command = [program, "predict", str(path), "--gpu", GPU, "--batch", ",".join(map(str, application.batches)), "--json"]
    return json.loads(subprocess.run([*command, *application.options], check=True, stdout=subprocess.PIPE).stdout)["predictions"]


def number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def error(value: float, measured: float) -> float:
    return abs(value / measured - 1) * 100


def row(title: str, values: tuple[float, ...], application: Application, better: bool = False) -> str:
    cells = []
    for value, measured, dippm in zip(values, application.measured, application.dippm):
        off = f"{error(value, measured):.0f} %"
        bold = better and error(value, measured) < error(dippm, measured)
        cells.append(f"{number(value)} ({f'**{off}**' if bold else off})")
    return f"| {title} | {' | '.join(cells)} |"


def section(name: str, application: Application, predictions: list[dict]) -> str:
    likeliest = predictions[0]
    facts = f"{likeliest['parameters']:,} parameters, {likeliest['flops'] / likeliest['batch'] / 1e9:.3g} GFLOP an example."
    lines = [f"## {name}: {application.what}", "", f"{facts} Batch {application.batches[0]}: {application.why}. {application.note}".strip(), "",
             "| | time, ms | memory, MiB | energy, mJ |", "|---|---|---|---|",
             f"| measured | {' | '.join(map(number, application.measured))} |", row("DIPPM", application.dippm, application)]
    for one in predictions:
        values = (one["time_s"]["value"] * 1e3, one["memory_bytes"]["value"] / 2**20, one["energy_j"]["value"] * 1e3)
        lines.append(row(f"joulecast, batch {one['batch']}", values, application, better=one is likeliest))
    lo, hi = likeliest["time_s"]["lo"] * 1e3, likeliest["time_s"]["hi"] * 1e3
    lines += ["", f"Bounds of the time at batch {likeliest['batch']}: {lo:.3g} to {hi:.3g} ms, support \"{likeliest['support']}\"."]
    return "\n".join(lines)


def main(program: str, folder: str) -> None:
    parts = [HEAD.replace("DAY", datetime.date.today().isoformat())]
    for name, application in APPLICATIONS.items():
        parts.append(section(name, application, predict(program, pathlib.Path(folder) / application.file, application)) + "\n")
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main(*sys.argv[1:])
