#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runners in Python on real networks, and what they say to what they cannot do.

python_test.py <joulecast> <folder with model files> <torch|onnxruntime> [Class.test...]; skipped where the library is not
there (python_runners.py). Every operation of the networks and these themselves have to run and to make the shapes of the
program.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

import python_runners

LIBRARY = sys.argv[3]
python_runners.use_interpreter(*{"torch": ("torch",), "onnxruntime": ("numpy", "onnx", "onnxruntime")}[LIBRARY])
PROGRAM, EXAMPLES = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
HERE = python_runners.HERE
HELLO = "hello protocol=1 device=cpu threads=1\n"
COMPILED = "hello protocol=1 device=cpu threads=1 runtime=pytorch-compiled\n"
CONV = """value input f32 shape=2,8,16,16
value parameter f32 shape=16,8,3,3
value computed f32 shape=2,16,{size},{size}
node conv in=0,1,_ out=2 stride=1,1 dilation=1,1 padding_begin=1,1 padding_end=1,1 groups=1 transposed=0 same_padding=0
output 2
end
"""
NET = """graph "net" {
input %x : f32[N, 64]
parameter %w : f32[32, 64]
%a = linear(%x, %w, _)
%b = activation(%a)
%c = softmax(%b)
output %c
}
"""
MODULES = """
import sys
import torch

class Odd(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 3)
    def forward(self, ids, x):
        print("not for the protocol")
        return {"logits": self.out(self.table(ids) + x), "kept": [x]}

class Breaks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(4, 3)
    def forward(self, x):
        return self.out(x) if float(x.sum()) > 0 else x

made = Odd()
def leaves(): sys.exit(3)
def nothing(): return 7
"""


def runner(name):
    return python_runners.PACKAGE / f"joulecast-run-{name}"


def talk(name, *requests, folder=None):
    done = subprocess.run([runner(name)], input="".join(requests), capture_output=True, text=True, timeout=300, check=True, cwd=folder)
    return done.stdout.splitlines()


def kinds(replies):
    return [re.match("(ok|error kind=[a-z_]+)", reply).group(1).removeprefix("error kind=") for reply in replies]


def words(reply):
    return dict(word.split("=", 1) for word in reply.split()[1:])


class Campaign(unittest.TestCase):
    """Whole campaigns, each case once."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def profile(self, name, *options, code=0, once=True):
        command = HERE / "once.py" if once else runner(name)
        done = subprocess.run([PROGRAM, "profile", *options, "--gpu", "cpu", "--threads", "1", "--runner", command, "-o", "out", "--json", "-q"],
                              cwd=self.folder, env=os.environ | {"JOULECAST_RUNNER": str(runner(name))}, capture_output=True, text=True,
                              timeout=1700)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def failed(self):
        cases = [json.loads(line) for line in (self.folder / "out" / "cases.jsonl").read_text().splitlines()]
        return [case for case in cases if case["status"] == "failed"]


class Both(Campaign):
    """What is the same for every runner."""
    NAME = {"torch": "python-torch", "onnxruntime": "onnxruntime"}[LIBRARY]

    def test_copies_have_memory_of_their_own(self):
        prepare = "prepare kind=operation mode=inference precision=fp32 copies_bytes={} copies_most=500\n"
        replies = talk(self.NAME, HELLO, prepare.format(46080), CONV.format(size=16), "run iterations=25\n",
                       prepare.format(1 << 40), CONV.format(size=16))
        self.assertEqual(replies[1], "ok copies=10 distinct_copies=10 weight_bytes=4608")
        self.assertEqual(replies[3], "ok copies=500 distinct_copies=500 weight_bytes=4608")

    def test_another_shape_than_was_meant_is_refused(self):
        replies = talk(self.NAME, HELLO, "prepare kind=operation\n", CONV.format(size=15), "run iterations=1\n", "run iterations=1\n")
        self.assertRegex(" ".join(replies), "error kind=unsupported text=conv%20makes%20\\[2,%2016,%2016,%2016\\]")
        self.assertIn("nothing%20is%20prepared", replies[3])

    def test_windows_have_edges_and_memory_is_not_made_up(self):
        replies = talk(self.NAME, HELLO, "prepare kind=operation\n", CONV.format(size=16), "run iterations=3\n", "memory\n")
        window = words(replies[2])
        self.assertEqual(window["iterations"], "3")
        self.assertGreater(int(window["end_us"]), int(window["begin_us"]))
        self.assertNotIn("device_s", window)
        self.assertEqual(replies[3], "ok")

    def test_odd_lines_are_answered_and_nothing_ends(self):
        prepare, cases = "prepare kind=operation\n", [
            ("value input f99 shape=1\n", "unsupported"), ("node relu in=7 out=8\n", "protocol"), ("value input f32 shape=-1\n", "protocol"),
            ("value input f32 shape=2\nvalue computed f32 shape=2\nnode bogus in=0 out=1\noutput 1\n", "unsupported"),
            ("value computed f32 shape=2\noutput 0\n", "protocol"), ("value input f32 shape=1e9\n", "protocol"),
            ("value constant i64 shape=3 contents=1,2\n", "protocol"), ("value odd f32\n", "protocol"), ("output 99999999999999999999\n", "protocol"),
            ("value input f32 shape=2\nvalue computed f32 shape=2\nnode unary in= out=1 kind=neg\noutput 1\n", "protocol"),
            ("value input f32 shape=2\nvalue computed f32 shape=2\nnode softmax in=0 out=1 axis=x\noutput 1\n", "protocol"),
            ("value input f32 shape=1000000000,1000000000\nvalue computed f32 shape=1000000000,1000000000\n"
             "node unary in=0 out=1 kind=neg\noutput 1\n", "out_of_memory")]
        replies = talk(self.NAME, "run iterations=1\n", "hello protocol=2\n", "hello protocol=1 device=cpu threads=-1\n",
                       "hello protocol=1 device=tpu:7\n", HELLO, "nonsense\n", "run iterations=1\n", "\n",
                       "prepare mode=both\nend\n", "prepare precision=fp8\nend\n", *(prepare + text + "end\n" for text, _ in cases), "release\n")
        self.assertEqual(kinds(replies), ["protocol"] * 3 + ["unsupported", "ok", "protocol", "protocol", "ok", "protocol", "unsupported",
                                                             *(kind for _, kind in cases), "ok"])

    def test_lines_and_programs_without_an_end_fill_no_memory(self):
        long = "x" * (40 << 20) + "\n"
        replies = talk(self.NAME, HELLO, long, "prepare kind=operation\n", "value input f32 shape=1 contents=" + long, "end\n",
                       "prepare kind=operation\n", "value input bool\n" * 1_000_001, "end\n", "release\n", "prepare kind=operation\n", "value ")
        self.assertEqual(kinds(replies), ["ok", "protocol", "protocol", "protocol", "ok", "protocol"])
        self.assertTrue(all(len(reply) < 7000 for reply in replies))

    def test_a_runtime_it_does_not_have_is_refused(self):
        replies = talk(self.NAME, "hello protocol=1 device=cpu runtime=cuda-graph\n", "release\n")
        self.assertIn("unsupported text=runtime%20cuda-graph:%20this%20runner%20has", replies[0])
        self.assertIn("hello%20comes%20first", replies[1])
        (self.folder / "net.txt").write_text(NET)
        self.assertIn("cuda-graph", self.profile(self.NAME, "net.txt", "--runtime", "cuda-graph", code=1)["error"]["message"])


@unittest.skipUnless(LIBRARY == "torch", "of PyTorch")
class Torch(Campaign):
    def test_all_operations_of_networks_run_and_make_the_shapes_that_are_meant(self):
        result = self.profile("python-torch", *sorted(EXAMPLES.glob("*.onnx")), "--mode", "inference,training")
        self.assertEqual(self.failed(), [])
        self.assertGreater(result["measured"], 1000)

    # Killed while networks are made and while they are measured: what is whole stays, what is not is made again, once.
    @unittest.skipUnless(importlib.util.find_spec("onnx"), "networks are exported with onnx")
    def test_a_killed_campaign_of_the_zoo_goes_on(self):
        out = self.folder / "out"
        command = [PROGRAM, "profile", "--zoo", "recurrent", "--gpu", "cpu", "--for", "120s", "--runner", HERE / "once.py", "-o", out, "-q"]
        environment = os.environ | {"JOULECAST_RUNNER": str(runner("python-torch"))}

        def killed_when(there):
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until = time.monotonic() + 240
            while not there():
                self.assertLess(time.monotonic(), until)
                self.assertIsNone(process.poll())
                time.sleep(0.02)
            process.kill()
            process.wait()

        killed_when(lambda: len(list(out.glob("zoo/recurrent/torchscript/*.onnx"))) >= 2)
        time.sleep(1)  # whoever made networks is gone too
        made = {path: path.stat().st_mtime_ns for path in out.glob("zoo/recurrent/torchscript/*.onnx")}
        known = {entry["file"] for entry in json.loads((out / "zoo/recurrent/summary.json").read_text()).values()}
        journal = out / "cases.jsonl"
        killed_when(lambda: journal.exists() and journal.read_text().count("\n") >= 5)
        before = journal.read_text().splitlines(keepends=True)
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
        for path, when in made.items():
            if str(path.relative_to(out / "zoo/recurrent")) in known:
                self.assertEqual(path.stat().st_mtime_ns, when)
        after = journal.read_text().splitlines(keepends=True)
        whole = [line for line in before if line.endswith("\n")]
        self.assertEqual(after[:len(whole)], whole)
        ids = [json.loads(line)["id"] for line in after]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreater(len(ids), len(whole))

    def test_a_compiled_network_is_a_campaign_of_its_own(self):
        (self.folder / "net.txt").write_text(NET)
        options = ("net.txt", "--shapes", "x:8x64", "--mode", "inference,training")
        result = self.profile("python-torch", *options, "--runtime", "pytorch-compiled")
        self.assertEqual((result["failed"], self.failed()), (0, []))
        self.assertEqual(json.loads((self.folder / "out" / "campaign.json").read_text())["runtime"], "pytorch-compiled")
        self.assertIn(",pytorch-compiled,", (self.folder / "out" / "measurements.csv").read_text())
        self.assertIn("another campaign", self.profile("python-torch", *options, code=1)["error"]["message"])

    def test_copies_are_compiled_once(self):
        replies = talk("python-torch", COMPILED, "prepare kind=operation copies_bytes=92160 copies_most=500\n", CONV.format(size=16),
                       "run iterations=20\n", "run iterations=20\n")
        self.assertEqual(words(replies[0])["runtime"], "pytorch-compiled")
        self.assertEqual(kinds(replies), ["ok"] * 4)  # a recompilation a copy would be over PyTorch's limit, an error

    def test_gradients_are_made_and_not_added_to(self):
        for network in ("network", "operation"):
            replies = talk("python-torch", HELLO, f"prepare kind={network} mode=training input_gradient=1\n", CONV.format(size=16),
                           "run iterations=3\n")
            self.assertEqual(kinds(replies), ["ok"] * 3)
        none = "value input i64 shape=4\nvalue computed i64 shape=4\nnode unary in=0 out=1 kind=neg\noutput 1\nend\n"
        replies = talk("python-torch", HELLO, "prepare kind=network mode=training\n", none, "prepare kind=operation mode=training\n", none,
                       "run iterations=2\n")
        self.assertEqual(kinds(replies), ["ok", "unsupported", "ok", "ok"])

    # The step that ends a network's training step, alone: weights move by it and by nothing else.
    def test_the_optimizers_step_alone(self):
        prepare, two = "prepare kind=optimizer mode=training\n", "value parameter f32 shape=64,8\nvalue parameter f32 shape=64\nend\n"
        odd = ("end\n", "value input f32 shape=2\nend\n", "value parameter i64 shape=2\nend\n", "value parameter f32 shape=2\noutput 0\nend\n")
        replies = talk("python-torch", HELLO, prepare, two, "run iterations=3\n", "memory\n", *(prepare + lines for lines in odd))
        self.assertEqual(kinds(replies), ["ok"] * 4 + ["protocol"] * 4)
        self.assertEqual(replies[1], "ok copies=1 distinct_copies=1 weight_bytes=2304 kind=optimizer")
        sys.path.insert(0, str(python_runners.PACKAGE))
        import torch
        from joulecast_run.torch_case import RATE, OptimizerCase
        from joulecast_run.torch_device import TorchDevice
        weight = torch.nn.Parameter(torch.zeros(8))
        case = OptimizerCase([weight], TorchDevice("cpu"))
        case.run(3)
        torch.testing.assert_close(weight.detach(), -3 * RATE * weight.grad)

    def test_each_iteration_has_the_gradient_of_one(self):
        sys.path.insert(0, str(python_runners.PACKAGE))
        import torch
        from joulecast_run.program import Program
        from joulecast_run.serve import CaseOptions
        from joulecast_run.torch_backend import OpenTorch
        from joulecast_run.torch_device import TorchDevice
        program = Program()
        for line in CONV.format(size=16).splitlines()[:-1]:
            program.add_line(line)
        case = OpenTorch(TorchDevice("cpu"), False).case(program, CaseOptions(network=True, training=True))
        norms = []
        for _ in range(3):
            case.run(1)
            norms.append(float(case._wanted[0][0].grad.norm()))
        self.assertGreater(norms[0], 0)
        torch.testing.assert_close(torch.tensor(norms), torch.full([3], norms[0]))
        one = OpenTorch(TorchDevice("cpu"), False).case(program, CaseOptions(training=True))
        one.run(3)
        self.assertEqual([wanted.grad for wanted in one._wanted[0]], [None, None])  # of the weight and the input: none is kept

    def test_modules_of_ones_own_are_measured(self):
        (self.folder / "mine.py").write_text(MODULES)
        options = ("--shapes", "ids:5:i64", "--shapes", "x:5x4", "--mode", "inference,training")
        result = self.profile("python-torch", "--module", "mine:Odd", "--module", "./mine.py:made", *options)
        self.assertEqual((result["measured"], self.failed()), (4, []))
        rows = (self.folder / "out" / "measurements.csv").read_text().splitlines()
        self.assertEqual([sum(f",{name}," in row for row in rows) for name in ("Odd", "made")], [2, 2])

    def test_modules_go_wrong_by_themselves(self):
        (self.folder / "mine.py").write_text(MODULES)
        prepare, one = "prepare kind=network mode=inference module={}\n{}end\n", "value input f32 shape=2,4\n"
        requests = [prepare.format(name, one) for name in ("mine:leaves", "mine:nothing", "mine:absent", "nobody:Odd", "absent.py:Odd", "mine",
                                                           "mine.py:Breaks")]
        replies = talk("python-torch", HELLO, *requests, "run iterations=2\n", prepare.format("mine:Odd", one + "output 0\n"),
                       "prepare kind=operation module=mine:Odd\nend\n", folder=self.folder)
        self.assertEqual(kinds(replies), ["ok", "failed", "unsupported", "unsupported", "unsupported", "unsupported", "protocol", "ok", "ok",
                                          "protocol", "protocol"])

    def test_what_cannot_be_compiled_whole_is_an_error(self):
        (self.folder / "mine.py").write_text(MODULES)
        replies = talk("python-torch", COMPILED, "prepare kind=network module=mine.py:Breaks\nvalue input f32 shape=2,4\nend\n",
                       "run iterations=1\n", "run iterations=1\n", folder=self.folder)
        self.assertEqual(kinds(replies), ["ok", "ok", "failed", "protocol"])


@unittest.skipUnless(LIBRARY == "onnxruntime", "of ONNX Runtime")
class Onnx(Campaign):
    # What depends on no input is computed when a session is made: there would be nothing to measure.
    def test_all_operations_of_networks_run_and_make_the_shapes_that_are_meant(self):
        result = self.profile("onnxruntime", *sorted(EXAMPLES.glob("*.onnx")))
        self.assertEqual([case["reason"] for case in self.failed() if "depends on no input" not in case["reason"]], [])
        self.assertEqual([case for case in self.failed() if "network" in case], [])
        self.assertGreater(result["measured"], 500)
        rows = (self.folder / "out" / "measurements.csv").read_text()
        self.assertIn(',,"onnxruntime ', rows)
        self.assertNotIn(",pytorch-", rows)

    def test_training_and_modules_are_refused(self):
        replies = talk("onnxruntime", HELLO, "prepare kind=optimizer mode=training\nvalue parameter f32 shape=2\nend\n",
                       "prepare kind=operation mode=training\n", CONV.format(size=16),
                       "prepare kind=network module=a:b\nvalue input f32 shape=2\nend\n")
        self.assertEqual(kinds(replies), ["ok", "unsupported", "unsupported", "unsupported"])

    # A transpose of a weight alone would be done before anything runs, were the weight an initializer.
    def test_work_on_weights_alone_is_done_each_time(self):
        text = "value parameter f32 shape=64,64\nvalue computed f32 shape=64,64\nnode transpose in=0 out=1 order=1,0\noutput 1\nend\n"
        replies = talk("onnxruntime", HELLO, "prepare kind=operation copies_bytes=65536 copies_most=9\n", text, "run iterations=4\n")
        self.assertEqual(replies[1], "ok copies=4 distinct_copies=4 weight_bytes=16384")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
