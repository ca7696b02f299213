#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows in data/measured are read, learnt from, and tell of operations that were left out.

measured_test.py <joulecast> <data/measured>
"""
import csv
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM, DATA = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])


class Measured(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="measured_")
        self.folder = pathlib.Path(self.temporary.name)

    def tearDown(self):
        self.temporary.cleanup()

    def run_it(self, *words):
        done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=self.folder, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def median_error(self, *options):
        self.run_it("evaluate", "judged.csv", "--gpu-file", f"{DATA}/xeon-1-core.toml", "--rows", "rows.csv", *options)
        with open(self.folder / "rows.csv", newline="") as file:
            return statistics.median(abs(float(row["found"]) / float(row["measured"]) - 1) for row in csv.DictReader(file) if row["found"])

    def test_a_fifth_left_out_is_predicted_by_the_rest(self):
        with open(f"{DATA}/xeon-1-core.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "operation" and row["mode"] == "inference"]
        self.assertGreater(len(rows), 1000)
        judged = [row for row in rows if zlib.crc32((row["operator"] + row["operands"] + row["attributes"]).encode()) % 5 == 0]
        for name, part in ("judged.csv", judged), ("learnt.csv", [row for row in rows if row not in judged]):
            with open(self.folder / name, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys())
                writer.writeheader()
                writer.writerows(part)
        self.run_it("train", "learnt.csv", "--gpu-file", f"{DATA}/xeon-1-core.toml", "--quick", "-q", "-o", "own.jcpack")
        before, after = self.median_error(), self.median_error("--pack", "own.jcpack")
        self.assertGreater(before, 0.5)
        self.assertLess(after, 0.1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
