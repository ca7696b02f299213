#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""joulecast profile --slurm on a real Slurm, into files and a real PostgreSQL: nodes and the database die and come back.

    with_postgresql.sh profile_test.py <joulecast> <folder of the stand-in> [test name...]

The runner is one that runs nothing (tests/profile/fake_runner.py). Exit code 77: Slurm or PostgreSQL is not installed.
"""
import collections
import csv
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time

import case
from cluster import skip_without_slurm

RUNNER = pathlib.Path(__file__).resolve().parent.parent / "profile" / "fake_runner.py"
OPERATIONS = 24
STORE = os.environ.get("JOULECAST_TEST_POSTGRESQL", "")


class ProfileOnSlurm(case.SlurmCase):
    nodes, gpus = 2, 2

    def scenario(self, node):
        # Whose GPU it was can be seen from the power.
        return "".join(f"[[gpu]]\nload = {{constant_w = {100 * node + 10 * gpu}}}\n" for gpu in (1, 2))

    def setUp(self):
        super().setUp()
        lines = [f'activation,"f32[{number}, 64]"' for number in range(1, OPERATIONS + 1)]
        (self.folder / "list.csv").write_text("\n".join(["operator,operands", *lines]) + "\n")
        self.own |= {"FAKE_LOG": str(self.folder / "prepared")}
        self.store = f"{STORE}&options=-csearch_path%3D{self._testMethodName}"
        self.psql(f"create schema {self._testMethodName}")

    @staticmethod
    def psql(statement):
        done = subprocess.run(["psql", "-At", STORE, "-c", statement], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def submit(self, shards, *options):
        return self.joulecast("profile", "--operations", "list.csv", "--gpu", "0", "--name", "h100", "--runner", RUNNER, "-o", "out",
                              "--store", self.store, "--slurm", shards, *options).stdout

    def cases(self):
        """Ids of what was measured, as often as it was."""
        out = collections.Counter()
        for path in (self.folder / "out").glob("shard-*/cases.jsonl"):
            lines = path.read_text().split("\n")[:-1]
            out.update(case["id"] for case in map(json.loads, lines) if case["status"] == "measured")
        return out

    def rows(self):
        with open(self.folder / "out" / "measurements.csv", newline="") as file:
            return list(csv.DictReader(file))

    def stored(self):
        shown = self.joulecast("dataset", "export", self.store).stdout
        return list(csv.DictReader(shown.splitlines()))

    def assert_each_once(self):
        operands = sorted(row["operands"] for row in self.rows())
        self.assertEqual(operands, sorted(f"f32[{number}, 64]" for number in range(1, OPERATIONS + 1)), self.said())
        self.assertEqual(sorted(row["operands"] for row in self.stored()), operands)

    def test_shards_share_the_gpus_and_become_one_table(self):
        self.assertIn("Submitted batch job", self.submit(4))
        self.cluster.wait_for_no_jobs()
        self.assert_each_once()
        self.assertEqual(set(self.cases().values()), {1})
        # Tasks had GPUs of both machines, each the power of its own: to what a counter's steps seen late on a busy machine cost.
        machines = set()
        for row in self.rows():
            power, error = float(row["power_w"]), float(row["power_se_w"])
            machine = 100 * round(power / 100)
            self.assertLess(abs(power - machine - 15), max(25, 3 * error), row)
            machines.add(machine)
        self.assertEqual(machines, {100, 200})
        self.submit(4)
        self.cluster.wait_for_no_jobs()
        self.assert_each_once()
        self.assertEqual(set(self.cases().values()), {1})

    def test_a_node_that_dies_leaves_a_shard_that_is_taken_up_again(self):
        self.submit(2, "--sbatch=--exclusive")
        self.wait_until(lambda: len(self.cases()) >= 4, 90, "nothing is measured")
        node = next(int(node[1:]) for state, node in self.cluster.jobs().values() if state == "RUNNING")
        self.cluster.kill_node(node)
        before = self.cases()
        self.cluster.wait_for_no_jobs()
        self.assert_each_once()
        # What was on the disk when the node died was not measured again.
        self.assertEqual(set(self.cases().values()), {1})
        self.assertLess(sum(before.values()), OPERATIONS)
        self.cluster.restart_node(node)
        self.cluster.wait_for_nodes("idle", node)

    def test_a_database_that_is_started_again_loses_nothing(self):
        self.submit(2)
        self.wait_until(lambda: len(self.cases()) >= 4, 90, "nothing is measured")
        self.database("-m", "immediate", "stop")
        self.wait_until(lambda: "again in" in self.said(), 90, "nobody missed the database")
        time.sleep(1)
        self.database("start")
        self.cluster.wait_for_no_jobs()
        self.assert_each_once()

    @staticmethod
    def database(*words):
        command = shlex.split(os.environ["JOULECAST_TEST_POSTGRESQL_CONTROL"]) + list(words)
        subprocess.run(command, check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    skip_without_slurm()
    case.main(ProfileOnSlurm, sys.argv)
