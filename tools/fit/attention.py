#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The constants of fused attention's kernels in src/predict/attention_kernels.cpp.

    tools/fit/attention.py aic_prefill_attention.csv aic_decode_attention.csv aic_power_attention_h200_sxm.csv \\
        aic_power_attention_b200_sxm.csv --joulecast build/release/joulecast

Prints, for each kernel, the mean and the mean absolute log error of the bound on every GPU that runs it, with the program's
constants and with those fitted; of kernels of several GPUs also with one GPU at a time left out of the fit; and what is lost
where nobody knows the kernel and a neighbour's stands for it. It stops if its copy of the law is not the program's. Needs numpy
and scipy.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from law_fit import KernelFit, sample, show_all
from power_limit import held

ROWS = 3000  # of each GPU and kernel
LINES = 24000  # of a table
ALL = 1 << 20  # heads
WIDTHS = [64, 96, 128, 192, 256, 512]  # of heads, that kernels are made for
# Queries and keys of a tile, whether heads that share keys share tiles, and constants in the order of the program's struct.
PROMPT = ["launch", "product", "softmax", "prologue", "tail", "streamed", "stored", "narrow"]
PROMPTS = {
    "sglang ampere": (128, 64, True, [15000, 1.21, 0.0574, 2080, 0.78, 1.92, 0.847, 1.1]),
    "sglang hopper": (128, 64, True, [15200, 1.05, 0.0541, 4250, 0.0523, 0.944, 2.07, 0.833]),
    "sglang blackwell": (256, 128, False, [14300, 0.729, 0.0375, 2430, 0.521, 0.671, 1.84, 0.799]),
    "sglang small blackwell": (64, 64, False, [10700, 2.46, 0.0693, 7190, 0.502, 13.5, 1.65, 1.14]),
    "vllm hopper": (128, 64, True, [14400, 1.15, 0.0403, 4330, 0.219, 0.808, 0, 1.06]),
    "vllm blackwell": (256, 128, False, [11000, 0.633, 0.0676, 2140, 0.48, 0.911, 0, 0.77]),
    "trtllm blackwell": (192, 128, False, [22000, 0.483, 0.0723, 2960, 0.493, 0.235, 0, 1.06]),
    "vllm blackwell wide": (128, 64, False, [10900, 1.07, 0.0533, 3750, 0.452, 1.49, 0, 0.9]),
    "trtllm blackwell wide": (64, 64, False, [22200, 1.13, 0.0538, 4840, 0.485, 0.328, 0, 0.95]),
    "widest": (64, 64, True, [3500, 2.26, 0.00752, 10900, 0.412, 2.33, 0, 0.9]),
}
DECODE = ["launch", "merge", "part", "key", "block", "width", "narrow", "wide", "streamed", "queries"]
# Blocks at once on an SM, heads that share one at most, least keys and most parts of a split; then constants.
DECODES = {
    "sglang ampere": (1, ALL, 256, 64, [14700, 6830, 251, 59.3, 1810, 0, 1, 0, 1.23, 0.988]),
    "sglang hopper": (1, ALL, 256, 64, [14100, 3950, 163, 15.8, 4730, 0, 0.996, 0, 0.976, 0.45]),
    "sglang blackwell": (2, ALL, 256, 64, [12300, 43.6, 235, 0, 5200, 0, 0.822, 3310, 0.901, 0.636]),
    "sglang small blackwell": (4, 16, 64, 8, [3550, 2760, 587, 101, 6720, 0, 1.59, 0, 0.927, 0.471]),
    "vllm hopper": (1, ALL, 128, 32, [10300, 2650, 108, 23.1, 3110, 19.6, 1.01, 0, 1.2, 0.195]),
    "vllm blackwell": (1, ALL, 512, 64, [9850, 2310, 284, 1.01, 1630, 10.9, 0.755, 395, 0.912, 0.699]),
    "trtllm blackwell": (1, ALL, 512, 64, [15000, 2040, 338, 0.708, 1960, 7.54, 0.819, 681, 1.65, 0.276]),
}
# Whose kernel would stand for it, had nobody measured it.
NEIGHBOURS = {"sglang ampere": "sglang hopper", "sglang hopper": "sglang ampere", "sglang blackwell": "sglang hopper",
              "sglang small blackwell": "sglang ampere", "vllm hopper": "sglang hopper",
              "vllm blackwell": "sglang blackwell"}  # fmt: skip
BATCH, QUERIES, KEYS, HEADS, KV_HEADS, WIDTH, CAUSAL, BYTES, KV_BYTES = range(9)


def device(program: str, name: str) -> dict[str, float]:
    text = subprocess.run([program, "gpus", name, "--json"], check=True, stdout=subprocess.PIPE).stdout
    f = json.loads(text)["gpus"][0]["figures"]
    clock, peak = f["boost_clock_mhz"] * 1e6, f["bf16_tflops"] * 1e12 * held(f, "bf16")
    capability, bandwidth = float(f["compute_capability"]), f["memory_bandwidth_gb_per_s"] * 1e9
    if f["memory_type"].startswith("GDDR") and f.get("memory_total_mib", 1e9) * 2**20 < 0.945 * 2**30 * f["memory_gb"]:
        bandwidth *= 0.91  # codes of error correction stand between the data
    kind = "small blackwell" if capability >= 12 else "blackwell" if capability >= 10 else "hopper" if capability >= 9 else "ampere"
    return {"sm": f["sm_count"], "clock": clock, "bandwidth": bandwidth, "l2": f["l2_cache_mib"] * 2**20,
            "rate": peak / f["sm_count"] / clock, "kind": kind}  # fmt: skip


def shape_of(row: dict[str, str]) -> tuple[str, list[float], bool]:
    """Engine, the extents of a row of either layout, and whether it looks at a window of its past alone."""
    size = {"bfloat16": 2, "fp8": 1}
    if "isl" in row:
        heads, kv = int(row["num_heads"]), int(row["num_key_value_heads"])
        queries, past, window = int(row["isl"]), int(row["step"]), int(row["window_size"])
        types = [2, size[row["kv_cache_dtype"]]]
        engine, causal, batch = "sglang", True, row["batch_size"]
    else:
        heads, kv = int(row["heads"]), int(float(row["kv_heads"] or row["heads"]))
        queries, past, window = int(row["seq"]), int(float(row["kv_step"] or 0)), int(float(row["window"] or 0))
        types = [size[row["attn_dtype"]], size[row["kv_dtype"] or row["attn_dtype"]]]
        engine, causal, batch = row["framework"], row["phase"] == "context", row["batch"]
    keys = queries + past
    keys = min(keys, window) if window else keys
    return engine, [int(batch), queries, keys, heads, kv, int(row["head_dim"]), causal, *types], keys < queries + past


def rows_of(program: str, tables: list[pathlib.Path]) -> dict[tuple[str, str, str], list]:
    """By phase, engine and GPU."""
    out: dict[tuple[str, str, str], list] = {}
    for table in tables:
        with tempfile.TemporaryDirectory() as name:
            small, rows = sample(table, pathlib.Path(name), LINES), pathlib.Path(name) / "rows.csv"
            with small.open(newline="") as file:
                shapes = [shape_of(row) for row in csv.DictReader(file)]
            subprocess.run([program, "evaluate", small, "--rows", rows], check=True, stdout=subprocess.DEVNULL)
            with rows.open(newline="") as file:
                for row in csv.DictReader(file):
                    if row["quantity"] != "time":
                        continue
                    engine, extents, windowed = shapes[int(row["line"]) - 2]
                    # vLLM takes a prompt of one token for a decode.
                    alone = engine == "vllm" and extents[QUERIES] == 1
                    phase = "decode" if row["group"] == "decode" or alone else "prompt"
                    if windowed or is_odd(phase, engine, row["gpu"], extents):
                        continue
                    times = [float(row["measured"]), float(row["baseline"])]
                    out.setdefault((phase, engine, row["gpu"]), []).append([*extents, *times])
    return out


def is_odd(phase: str, engine: str, gpu: str, extents: list[float]) -> bool:
    """Shapes that the engine's kernel is not made for: slower ones take them, of which one is modelled by hand."""
    width, group = extents[WIDTH], extents[HEADS] / extents[KV_HEADS]
    if gpu.startswith("b") and engine != "sglang":
        return width == 192 or (engine == "trtllm" and (width == 72 or (phase == "decode" and group > 32)))
    return False


def kernel_of(phase: str, engine: str, kind: str, width: float) -> str:
    if phase == "prompt" and width > 256:
        return "widest"
    wide = phase == "prompt" and width > 128 and kind == "blackwell" and engine != "sglang"
    return f"{engine} {kind}{' wide' if wide else ''}"


def filled(width: np.ndarray) -> np.ndarray:
    return np.array(WIDTHS)[np.searchsorted(WIDTHS, width)]


def prompt(r: np.ndarray, d: dict[str, float], tile: tuple, c: dict[str, float]) -> np.ndarray:
    high, wide, shares = tile
    batch, queries, keys, heads, kv, width = (r[:, i] for i in range(6))
    group = heads / kv if shares else np.ones(len(r))
    rows = np.ceil(queries * group / high)
    tiles = batch * (kv if shares else heads) * rows / d["sm"]
    score = c["product"] * 4.0 * filled(width) / d["rate"] + c["softmax"]
    block = high * wide * score * np.where(r[:, KV_BYTES] == 1, c["narrow"], 1.0)
    blocks = np.ceil(keys / wide)
    whole = np.floor(queries / wide)
    before = (wide * whole * (whole + 1) / 2 + (queries - whole * wide) * (whole + 1)) / queries
    ahead = np.where(rows > 1, np.maximum(0.0, high / group / wide - 1.0) / 2.0, 0.0)
    seen = np.where(r[:, CAUSAL] == 1, np.minimum(blocks, (keys - queries) / wide + before + ahead), blocks)
    longest = blocks * block + c["prologue"]
    compute = np.maximum(tiles * (seen * block + c["prologue"]) + c["tail"] * longest * np.minimum(1.0, tiles), longest)
    moved = 2.0 * batch * width * (heads * queries * r[:, BYTES] + kv * keys * r[:, KV_BYTES])
    fresh = 2.0 * batch * width * kv * queries * (r[:, BYTES] + r[:, KV_BYTES])
    store = fresh / (d["bandwidth"] * c["stored"]) if c["stored"] else 0.0
    return (c["launch"] + compute) / d["clock"] + moved / (d["bandwidth"] * c["streamed"]) + store


def decode(r: np.ndarray, d: dict[str, float], limits: tuple, c: dict[str, float]) -> np.ndarray:
    blocks, together, least, most = limits
    batch, keys, heads, kv, width = (r[:, i] for i in (BATCH, KEYS, HEADS, KV_HEADS, WIDTH))
    readers = batch * kv * np.ceil(heads / kv / together)
    split = np.clip(np.floor(blocks * d["sm"] / readers), 1.0, np.minimum(most, np.ceil(keys / least)))
    narrow = np.where(r[:, KV_BYTES] == 1, c["narrow"], 1.0)
    reading = c["key"] * 64.0 * np.ceil(keys / split / 64.0) * width / 128.0
    each = reading + (c["block"] + c["width"] * width) * narrow + np.where(heads > 8 * kv, c["wide"], 0.0)
    compute = np.ceil(readers * split / d["sm"] / blocks) * each / d["clock"]
    moved = 2.0 * batch * kv * keys * width * r[:, KV_BYTES]
    hit = 1.0 / (1.0 + (moved / (0.7 * d["l2"])) ** 6)
    memory = moved / (d["bandwidth"] * c["streamed"]) * (1.0 - hit / 2.0)
    ends = 2.0 * batch * heads * width * r[:, BYTES] / (d["bandwidth"] * c["queries"])
    fixed = c["launch"] + np.where(split > 1, c["merge"] + c["part"] * split, 0.0)
    return fixed / d["clock"] + ends + np.sqrt(compute**2 + memory**2)


def fits(program: str, tables: list[pathlib.Path]) -> list[KernelFit]:
    devices: dict[str, dict] = {}
    grouped: dict[tuple[str, str], dict[str, list]] = {}
    for (phase, engine, gpu), rows in rows_of(program, tables).items():
        d = devices.setdefault(gpu, device(program, gpu))
        for row in rows:
            kernel = kernel_of(phase, engine, d["kind"], row[WIDTH])
            grouped.setdefault((phase, kernel), {}).setdefault(gpu, []).append(row)
    out = []
    for (phase, kernel), by_gpu in sorted(grouped.items()):
        *tile, values = (PROMPTS if phase == "prompt" else DECODES)[kernel]
        constants = dict(zip(PROMPT if phase == "prompt" else DECODE, values))
        law = prompt if phase == "prompt" else decode
        rows = {gpu: np.array(found[:ROWS], dtype=float) for gpu, found in by_gpu.items()}
        out.append(KernelFit(f"{phase}, {kernel}", law, tuple(tile), constants, rows, devices))
    return out


def show_neighbours(found: list[KernelFit]) -> None:
    by_title = {fit.title: fit for fit in found}
    for fit in found:
        phase, kernel = fit.title.split(", ")
        neighbour = by_title.get(f"{phase}, {NEIGHBOURS.get(kernel)}")
        for gpu in fit.keys() if neighbour else []:
            times = neighbour.law(fit.rows[gpu], fit.devices[gpu], neighbour.tile, neighbour.program)
            off = np.log(times / fit.rows[gpu][:, -2])
            print(f"{fit.title} by the kernel of {NEIGHBOURS[kernel]}, {gpu}: mean {100 * off.mean():.1f} %, absolute "
                  f"{100 * np.abs(off).mean():.1f} %")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=pathlib.Path)
    parser.add_argument("--joulecast", required=True)
    options = parser.parse_args()
    found = fits(options.joulecast, options.tables)
    show_all(found)
    show_neighbours(found)


if __name__ == "__main__":
    main()
