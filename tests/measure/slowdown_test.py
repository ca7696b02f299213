#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The judgement of slowdown.py, on made-up times: it neither sees what is not there nor misses what is."""
import pathlib
import random
import sys
import tempfile
import unittest

from slowdown import run_pairs, slowdown, verdict


def made_up(effect, noise, count=15, seed=0):
    """Pairs that drift together by far more than they differ."""
    draw = random.Random(seed)
    return [((base := 10 * (1 + 0.0002 * i)) * draw.gauss(1, noise), base * (1 + effect) * draw.gauss(1, noise))
            for i in range(count)]


def verdicts(effect, noise):
    found = [slowdown(made_up(effect, noise, seed=seed))[1:] for seed in range(20)]
    return [verdict(*interval, 0.1) for interval in found]


class Slowdown(unittest.TestCase):
    def test_of_nothing_is_less(self):
        self.assertGreaterEqual(verdicts(0, 2e-4).count("less"), 18)

    def test_of_half_a_percent_is_more(self):
        self.assertGreaterEqual(verdicts(0.005, 2e-4).count("more"), 18)

    def test_in_noise_is_unknown(self):
        self.assertLessEqual(verdicts(0, 0.02).count("more"), 2)
        self.assertLessEqual(verdicts(0.005, 0.02).count("less"), 2)

    def test_both_sides_run_the_command_and_take_turns(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            program = pathlib.Path(folder, "joulecast")
            program.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nMEASURED=1 exec "$@"\n')
            program.chmod(0o755)
            command = ["sh", "-c", f'echo ${{MEASURED:-0}} >> {log}; echo said; echo 1.${{MEASURED:-0}}']
            self.assertEqual(run_pairs(str(program), command, 2), [(1.0, 1.1), (1.0, 1.1)])
            self.assertEqual(log.read_text().split(), ["0", "0", "1", "1", "0"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
