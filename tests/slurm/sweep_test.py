#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""joulecast sweep --slurm on a real Slurm: nodes share the work, die and come back.

    sweep_test.py <joulecast> <folder of the stand-in> [test name...]

Exit code 77: Slurm is not installed, and nothing was tested.
"""
import json
import os
import signal
import sys

import case
from cluster import skip_without_slurm


class SweepOnSlurm(case.SlurmCase):
    def plan(self, text, name="plan.toml"):
        (self.folder / name).write_text(text)

    def submit(self, *options):
        return self.joulecast("sweep", "plan.toml", "--slurm", *options).stdout

    def records(self, folder="plan"):
        files = [path for path in (self.folder / folder).glob("*.json")
                 if path.name != "sweep.json" and ".attempt" not in path.name]
        return {path.stem: json.loads(path.read_text()) for path in files}

    def result(self, folder="plan"):
        done = self.joulecast("sweep", "--result", folder, "--json")
        return json.loads(done.stdout), " ".join(done.stderr.split())

    def node_of(self, repetition):
        """The node on which that repetition runs now."""
        names = [node for task, (state, node) in self.cluster.jobs().items()
                 if task.endswith(f"_{repetition}") and state == "RUNNING"]
        return int(names[0][1:]) if names else None

    def started(self):
        """What each start of the command says of itself, oldest first."""
        path = self.folder / "started"
        return path.read_text().split() if path.exists() else []

    def wait_for_second_run_of(self, repetition):
        """Of two runs of a repetition one is finished, and the command of the other runs."""
        self.wait_until(lambda: len([name for name in self.records() if name.endswith(f"_r{repetition:02}")]) == 1
                        and self.started().count(str(repetition)) == 2, 60, "no second run")

    def assert_all_put_back(self):
        for node in range(1, self.nodes + 1):
            if self.settings(node):
                self.assertEqual(self.settings(node)[-1], case.LIMIT_MW, f"node {node}")
        self.assertEqual(self.journals(), [])

    def two_runs_each(self, repetitions, more=""):
        """Commands that say when they start."""
        self.plan('command = "echo $SLURM_ARRAY_TASK_ID >> started; exec sleep 4"\npower_limits_w = [300, 400]\n'
                  f'repetitions = {repetitions}\n{more}')

    def assert_whole(self, repetitions):
        records = self.records()
        self.assertEqual(len(records), 2 * repetitions, self.said())
        self.assertTrue(all(record["code"] == 0 and record["held"] for record in records.values()), records)

    def test_nodes_share_the_work_and_results_merge_by_themselves(self):
        self.plan('command = "sleep 1"\npower_limits_w = [300, 400, "found"]\nrepetitions = 3\nbaseline_s = 0.2\n')
        self.assertIn("Submitted batch job", self.submit())
        self.cluster.wait_for_no_jobs()
        records = self.records()
        self.assertEqual(len(records), 9, self.said())
        for repetition in 1, 2, 3:
            hosts = {record["host"] for record in records.values() if record["repetition"] == repetition}
            self.assertEqual(len(hosts), 1, hosts)
        if self.cluster.own_hosts:
            self.assertEqual({record["host"] for record in records.values()}, {"n1", "n2", "n3"})
        self.assertEqual([len(self.settings(node)) > 1 for node in (1, 2, 3)], [True] * 3)
        self.assert_all_put_back()
        result, notes = self.result()
        self.assertNotIn("several machines", notes)
        for setting, watts in zip(result["groups"][0]["settings"], (300, 400, 600)):
            self.assertAlmostEqual(setting["power_w"], watts, delta=0.05 * watts)
            self.assertEqual(setting["energy_j"]["n"], 3)

    def test_a_node_that_dies_loses_only_its_run_and_is_restored_when_it_is_back(self):
        self.two_runs_each(2)
        self.submit()
        self.wait_for_second_run_of(2)
        (finished,) = [name for name in self.records() if name.endswith("_r02")]
        before = (self.folder / "plan" / f"{finished}.jcrun").read_bytes()
        node = self.node_of(2)
        self.cluster.kill_node(node)
        self.cluster.wait_for_no_jobs()
        self.assert_whole(2)
        self.assertEqual((self.folder / "plan" / f"{finished}.jcrun").read_bytes(), before)
        self.assertEqual((self.started().count("1"), self.started().count("2")), (2, 3))
        (half,) = (self.folder / "plan").glob("*.attempt1.jcrun")
        self.assertIn("_r02", half.name)
        self.joulecast("analyze", half)
        # What the dead one had set is still set there, and only it can put that back.
        self.assertNotEqual(self.settings(node)[-1], case.LIMIT_MW)
        self.assertEqual(len(self.journals()), 1)
        if self.cluster.own_hosts:
            self.assertIn(f"of machine n{node}", " ".join(self.on_node(node % 3 + 1, "restore").split()))
            self.assertIn("repetition 2 was measured on several machines", self.result()[1])
        self.cluster.restart_node(node)
        self.cluster.wait_for_nodes("idle", node)
        self.assertIn("power limit 700 W", self.on_node(node, "restore"))
        self.assert_all_put_back()

    def test_the_task_that_comes_back_to_its_node_puts_back_first(self):
        self.two_runs_each(1, 'slurm_options = ["--nodelist=n2", "--open-mode=append"]\n')
        self.submit()
        self.wait_for_second_run_of(1)
        self.cluster.kill_node(2)
        self.cluster.restart_node(2)
        self.cluster.wait_for_no_jobs()
        self.assertIn("put back first what a dead program left", " ".join(self.said().split()))
        self.assert_whole(1)
        self.assertEqual(self.started().count("1"), 3)
        self.assert_all_put_back()

    def test_a_job_that_is_cancelled_puts_back_and_goes_on_when_submitted_again(self):
        self.two_runs_each(1)
        job = self.submit().split()[-1]
        self.wait_for_second_run_of(1)
        self.run_it("scancel", job)
        self.cluster.wait_for_no_jobs()
        self.wait_until(lambda: not self.journals(), 10, "journals stay")
        self.assert_all_put_back()
        self.assertEqual(len(self.records()), 1)
        self.submit()
        self.cluster.wait_for_no_jobs()
        self.assert_whole(1)
        self.assertEqual(self.started().count("1"), 3)
        self.assert_all_put_back()

    def test_submitted_twice_measures_nothing_twice(self):
        self.two_runs_each(1)
        self.submit()
        self.wait_until(lambda: len(self.started()) == 1, 60, "no run")
        self.submit()
        self.cluster.wait_for_no_jobs()
        self.assertIn("repetition 1 is being measured by another process", " ".join(self.said().split()))
        self.assert_whole(1)
        self.assertEqual(self.started().count("1"), 2)
        self.assertEqual(list((self.folder / "plan").glob("*attempt*")), [])
        self.assert_all_put_back()

    def test_a_job_that_slurm_takes_for_lost_is_not_measured_by_a_second_one(self):
        self.plan('command = "echo $SLURM_ARRAY_TASK_ID >> started; exec sleep 35"\npower_limits_w = [300]\n'
                  'repetitions = 1\nslurm_options = ["--open-mode=append"]\n')
        self.submit()
        self.wait_until(lambda: len(self.started()) == 1, 60, "no run")
        slurmd = self.cluster.cut_off_node(self.node_of(1))
        self.wait_until(lambda: "is being measured by another process" in " ".join(self.said().split()), 60, "not begun again")
        self.wait_until(lambda: len(self.records()) == 1, 60, "the first does not go on")
        os.kill(slurmd, signal.SIGCONT)
        self.cluster.wait_for_nodes("idle", 1, 2, 3)
        self.assertEqual(len(self.started()), 1)
        self.assertEqual([record["code"] for record in self.records().values()], [0])
        self.wait_until(lambda: not self.journals(), 10, "journals stay")
        self.assert_all_put_back()

    def test_all_gpus_of_a_job_of_many_tasks_are_set_and_measured(self):
        for node in range(1, self.nodes + 1):
            (self.node_folder(node) / "scenario.toml").write_text(
                "allow_set = true\n[[gpu]]\ncount = 2\nload = {constant_w = 600}\n")
        self.plan('command = "sleep 1"\npower_limits_w = [300]\nrepetitions = 1\nslurm_options = ["--ntasks=4"]\n')
        self.submit()
        self.cluster.wait_for_no_jobs()
        (record,) = self.records().values()
        self.assertEqual(len(record["found"]), 2, self.said())
        self.assertAlmostEqual(self.result()[0]["groups"][0]["settings"][0]["power_w"], 600, delta=30)

    def test_runs_go_where_the_command_line_says(self):
        self.plan('command = "sleep 0.5"\nrepetitions = 1\n')
        self.submit("--output", "an other 100% \"folder\"")
        self.cluster.wait_for_no_jobs()
        self.assertEqual(len(self.records("an other 100% \"folder\"")), 1, self.said())
        self.assertFalse((self.folder / "plan").exists())
        self.assertEqual(len(list((self.folder / "an other 100% \"folder\"").glob("slurm-*.out"))), 1)

    def test_what_failed_is_run_again_where_that_is_asked_for(self):
        self.plan('command = "test -e good"\nrepetitions = 1\n')
        self.submit()
        self.cluster.wait_for_no_jobs()
        self.assertEqual([record["code"] for record in self.records().values()], [1])
        (self.folder / "good").touch()
        self.submit()
        self.cluster.wait_for_no_jobs()
        self.assertEqual([record["code"] for record in self.records().values()], [1])
        self.submit("--retry-failed")
        self.cluster.wait_for_no_jobs()
        self.assertEqual([record["code"] for record in self.records().values()], [0])

    def test_several_plans_of_a_file_are_one_job_array(self):
        (self.folder / "benchmarks").mkdir()
        for name in "ab":
            (self.folder / f"{name}.py").write_text(f"open('started', 'a').write('{name} ')")
            (self.folder / "benchmarks" / f"{name}.yaml").write_text(f"module: {name}\n")
        (self.folder / "plan.yaml").write_text("name: both\nrepeat: 2\nbaseline_length: 0\nbenchmarks: [a, b]\n")
        self.joulecast("sweep", "plan.yaml", "--slurm")
        self.cluster.wait_for_no_jobs()
        self.assertEqual(sorted(self.started()), ["a", "a", "b", "b"], self.said())
        self.assertEqual([len(self.records(f"both/both/{name}")) for name in "ab"], [2, 2])


if __name__ == "__main__":
    skip_without_slurm()
    case.main(SweepOnSlurm, sys.argv)
