#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much a program is slowed down by being measured.

    slowdown.py joulecast PAIRS COMMAND...

The command does a fixed amount of work and prints, as its last line, the seconds that took: what measuring adds before
and after is no slow-down. It is run measured and unmeasured in turns, so that what drifts meanwhile (clocks, heat) is in
both. Prints the slow-down in percent with its 95 % interval.
"""
import random
import statistics
import subprocess
import sys

RESAMPLED = 1000


def seconds_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    return float(done.stdout.split()[-1])


def run_pairs(joulecast, command, count, options=()):
    """[(unmeasured, measured)] in seconds; which of a pair comes first changes from pair to pair."""
    measured = [joulecast, "measure", "--quiet", *options, "--", *command]
    seconds_of(command)  # caches are warm for all that follow
    out = []
    for pair in range(count):
        if pair % 2:
            second, first = seconds_of(measured), seconds_of(command)
        else:
            first, second = seconds_of(command), seconds_of(measured)
        out.append((first, second))
    return out


def percent(pairs):
    """Of the medians."""
    unmeasured, measured = (statistics.median(column) for column in zip(*pairs))
    return 100 * (measured / unmeasured - 1)


def slowdown(pairs, seed=1):
    """Slow-down in percent, and from where to where it is with 95 % confidence: whole pairs are drawn again and again."""
    draw = random.Random(seed)
    drawn = sorted(percent(draw.choices(pairs, k=len(pairs))) for _ in range(RESAMPLED))
    return percent(pairs), drawn[int(0.025 * RESAMPLED)], drawn[int(0.975 * RESAMPLED)]


def verdict(low, high, allowed):
    """"less", "more", or "unknown": the runs differ too much among themselves to tell."""
    return "less" if high < allowed else "more" if low > allowed else "unknown"


def text(found):
    return f"{found[0]:+.3f} % ({found[1]:+.3f} to {found[2]:+.3f} %)"


if __name__ == "__main__":
    PAIRS = run_pairs(sys.argv[1], sys.argv[3:], int(sys.argv[2]))
    FOUND = slowdown(PAIRS)
    print(f"{text(FOUND)} of {statistics.median(first for first, _ in PAIRS):.4g} s, {len(PAIRS)} pairs, "
          f"than 0.1 %: {verdict(*FOUND[1:], 0.1)}")
