#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What measuring promises, on the GPU of this machine; skipped where there is none.

    device_test.py joulecast

JOULECAST_DEVICE_LOAD   a command that keeps the GPU busy for a minute or more (default: nothing, the GPU idles)
JOULECAST_DEVICE_SECONDS   how long the buffer is watched for lost samples (default 60; the promise is for 600)
JOULECAST_DEVICE_WORK   a command that does a fixed amount of work on the GPU and prints the seconds that took as its last
                        line (default: products of matrices with PyTorch, where it is installed and sees the GPU)
JOULECAST_DEVICE_PAIRS   how often that is run measured and unmeasured (default 15)
"""

import ctypes
import json
import os
import shlex
import subprocess
import sys
import time
import unittest

from slowdown import run_pairs, seconds_of, slowdown, text, verdict

JOULECAST = sys.argv[1]
LOAD = shlex.split(os.environ.get("JOULECAST_DEVICE_LOAD", ""))
WORK = shlex.split(os.environ.get("JOULECAST_DEVICE_WORK", ""))
PAIRS = int(os.environ.get("JOULECAST_DEVICE_PAIRS", "15"))
SECONDS = float(os.environ.get("JOULECAST_DEVICE_SECONDS", "60"))
SKIPPED = 77
ALLOWED_PERCENT = 0.1
PRODUCTS = """
import sys, time, torch
a = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
def work(count):
    for _ in range(count):
        a @ a
    torch.cuda.synchronize()
work(50)
begin = time.perf_counter()
work(int(sys.argv[1]))
print(time.perf_counter() - begin)
"""


def products_of_five_seconds():
    """None without PyTorch on a GPU."""
    command, few = [sys.executable, "-c", PRODUCTS], 500
    try:
        return command + [str(round(5 / seconds_of(command + [str(few)]) * few))]
    except subprocess.CalledProcessError:
        return None


def has_gpu():
    try:
        return ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() == 0
    except OSError:
        return False


def measured(seconds, *options):
    done = subprocess.run([JOULECAST, "measure", "--json", "--gpu", "0", *options, "--", "sleep", str(seconds)],
                          capture_output=True, text=True, timeout=seconds + 60, check=True)
    return json.loads(done.stderr)


class Device(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.load = subprocess.Popen(LOAD, stdout=subprocess.DEVNULL) if LOAD else None
        time.sleep(10 if LOAD else 0)

    @classmethod
    def tearDownClass(cls):
        if cls.load:
            cls.load.kill()
            cls.load.wait()

    def test_counter_and_integral_agree_within_a_hundredth_over_ten_seconds(self):
        sources = {one["source"]: one["energy_j"] for one in measured(10)["devices"][0]["runs"][0]["sources"]}
        if "nvml-counter" not in sources:
            self.skipTest("this GPU has no energy counter")
        others = [name for name in ("nvml-buffer", "nvml-instant") if name in sources]
        self.assertTrue(others)
        self.assertAlmostEqual(sources[others[0]] / sources["nvml-counter"], 1, delta=0.01)

    def test_no_sample_of_the_buffer_is_lost(self):
        warnings = measured(SECONDS)["warnings"]
        self.assertEqual([text for text in warnings if "ran over" in text], [])

    def test_costs_less_than_half_a_percent_of_a_core(self):
        short, long = (measured(seconds, "-I", "20")["end"]["recorder"] for seconds in (1, 21))
        self.assertLess((long["cpu_s"] - short["cpu_s"]) / (long["time_s"] - short["time_s"]), 0.005)

    def test_slows_the_workload_down_by_less_than_a_thousandth(self):
        if LOAD:
            self.skipTest("JOULECAST_DEVICE_LOAD would be in the way")
        work = WORK or products_of_five_seconds()
        if not work:
            self.skipTest("no JOULECAST_DEVICE_WORK, and no PyTorch that sees the GPU")
        found = slowdown(run_pairs(JOULECAST, work, PAIRS, ("--gpu", "0")))
        print(f"slow-down: {text(found)}", flush=True)
        judged = verdict(*found[1:], ALLOWED_PERCENT)
        if judged == "unknown":
            self.skipTest(f"the runs differ too much to tell: {text(found)}; set JOULECAST_DEVICE_PAIRS to more")
        self.assertEqual(judged, "less", text(found))


if __name__ == "__main__":
    if not has_gpu():
        print("skipped: no NVIDIA GPU here")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
