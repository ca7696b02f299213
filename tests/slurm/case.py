# SPDX-License-Identifier: Apache-2.0
"""joulecast on the nodes of a Cluster, each with GPUs of its own from the stand-in of tests/nvml."""
import os
import pathlib
import shutil
import unittest

from cluster import Cluster, wait_until

# What differs from node to node. Users' homes are on every node: where the nodes have no names of their own, what is
# told apart by them there needs a folder each.
PROLOG = """
here=$JOULECAST_TEST_NODES/$SLURMD_NODENAME
echo "export JOULECAST_STANDIN_STATE=$here/state"
echo "export JOULECAST_STANDIN=$here/scenario.toml"
[ -n "$JOULECAST_TEST_ONE_HOME" ] || echo "export XDG_STATE_HOME=$here/home"
"""
LIMIT_MW = "700000"  # of the stand-in, as found


class SlurmCase(unittest.TestCase):
    """One cluster for all tests of a class; every test has a folder that all nodes see."""

    program = standin = None  # set by the program
    nodes, gpus = 3, 0

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=cls.nodes, gpus=cls.gpus, task_prolog=PROLOG)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def setUp(self):
        self.folder = self.cluster.folder / self._testMethodName
        self.folder.mkdir()
        own = {"LD_LIBRARY_PATH": self.standin, "JOULECAST_TEST_NODES": str(self.folder / "nodes")}
        if self.cluster.own_hosts:
            own |= {"JOULECAST_TEST_ONE_HOME": "1", "XDG_STATE_HOME": str(self.folder / "home")}
        self.own = own
        for node in range(1, self.nodes + 1):
            self.node_folder(node).mkdir(parents=True)
            (self.node_folder(node) / "scenario.toml").write_text(self.scenario(node))

    def tearDown(self):
        self.cluster.run("scancel", "--user", str(os.getuid()), check=False)
        self.cluster.wait_for_no_jobs()
        shutil.rmtree(self.folder)

    def scenario(self, node):
        return "allow_set = true\n[[gpu]]\nload = {constant_w = 600}\n"

    def node_folder(self, node):
        return self.folder / "nodes" / self.cluster.name(node)

    def run_it(self, *command, code=0, **options):
        done = self.cluster.run(*map(str, command), env=self.own | options.pop("env", {}), cwd=self.folder, check=False,
                                **options)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}\n{self.said()}")
        return done

    def joulecast(self, *arguments, **options):
        return self.run_it(self.program, *arguments, **options)

    def on_node(self, node, *arguments):
        """joulecast there, outside of any job; text of stdout and stderr."""
        here = self.node_folder(node)
        own = self.own | {"JOULECAST_STANDIN_STATE": str(here / "state"), "JOULECAST_STANDIN": str(here / "scenario.toml")}
        own.setdefault("XDG_STATE_HOME", str(here / "home"))
        done = self.cluster.on_node(node, self.program, *arguments, env=own)
        return done.stdout + done.stderr

    def settings(self, node, key="power_limit_mw"):
        """All that was set on a node's GPUs, oldest first."""
        state = self.node_folder(node) / "state"
        lines = [line.split() for line in state.read_text().splitlines()[1:]] if state.exists() else []
        return [" ".join(line[3:]) for line in lines if len(line) > 3 and line[2] == key]

    def journals(self):
        return sorted(self.folder.rglob("restore/*.json"))

    def said(self):
        return "\n".join(f"--- {path.name}\n{path.read_text()}" for path in sorted(self.folder.rglob("slurm-*.out")))

    def wait_until(self, condition, seconds, what):
        wait_until(condition, seconds, lambda: f"{what}\n{self.cluster.jobs()}\n{self.said()}")


def main(case, words):
    """[program] [folder of the stand-in] [test...]"""
    SlurmCase.program, SlurmCase.standin = (str(pathlib.Path(word).resolve()) for word in words[1:3])
    unittest.main(module=case.__module__, argv=[words[0], *(f"{case.__name__}.{name}" for name in words[3:])])
