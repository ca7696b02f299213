#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of TensorFlow's convolutions in src/predict/conv_simt.cpp (kAutotuned, kKepler), from the device time by
class of operation that PROFET publishes for its training steps.

    tools/fit/tensorflow.py profet_opclass.csv --graphs DIR --joulecast build/release/joulecast

DIR has NAME_SIZE.onnx as tools/zoo/lists/profet.txt makes them. Fits forward passes, filter gradients and data gradients
together, T4 and V100 as one and the K80 by itself, and tells what the fit does not see: each of the two GPUs, and each
network. Profiles of InceptionResNetV2 are cut off and not used. Needs numpy and scipy.
"""

from __future__ import annotations

import argparse
import collections
import csv
import json
import pathlib
import re
import statistics
import subprocess

import numpy as np
from scipy.optimize import least_squares

from power_limit import held

PASSES = {
    "forward": ("Conv2D", "_FusedConv2D"),
    "weight": ("Conv2DBackpropFilter",),
    "data": ("Conv2DBackpropInput",),
}
STEPS = 2  # in a profile
GPUS = {"NVIDIA T4": "t4", "NVIDIA Tesla V100-SXM2-16GB": "v100-sxm2-16gb", "NVIDIA Tesla K80": "tesla-k80"}
KEPLER = "NVIDIA Tesla K80"
KEPLER_STREAMS = 0.62  # src/predict/device.cpp
STREAMED = 0.79  # src/predict/conv_simt.cpp
CUT_OFF = "InceptionResNetV2"
BATCH = 16

IMPLICIT = [(128, 128, 1.0), (128, 64, 0.95), (128, 32, 0.75)]
PRODUCTS = [(128, 128, 1.0), (128, 64, 0.95), (64, 64, 0.85), (32, 128, 0.8), (128, 32, 0.8)]
SPLIT = [(128, 128, 1.0), (128, 64, 0.9), (64, 64, 0.75), (256, 64, 0.95), (64, 32, 0.5), (128, 32, 0.7), (256, 128, 1.05)]
ONE_TILE = [(128, 128, 1.0)]

# Where the fits start; latencies in microseconds a kernel.
AUTOTUNED = {"forward": 0.85, "data": 0.78, "weight": 0.5, "fused": 0.95, "tiled": 1.6, "transforms": 2.2,
             "tiled_gradient": 0.47, "square": 1.6, "square_gradient": 2.5, "line": 1.6, "first_weight": 2.5,
             "latency_forward": 20, "latency_data": 20, "latency_weight": 20}  # fmt: skip
ONE = {"forward": 0.9, "data": 0.9, "weight": 0.6, "filters": 50, "one_by_one": 0.3, "square": 2, "square_gradient": 2,
       "line": 1.5, "first_forward": 0.7, "first_weight": 0.5, "latency_forward": 30, "latency_data": 30,
       "latency_weight": 30}  # fmt: skip
LABEL = re.compile(r"conv (\d+)x(\d+)x(\d+)x(\d+) -> (\d+), (\d+)x(\d+)(?: s(\d+))?(?: p(\d+))?(?: g(\d+))?(?: to (\d+)x(\d+))?")

Key = tuple[str, str, int, int]  # GPU, network, size, batch


def measured(path: str) -> dict[Key, dict[str, float]]:
    """Seconds of a step: medians over its repeats, of each pass, of all operations and of the step itself."""
    runs: dict[Key, list[dict]] = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            runs[row["gpu"], row["model"], int(row["img_size"]), int(row["batch"])].append(row)

    def median(rows: list[dict], column: str) -> float:
        return statistics.median([float(row[column]) for row in rows if row.get(column)] or [0.0])

    out = {}
    for key, rows in runs.items():
        busy = [c for c in rows[0] if c.startswith("Device_") and c != "Device_IDLE_us"]
        out[key] = {p: sum(median(rows, f"Device_{c}_us") for c in of) * 1e-6 / STEPS for p, of in PASSES.items()}
        out[key]["device"] = sum(median(rows, c) for c in busy) * 1e-6 / STEPS
        out[key]["step"] = median(rows, "step_latency_s")
    return out


def convolutions(program: str, graph: pathlib.Path) -> list[list[int]]:
    """Count, channels in and out, extents in and out, of the filter, stride; batch is BATCH, depthwise ones are left out."""
    command = [program, "predict", str(graph), "--gpu", "t4", "--mode", "training", "--batch", str(BATCH)]
    text = subprocess.run([*command, "--runtime", "tensorflow", "--breakdown", "--json"], check=True, stdout=subprocess.PIPE).stdout
    out = []
    for operation in json.loads(text)["predictions"][0]["operations"]:
        label = LABEL.match(operation["operation"])
        if not label or label[10]:
            continue
        channels, height, width, filters, kh, kw = (int(label[i]) for i in (2, 3, 4, 5, 6, 7))
        stride, padding = int(label[8] or 1), int(label[9]) if label[9] else kh // 2
        to = [(extent + 2 * padding - k) // stride + 1 for extent, k in ((height, kh), (width, kw))]
        if label[11]:
            to = [int(label[11]), int(label[12])]
        out.append([operation["count"], channels, filters, height, width, *to, kh, kw, stride, padding])
    return out


def gpu_of(program: str, gpu: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", GPUS[gpu], "--json"], check=True, stdout=subprocess.PIPE).stdout
    figures = json.loads(text)["gpus"][0]["figures"]
    tflops = figures["fp32_tflops"]
    share = KEPLER_STREAMS if gpu == KEPLER else 1.0
    sm = figures["sm_count"]
    return {"sm": sm, "rate": tflops * 1e12 * held(figures, "fp32") / sm, "bandwidth": figures["memory_bandwidth_gb_per_s"] * 1e9 * share}


def joined(a: np.ndarray, b: np.ndarray, p: float) -> np.ndarray:
    return (a**p + b**p) ** (1.0 / p)


def busiest(tiles: list, rows, columns, batch, depth, sm) -> np.ndarray:
    """Flops of the busiest SM, as in conv_simt.cpp."""
    each = [np.ceil(batch * np.ceil(rows / r) * np.ceil(columns / c) / sm) * 2.0 * r * c / e * depth for r, c, e in tiles]
    return np.minimum.reduce(each)


def busiest_split(tiles: list, rows, columns, batch, depth, sm, most: int) -> np.ndarray:
    best, split = np.inf, 1
    while split <= most:
        found = busiest(tiles, rows, columns, batch * split, np.maximum(depth / split, 32.0), sm)
        best = np.minimum(best, np.where((split == 1) | (depth > 16.0 * split), found, np.inf))
        split *= 2
    return best


class Cases:
    """Every convolution of every case, a row each, and what of its law no constant touches."""

    def __init__(self, keys: list[Key], times: dict, networks: dict, gpus: dict, kepler: bool) -> None:
        self.keys, self.kepler = keys, kepler
        works = [(i, k, w) for i, k in enumerate(keys) for w in networks[k[1], k[2]]]
        self.case = np.array([i for i, _, _ in works])
        shapes = np.array([[*w[1:], k[3]] for _, k, w in works], float).T
        cin, cout, h, w, oh, ow, kh, kw, stride, padding, batch = shapes
        self.count = np.array([work[0] for _, _, work in works], float)
        sm, self.rate, bandwidth = (np.array([gpus[k[0]][n] for _, k, _ in works]) for n in ("sm", "rate", "bandwidth"))
        self.number = 4.0 / bandwidth
        kernel = kh * kw
        self.winograd = (kernel == 9) & (kh == 3) & (stride == 1) & (h + 2 * padding - oh == 2) & (not kepler)
        self.one, self.first = kernel == 1, cin <= 4
        self.square = (kh == kw) & (kh >= 5) & (stride == 1)
        self.line = (np.maximum(kh, kw) >= 5) & (np.minimum(kh, kw) == 1)
        self.weights = cout * cin * kernel
        image, result = batch * h * w * cin, batch * oh * ow * cout
        self.moved = image + result + self.weights
        split = ONE_TILE if kepler else SPLIT
        implicit = ONE_TILE if kepler else IMPLICIT
        fill = lambda depth: 8.0 * np.ceil(depth / 8.0) + 14.0
        places = batch * oh * ow
        self.implicit = {
            "forward": busiest(implicit, places, cout, 1.0, fill(cin * kernel), sm),
            "data": busiest(implicit, batch * h * w, cin, 1.0, fill(cout * kernel / stride**2), sm),
            "weight": busiest_split(split, cout, cin * kernel, 1.0, places, sm, 64),
        }
        squares = {"forward": batch * np.ceil(oh / 4) * np.ceil(ow / 4), "data": batch * np.ceil(h / 4) * np.ceil(w / 4)}
        squares["weight"] = squares["forward"]
        self.tiled = {
            "forward": busiest(PRODUCTS, squares["forward"], cout, 36.0, cin + 9.0, sm),
            "data": busiest(PRODUCTS, squares["data"], cin, 36.0, cout + 9.0, sm),
            "weight": busiest_split(SPLIT, cin, cout, 36.0, squares["forward"], sm, 8),
        }
        self.tiled_moved = {p: 36.0 * (s * (cin + cout) + cin * cout) for p, s in squares.items()}
        self.transformed = {p: image + result + 36.0 * s * (cin + cout) + 45.0 * cin * cout for p, s in squares.items()}
        blocks = lambda height, width, channels: (
            batch * np.ceil(np.ceil(height / 2) / 4) * np.ceil(np.ceil(width / 2) / 8) * np.ceil(channels / 32)
        )
        deep = lambda channels: 2.0 * 16 * 32 * 32 * (8.0 * np.ceil(channels / 8.0) + 17.0)
        self.fused = {"forward": np.ceil(blocks(oh, ow, cout) / sm) * deep(cin), "data": np.ceil(blocks(h, w, cin) / sm) * deep(cout)}
        self.fused_filters = 1.2 * 25.0 * cin * cout * self.number
        profiled = np.array([min(1.0, max(0.7, times[k]["step"] / times[k]["device"])) if kepler else 1.0 for k in keys])
        self.wanted = {p: np.array([times[k][p] for k in keys]) * profiled for p in PASSES}

    def times(self, c: dict[str, float]) -> dict[str, np.ndarray]:
        """Seconds of each case's passes under these constants."""
        moved = self.moved * self.number / STREAMED
        out = {}
        for p in PASSES:
            square = c["square"] if p == "forward" else c["square_gradient"]
            share = c[p] * np.where(self.square, square, np.where(self.line, c["line"], 1.0))
            share = share * np.where(self.one, c.get("one_by_one", 1.0), 1.0) * np.where(self.first, c.get(f"first_{p}", 1.0), 1.0)
            best = joined(self.implicit[p] / (self.rate * share), moved, 4.0 if p == "forward" else 2.0)
            best = best + np.where(self.one, 0.0, c.get("filters", 0.0)) * self.weights * self.number
            if not self.kepler:
                rate = self.rate * c["tiled"] * (c["tiled_gradient"] if p == "weight" else 1.0)
                tiled = joined(self.tiled[p] / rate, self.tiled_moved[p] * self.number / STREAMED, 2.0)
                best = np.where(self.winograd, np.minimum(best, tiled + c["transforms"] * self.transformed[p] * self.number), best)
            if not self.kepler and p in self.fused:
                fused = joined(self.fused[p] / (self.rate * c["fused"]), moved, 4.0 / 3.0) + self.fused_filters
                best = np.where(self.winograd, np.minimum(best, fused), best)
            needed = np.where(self.first, 0.0, 1.0) if p == "data" else 1.0  # the image needs no gradient
            each = self.count * needed * (best + c[f"latency_{p}"] * 1e-6)
            out[p] = np.bincount(self.case, each, minlength=len(self.keys))
        return out

    def fit(self, start: dict[str, float]) -> dict[str, float]:
        names, first = list(start), np.log(np.array(list(start.values()), float))

        def residuals(x: np.ndarray) -> np.ndarray:
            found = self.times(dict(zip(names, np.exp(x))))
            off = [np.log(found[p][self.wanted[p] > 0] / self.wanted[p][self.wanted[p] > 0]) for p in PASSES]
            return np.concatenate([*off, 0.8 * (x - first)])

        done = least_squares(residuals, first, loss="soft_l1", f_scale=0.1, diff_step=1e-3, max_nfev=80)
        return dict(zip(names, np.exp(done.x)))

    def errors(self, constants: dict[str, float]) -> str:
        found = self.times(constants)
        found["all"], wanted = sum(found.values()), {**self.wanted, "all": sum(self.wanted.values())}
        off = {p: np.abs(found[p] / np.where(wanted[p] > 0, wanted[p], np.nan) - 1.0) for p in found}
        return "  ".join(f"{p} {100 * np.nanmedian(o):5.1f}" for p, o in off.items()) + f"   ({len(self.keys)} cases)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--graphs", required=True, type=pathlib.Path)
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    times = {k: v for k, v in measured(options.table).items() if k[0] in GPUS and k[1] != CUT_OFF}
    networks = {}
    for _, name, size, _ in times:
        path = options.graphs / f"{name}_{size}.onnx"
        if (name, size) not in networks and path.is_file():
            networks[name, size] = convolutions(options.joulecast, path)
    gpus = {gpu: gpu_of(options.joulecast, gpu) for gpu in GPUS}
    keys = sorted(k for k in times if networks.get((k[1], k[2])))

    def some(choose, kepler: bool = False) -> Cases:
        return Cases([k for k in keys if choose(k)], times, networks, gpus, kepler)

    autotuned = lambda k: k[0] != KEPLER
    print("medians of |error| in percent, convolutions of a step on the device\n")
    for label, cases, start in (("T4 and V100", some(autotuned), AUTOTUNED), ("K80", some(lambda k: k[0] == KEPLER, True), ONE)):
        constants = cases.fit(start)
        print(label, ", ".join(f"{n} {v:.3g}" for n, v in constants.items()))
        print(f"  {'fitted on':32} {cases.errors(constants)}\n")
    for gpu in [g for g in GPUS if g != KEPLER]:
        seen, left = some(lambda k: autotuned(k) and k[0] != gpu), some(lambda k: k[0] == gpu)
        print(f"  {gpu + ' left out':32} {left.errors(seen.fit(AUTOTUNED))}")
    for name in sorted({k[1] for k in keys}):
        seen, left = some(lambda k: autotuned(k) and k[1] != name), some(lambda k: autotuned(k) and k[1] == name)
        print(f"  {name + ' left out':32} {left.errors(seen.fit(AUTOTUNED))}")


if __name__ == "__main__":
    main()
