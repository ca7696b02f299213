#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A runner in front of a real one: everything is prepared and run, but once where many iterations are asked for, and
with two copies of its weights where there would be hundreds. That one iteration fills a window, by waiting: what began
before it was asked for, or ends after the reply, is refused.

JOULECAST_RUNNER   the real one
"""
import os
import re
import subprocess
import sys
import time

WINDOW_US = 110_000


def now_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


real = subprocess.Popen([os.environ["JOULECAST_RUNNER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
for line in sys.stdin:
    if line.startswith("run"):
        begin = now_us()
        real.stdin.write("run iterations=1\n")
        reply = real.stdout.readline()
        if reply.startswith("ok"):
            time.sleep(max(0, begin + WINDOW_US - now_us()) * 1e-6)
            reply = f"ok iterations=1 begin_us={begin} end_us={now_us()} host_s=0.1\n"
    else:
        real.stdin.write(re.sub("copies_most=[0-9]+", "copies_most=2", line))
        if line.startswith("prepare"):
            for more in sys.stdin:
                real.stdin.write(more)
                if more == "end\n":
                    break
        real.stdin.flush()
        reply = real.stdout.readline()
    if not reply:
        sys.exit(1)
    print(reply, end="", flush=True)
