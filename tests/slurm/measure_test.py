#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""joulecast measure in jobs of a real Slurm: which GPUs a task, a batch script and a launcher of tasks measure.

    measure_test.py <joulecast> <folder of the stand-in> [test name...]

Exit code 77: Slurm is not installed, and nothing was tested.
"""
import json
import sys

import case
from cluster import skip_without_slurm


class MeasureInSlurm(case.SlurmCase):
    nodes, gpus = 2, 2

    def scenario(self, node):
        """Every GPU of the cluster has a power of its own: 100 and 200 W on n1, 300 and 400 W on n2."""
        return "".join(f'[[gpu]]\nuuid = "GPU-{node}{gpu}000000-0000-0000-0000-000000000000"\n'
                       f"load = {{constant_w = {200 * (node - 1) + 100 * (gpu + 1)}}}\n" for gpu in range(2))

    def srun(self, *words):
        return self.run_it("srun", *words)

    def measured(self, *options):
        return (self.program, "measure", "--quiet", "-o", "run-{rank}.jcrun", *options, "--", "sleep", "2")

    def analyzed(self, *names):
        return json.loads(self.joulecast("analyze", "--json", *names).stdout)

    def power(self, name):
        """Of all GPUs of a recording, in hundreds of watts."""
        (run,) = self.analyzed(name)["runs"]
        gpus = [one for one in run["devices"] if one["device"].startswith("gpu")]
        return [round(one["power_w"]["mean"] / 100) for one in gpus]

    def assert_is_the_job(self, gpus=4):
        ranks = sorted(self.folder.glob("run-*.jcrun"))
        job = self.analyzed(*ranks)["job"]
        self.assertEqual((job["ranks"], job["gpus"]), (len(ranks), gpus))
        self.assertAlmostEqual(job["energy_j"] / job["time_s"], 1000, delta=60)

    def test_tasks_with_a_gpu_each_measure_theirs(self):
        self.srun("-N2", "-n4", "--gpus-per-task=1", *self.measured())
        self.assertEqual([self.power(f"run-{rank}.jcrun") for rank in range(4)], [[1], [2], [3], [4]])
        self.assert_is_the_job()

    def test_tasks_that_see_all_gpus_of_their_node_measure_one_each(self):
        self.srun("-N2", "-n4", "--ntasks-per-node=2", "--gpus-per-node=2", *self.measured())
        self.assertEqual([self.power(f"run-{rank}.jcrun") for rank in range(4)], [[1], [2], [3], [4]])
        self.assert_is_the_job()

    def test_a_task_alone_on_its_node_measures_all_its_gpus(self):
        self.srun("-N2", "-n2", "--gpus-per-node=2", *self.measured())
        self.assertEqual([self.power(f"run-{rank}.jcrun") for rank in range(2)], [[1, 2], [3, 4]])
        self.assert_is_the_job()

    def test_a_batch_script_measures_all_gpus_of_its_node(self):
        script = self.folder / "job.sh"
        script.write_text("#!/bin/sh\nexec " + " ".join(self.measured()).replace("-{rank}", "") + "\n")
        self.run_it("sbatch", "--wait", "-N1", "-n4", "--gpus-per-node=2", "--nodelist=n2", "-o", "slurm-job.out", script)
        self.assertEqual(self.power("run.jcrun"), [3, 4], self.said())

    def test_ranks_of_two_steps_of_a_job_are_not_taken_for_one_run(self):
        script = self.folder / "job.sh"
        words = " ".join(self.measured("-f")).replace("run-", "$1-").replace("sleep 2", "sleep 0.3")
        script.write_text(f"#!/bin/sh\nstep() {{ srun -n2 {words}; }}\nstep a && step b\n")
        self.run_it("sbatch", "--wait", "-N1", "-n2", "--gpus-per-node=2", "-o", "slurm-job.out", script)
        self.assertEqual(self.analyzed("a-0.jcrun", "a-1.jcrun")["job"]["ranks"], 2, self.said())
        self.assertNotIn("job", self.analyzed("a-0.jcrun", "b-1.jcrun"))

    def test_a_node_that_dies_leaves_what_its_tasks_recorded(self):
        script = self.folder / "job.sh"
        words = " ".join(self.measured()).replace("sleep 2", "sleep 60")
        script.write_text(f"#!/bin/sh\nsrun {words}\n")
        self.run_it("sbatch", "--no-requeue", "-N2", "--ntasks-per-node=2", "--gpus-per-node=2", "-o", "slurm-job.out", script)
        names = [self.folder / f"run-{rank}.jcrun" for rank in range(4)]
        self.wait_until(lambda: all(name.exists() and name.stat().st_size > 8000 for name in names), 60, "no recordings")
        self.cluster.kill_node(2)
        self.cluster.wait_for_no_jobs()
        self.cluster.restart_node(2)
        self.assertEqual([self.power(name) for name in names], [[1], [2], [3], [4]])
        self.assertEqual(self.analyzed(*names)["job"]["ranks"], 4)
        self.cluster.wait_for_nodes("idle", 1, 2)


if __name__ == "__main__":
    skip_without_slurm()
    case.main(MeasureInSlurm, sys.argv)
