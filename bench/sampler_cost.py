#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reading power costs: `joulecast measure` beside a loop in Python and a process for every reading.

    bench/sampler_cost.py BUILD_FOLDER [--seconds 10] [--python PYTHON]

All against the same stand-in of NVML with eight GPUs, energy and power of each, 50 times a second. PYTHON is one that has
nvidia-ml-py (pip install nvidia-ml-py). nvidia-smi itself asks NVML for functions nobody documents and does not run on a
stand-in; a process that starts, opens NVML, reads once and ends is the least that a loop around it costs.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

RATE = 50
LOOP = """
import sys, time
import pynvml
pynvml.nvmlInit()
devices = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
end = time.monotonic() + float(sys.argv[1])
due = time.monotonic()
ticks = 0
while due < end:
    for device in devices:
        pynvml.nvmlDeviceGetPowerUsage(device)
        pynvml.nvmlDeviceGetTotalEnergyConsumption(device)
    ticks += 1
    due += 1 / float(sys.argv[2])
    time.sleep(max(0.0, due - time.monotonic()))
print(ticks)
"""


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost(command, environment):
    before = cpu_of_children()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return cpu_of_children() - before, done


def joulecast_tick(program, seconds, environment):
    """The cost of starting and ending is that of a run of half a second; the rest is ticks."""

    def run(length):
        command = [program, "measure", "--json", "-I", str(1000 / RATE), "--", "sleep", str(length)]
        return json.loads(cost(command, environment)[1].stderr)["end"]["recorder"]

    short, long = run(0.5), run(seconds)
    return (long["cpu_s"] - short["cpu_s"]) / ((long["time_s"] - short["time_s"]) * RATE)


def python_tick(python, seconds, environment):
    def run(length):
        cpu, done = cost([python, "-c", LOOP, str(length), str(RATE)], environment)
        return cpu, int(done.stdout)

    (few_cpu, few), (many_cpu, many) = run(0.5), run(seconds)
    return (many_cpu - few_cpu) / (many - few)


def process_tick(program, environment):
    times = 20
    return sum(cost([program], environment)[0] for _ in range(times)) / times


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", type=Path)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--python", default=sys.executable)
    given = options.parse_args()
    root = Path(__file__).resolve().parent.parent
    environment = os.environ | {
        "LD_LIBRARY_PATH": str(given.build.resolve() / "nvml_standin"),
        "JOULECAST_STANDIN": str(root / "tests/nvml/scenarios/eight_h100.toml"),
    }
    ours = joulecast_tick(given.build / "joulecast", given.seconds, environment)
    print(f"joulecast measure: {ours * 1e6:.0f} us of CPU a tick of 8 GPUs, {ours * RATE:.2%} of a core at {RATE} Hz")
    loop = python_tick(given.python, given.seconds, environment)
    print(f"a loop of pynvml:  {loop * 1e6:.0f} us, {loop / ours:.1f} times as much, and only power and energy")
    once = process_tick(given.build / "bench_nvml_once", environment)
    print(f"a process each:    {once * 1e6:.0f} us, {once / ours:.1f} times as much")


if __name__ == "__main__":
    main()
