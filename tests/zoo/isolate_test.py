#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The limits under which the zoo exports networks."""
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from zoo import isolate  # noqa: E402


def computes_for_ever():
    while True:
        pass


def sleeps():
    time.sleep(1.5)
    return {"slept": True}


def allocates():
    return {"bytes": len(bytearray(2**30))}


class Isolate(unittest.TestCase):
    def fails(self, function, timeout_s=60, memory_gib=4):
        with self.assertRaises(isolate.ChildFailed) as caught:
            isolate.run(function, timeout_s, memory_gib)
        return str(caught.exception)

    def test_a_result_comes_back(self):
        self.assertEqual(isolate.run(lambda: {"a": [1]}, 60, 4), {"a": [1]})

    def test_computing_ends_at_the_limit(self):
        self.assertEqual(self.fails(computes_for_ever, timeout_s=1), "timeout after 1 s of processor time")

    def test_waiting_does_not_count(self):
        self.assertEqual(isolate.run(sleeps, 1, 4), {"slept": True})

    def test_memory_ends_at_the_limit(self):
        self.assertIn("MemoryError", self.fails(allocates, memory_gib=0.5))

    def test_an_error_says_where(self):
        self.assertRegex(self.fails(lambda: {"x": {}["no"]}), r"KeyError: 'no' \[isolate_test.py:\d+\]")


if __name__ == "__main__":
    unittest.main()
