#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Throughput of MLPerf's H200 under the limits it was submitted with for efficiency, beside that at the default limit.

    tools/accuracy/maxq.py --joulecast build/release/joulecast --data DATA --out docs/accuracy/maxq.json

Nothing is fitted to it. No model file of MLPerf's is at hand, nor its integer arithmetic: networks and products with the same
work stand in for them, in captured graphs, at a batch that fills the GPU. Only offline runs are judged: servers
take what load they are offered. The meter was at the plug of the machine, and at the lower limits only: power cannot be
compared. Beside the prediction stands the cube root of the limits' ratio, as if time were clocks and power their cube.
"""
import csv
import pathlib
import sys
import tempfile

import arguments
import limits
from errors import write_json

GPU = "h200-sxm-141gb"
GRAPHS = {  # in our text form
    "product": """graph "product" {
  input %x : f8e4m3[2048, 8192]
  parameter %w : f8e4m3[28672, 8192]
  %y = linear(%x, %w)
  output %y
}
""",
    "conv": """graph "conv" {
  input %x : f16[32, 64, 256, 256]
  parameter %w : f16[64, 64, 3, 3]
  %y = conv(%x, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
  output %y
}
""",
}
# What stands in for a benchmark: its name on the page, an example or one of the graphs above, and how it is run.
STAND_INS = {
    "resnet50": ("ResNet-50, FP8", "resnet50.onnx", ["--batch", "256", "--precision", "fp8"]),
    "retinanet": ("ResNet-50, FP8", "resnet50.onnx", ["--batch", "256", "--precision", "fp8"]),
    "3d-unet": ("3x3 convolutions, FP16", "conv", ["--precision", "fp16"]),
    "bert": ("BERT base, 384 tokens, FP8", "bert_base.onnx", ["--shapes", "input_ids:64x384", "--precision", "fp8"]),
    "gptj": ("GPT-2, 1024 tokens, FP8", "gpt2.onnx", ["--shapes", "input_ids:16x1024", "--precision", "fp8"]),
    "llama2-70b": ("a product of 2048 x 8192 x 28672, FP8", "product", ["--precision", "fp8"]),
    "mixtral-8x7b": ("a product of 2048 x 8192 x 28672, FP8", "product", ["--precision", "fp8"]),
    "stable-diffusion-xl": ("a diffusion U-Net, FP16", "unet_dynamo.onnx", ["--batch", "64", "--precision", "fp16"]),
}  # fmt: skip


def family(benchmark: str) -> str:
    """Without the accuracy it was asked for."""
    return benchmark.removesuffix(".9").removesuffix("-99")


def offline(data: pathlib.Path) -> dict[str, dict[float, float]]:
    """Samples a second by benchmark and limit. The looser accuracy is often the same run: it counts once."""
    found: dict[str, dict[float, float]] = {}
    with (data / "power/mlperf_inference_v41_h200.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["scenario"] == "Offline" and row["valid"] == "VALID" and row["gpu_power_limit_w"]:
                found.setdefault(row["benchmark"], {})[float(row["gpu_power_limit_w"])] = float(row["samples_per_s"])
    once = {tuple(sorted(runs.items())): benchmark for benchmark, runs in sorted(found.items(), reverse=True)}
    return {benchmark: dict(runs) for runs, benchmark in sorted(once.items(), key=lambda item: item[1]) if len(runs) == 2}


def judged(benchmark: str, runs: dict[float, float], found: limits.Sweep, name: str) -> dict:
    low, default = sorted(runs)
    return {
        "benchmark": benchmark,
        "limit_w": low,
        "default_w": default,
        "stands_in": name,
        "measured": runs[low] / runs[default],
        "predicted": found[default][0] / found[low][0],
        "cube_root": (low / default) ** (1 / 3),
    }


def summed_up(rows: list[dict]) -> dict:
    errors = {key: [row[key] / row["measured"] - 1 for row in rows] for key in ("predicted", "cube_root")}
    mean = {f"{key}_mape": sum(map(abs, values)) / len(values) for key, values in errors.items()}
    return mean | {f"{key}_bias": sum(values) / len(values) for key, values in errors.items()}


def main() -> int:
    options = arguments.of_command_line(__doc__)
    rows, left_out = [], []
    with tempfile.TemporaryDirectory() as folder:
        for benchmark, runs in offline(options.data).items():
            if family(benchmark) not in STAND_INS:
                left_out.append(benchmark)
                continue
            name, model, extra = STAND_INS[family(benchmark)]
            path = arguments.ROOT / "examples" / model
            if model in GRAPHS:
                path = pathlib.Path(folder) / f"{model}.jcg"
                path.write_text(GRAPHS[model])
            sweep = {limit: (0.0, 0.0) for limit in runs}
            found = limits.Workload(str(path), GPU, ["--runtime", "cuda-graph", *extra]).predicted(sweep, [], options)
            rows.append(judged(benchmark, runs, found, name))
    content = {"rows": rows, "left_out": left_out, **summed_up(rows)}
    write_json(pathlib.Path(options.out), "joulecast.accuracy-maxq/1", content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
