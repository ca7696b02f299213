#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what joulecast makes of a network in every form, and writes docs/equivalence.md: table.py JOULECAST FOLDER

FOLDER is what export_torch.py, export_keras.py and export_paddle.py wrote.
"""
from __future__ import annotations

import datetime
import json
import pathlib
import subprocess
import sys

PAGE = pathlib.Path(__file__).parents[2] / "docs/equivalence.md"
GPU, BATCH = "a100-sxm4-40gb", 8
ORDER = ("torchscript.onnx", "dynamo.onnx", "export.pt2", "decomposed.pt2", "traced.pt", "saved_model", "frozen.pb", "model.tflite",
         "model.keras", "model.h5", "inference.pdmodel", "inference.json")
# What has to agree within a framework's forms, in percent.
BARS = {"flops": 1, "bytes": 2, "time": 3}
REASONS = json.loads((pathlib.Path(__file__).parent / "reasons.json").read_text())

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Written by tools/equivalence/table.py. -->
# One network in every form

A network exported by its framework in every form that it has, imported by joulecast: kernels that PyTorch in eager mode would run, work and traffic
at batch 8, parameters, predicted time on an A100. Differences are those from the first form of the same framework; they shall be below 1 % of
the FLOPs, 2 % of the bytes and 3 % of the time, else they are **bold**, with the reason below. Keras' and Paddle's networks are not
torchvision's: their first row is compared with torchvision's first. Paddle's `paddle.vision` has no EfficientNet. Predicted on DAY; predictors change.

    PYTHONPATH=tools python3 tools/equivalence/export_torch.py FORMS        # with an environment of tools/zoo/make_venv.sh
    python3 tools/equivalence/export_keras.py FORMS                         # with tensorflow and keras
    python3 tools/equivalence/export_paddle.py FORMS                        # with paddle 3, and with paddle 2
    python3 tools/equivalence/table.py build/release/joulecast FORMS
"""


def told(program: str, *words: str) -> dict:
    done = subprocess.run([program, *words, "--json"], stdout=subprocess.PIPE)
    answer = json.loads(done.stdout)
    if "error" in answer:
        raise ValueError(answer["error"]["message"])
    return answer


def figures(program: str, path: pathlib.Path) -> dict[str, float]:
    predicted = told(program, "predict", str(path), "--gpu", GPU, "--batch", str(BATCH), "--breakdown")["predictions"][0]
    return {"kernels": sum(one["count"] for one in predicted["operations"]), "flops": predicted["flops"], "bytes": predicted["bytes"],
            "parameters": predicted["parameters"], "time": predicted["time_s"]["value"]}


def change(now: float, before: float, bar: float | None) -> str:
    percent = (now / before - 1) * 100
    text = f"{percent:+.1f} %"
    return f"**{text}**" if bar is not None and abs(percent) > bar else text


def row(form: str, now: dict[str, float], before: dict[str, float] | None, hold: bool) -> str:
    cells = [form, f"{now['kernels']:.0f}", f"{now['flops'] / 1e9:.4g} G", f"{now['bytes'] / 1e6:.4g} M", f"{now['parameters']:,.0f}",
             f"{now['time'] * 1e3:.3g} ms"]
    if before is not None:
        cells[1] += f" ({now['kernels'] - before['kernels']:+.0f})"
        for at, key in ((2, "flops"), (3, "bytes"), (5, "time")):
            cells[at] += f" ({change(now[key], before[key], BARS[key] if hold else None)})"
        cells[4] += f" ({now['parameters'] - before['parameters']:+,.0f})" if now["parameters"] != before["parameters"] else ""
    return f"| {' | '.join(cells)} |"


def section(program: str, network: pathlib.Path) -> str:
    lines = [f"## {network.name}", "", "| form | kernels | FLOPs | bytes | parameters | time |", "|---|---|---|---|---|---|"]
    top, reasons = None, []
    for framework in ("torch", "keras", "paddle"):
        first = None
        for form in sorted((network / framework).glob("*"), key=lambda path: ORDER.index(path.name)):
            reason = REASONS.get(f"{network.name}/{framework}/{form.name}") or REASONS.get(f"{framework}/{form.name}")
            try:
                now = figures(program, form)
            except ValueError as error:
                why = str(error).removeprefix(str(form) + ": ").replace("|", " ")
                lines.append(f"| {framework} {form.name} | not read | | | | |")
                reasons.append(f"{framework} {form.name}: {reason + ' ' if reason else ''}`{why}`")
                continue
            lines.append(row(f"{framework} {form.name}", now, first or top, hold=first is not None))
            first, top = first or now, top or now
            if reason:
                reasons.append(f"{framework} {form.name}: {reason}")
    return "\n".join([*lines, *(f"\n{reason}" for reason in reasons)]) + "\n"


def main(program: str, folder: str) -> None:
    PAGE.write_text("\n".join([HEAD.replace("DAY", datetime.date.today().isoformat()), *(section(program, network) for network in sorted(pathlib.Path(folder).iterdir()))]))


if __name__ == "__main__":
    main(*sys.argv[1:])
