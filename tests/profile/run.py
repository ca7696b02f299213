#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""joulecast profile from outside, with a runner that goes wrong where it is told to.

run.py <joulecast> <folder of the stand-in of NVML> [Profile.test_name...]
"""
import csv
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM, STANDIN = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = HERE.parent / "nvml" / "scenarios"
NET = """graph "net" {
input %x : f32[N, 1024]
parameter %w : f32[2048, 1024]
parameter %v : f32[32, 2048]
%a = linear(%x, %w, _)
%b = activation(%a)
%c = softmax(%b)
%d = linear(%c, %v, _)
output %d
}
"""


class Profile(unittest.TestCase):
    def setUp(self):
        self.words = ["net.txt", "--shapes", "x:256x1024"]
        self.temporary = tempfile.TemporaryDirectory(prefix="profile_")
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "net.txt").write_text(NET)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("CUDA_", "SLURM_"))}
        self.environment |= {"FAKE_LOG": str(self.folder / "prepared"), "XDG_STATE_HOME": str(self.folder / "home")}

    def tearDown(self):
        self.temporary.cleanup()

    def start(self, *options, **environment):
        words = [PROGRAM, "profile", *self.words]
        for name, value in (("-o", "out"), ("--gpu", "cpu"), ("--runner", str(HERE / "fake_runner.py"))):
            words += [] if name in options else [name, value]
        words += options
        return subprocess.Popen(words, cwd=self.folder, env=self.environment | environment, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run_it(self, *options, code=0, **environment):
        process = self.start(*options, **environment)
        out, errors = process.communicate(timeout=120)
        self.assertIn(process.returncode, (code,) if code is not None else (0, 1), out + errors)
        return out, errors

    def profiled(self, *options, code=0, **environment):
        return json.loads(self.run_it("--json", *options, code=code, **environment)[0])

    def cases(self):
        return [json.loads(line) for line in (self.folder / "out" / "cases.jsonl").read_text().splitlines()]

    def rows(self):
        with open(self.folder / "out" / "measurements.csv", newline="") as file:
            return list(csv.DictReader(file))

    def wait_until(self, condition, seconds, what):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.01)

    def test_operations_and_the_network_become_rows(self):
        self.assertEqual(self.profiled()["measured"], 5)
        rows = self.rows()
        self.assertEqual(sorted(row["operator"] for row in rows), ["", "activation", "linear", "linear", "softmax"])
        for row in rows:
            self.assertGreater(float(row["time_s"]), 1e-4)
            self.assertEqual((row["gpu"], row["software"]), ("cpu", "fake 1.0, 1 thread"))
            self.assertEqual(row["power_w"], "")
        self.assertEqual({row["memory_bytes"] for row in rows}, {"4096"})
        self.assertEqual(self.profiled()["measured"], 0)

    def test_only_operations_or_only_networks(self):
        self.assertIn("4 operations, 0 whole networks", self.run_it("--dry-run", "--only", "operations")[0])
        self.assertIn("0 operations, 1 whole network\n", self.run_it("--dry-run", "--only", "networks")[0])
        self.assertFalse((self.folder / "out").exists())

    def test_a_plan_says_how_often_and_what_is_left(self):
        (self.folder / "net.txt").write_text(NET.replace("%c = softmax(%b)", "%b2 = activation(%b)\n%c = softmax(%b2)"))
        plan = self.profiled("--dry-run")
        self.assertEqual({case["operator"]: case["uses"] for case in plan["cases"] if case.get("operator") != "linear" and "uses" in case},
                         {"activation": 2, "softmax": 1})
        self.assertEqual(plan["left"], 5)
        self.profiled("--only", "operations", "--noisy", "9")
        self.assertEqual(self.profiled("--dry-run", "--noisy", "9")["left"], 1)
        self.assertIn("; 1 of 5 are left to measure", self.run_it("--dry-run", "--noisy", "9")[0])

    def test_the_batch_is_what_the_model_or_a_shape_makes_it(self):
        self.profiled("--only", "networks")
        self.assertEqual([case["batch"] for case in self.cases()], [256])
        self.assertEqual([row["batch"] for row in self.rows()], ["256"])
        self.assertEqual(self.profiled("--batch", "256", "--dry-run", "--only", "networks", "--noisy", "9")["left"], 0)
        self.assertIn("net.txt: --batch 1: the model or --shapes fixes the batch to 256",
                      self.run_it("--batch", "256,1", "--dry-run", code=2)[1])
        (self.folder / "net.txt").write_text(NET.replace("[N, ", "[8, "))
        self.words = ["net.txt"]
        self.assertEqual([case["batch"] for case in self.profiled("--dry-run", "--only", "networks")["cases"]], [8])
        self.assertIn("ask for that batch", self.run_it("--batch", "4", "--dry-run", code=2)[1])

    def test_the_length_of_a_sequence_is_in_rows(self):
        self.words = [str(EXAMPLES / "lstm.onnx"), "--only", "networks"]
        errors = self.run_it()[1]
        self.assertIn("dimension 'sequence' of input 'input_ids' is not bound: taken as 128; set it with --shapes", errors)
        self.profiled("--shapes", "input_ids:2x64")
        self.assertEqual({(row["batch"], row["sequence_length"]) for row in self.rows()}, {("1", "128"), ("2", "64")})

    def test_a_folder_of_models(self):
        (self.folder / "nets").mkdir()
        (self.folder / "net.txt").rename(self.folder / "nets/net.jcg")
        self.words = ["nets", "--shapes", "x:256x1024"]
        self.assertIn("4 operations, 1 whole network", self.run_it("--dry-run")[0])

    def test_what_cannot_be_read_in_a_folder_costs_itself_alone(self):
        (self.folder / "nets").mkdir()
        (self.folder / "net.txt").rename(self.folder / "nets/net.jcg")
        (self.folder / "nets/cut.onnx").write_bytes((EXAMPLES / "lstm.onnx").read_bytes()[:999])
        self.words = ["nets", "--shapes", "x:256x1024"]
        for options, told in (["-n"], "4 operations, 1 whole network"), ([], "measured 5, failed 0, left 0"):
            out, errors = self.run_it(*options, code=3)
            self.assertIn(told, out)
            self.assertIn("left out: nets/cut.onnx", errors)
            self.assertIn("1 model could not be planned", errors)
        self.assertEqual(len(self.rows()), 5)
        # What was named is asked for: nothing begins without it.
        self.words = ["nets/net.jcg", "nets/cut.onnx", "--shapes", "x:256x1024"]
        self.assertIn("nets/cut.onnx", self.run_it(code=1)[1])
        (self.folder / "nets/net.jcg").unlink()
        self.words = ["nets"]
        self.assertRegex(self.run_it(code=1)[1], "^joulecast: nets/cut.onnx: ")

    def test_rows_of_another_start_stay(self):
        self.profiled("--only", "networks")
        self.profiled("--only", "operations")
        self.assertEqual(len(self.rows()), 5)

    # What a start would refuse is not promised, and nothing is made by asking.
    def test_a_dry_run_refuses_what_a_start_would(self):
        def refused(*options, word, code=1):
            dry, started = self.run_it("-n", *options, code=code)[1], self.run_it(*options, code=code)[1]
            self.assertEqual(dry, started)
            self.assertIn(word, dry)

        self.profiled("--threads", "1")
        (self.folder / "other.py").symlink_to(HERE / "fake_runner.py")
        before = self.state_of("out")
        for options, word in ((("--threads", "2"), "threads is 1 there and 2 here"), (("--name", "foo"), "gpu is cpu there and foo"),
                              (("--runtime", "pytorch-compiled"), "runtime is"), (("--runner", "./other.py"), "runner is")):
            refused(*(() if "--threads" in options else ("--threads", "1")), *options, word="is of another campaign: " + word)
        self.assertIn("0 of 5 are left", self.run_it("-n", "--threads", "1", "--noisy", "9")[0])
        self.assertEqual(self.state_of("out"), before)
        campaign = self.folder / "out" / "campaign.json"
        said = campaign.read_text()
        campaign.write_text("garbage")
        refused("--threads", "1", word="campaign.json is no JSON object")
        campaign.unlink()
        refused("--threads", "1", word="holds files that are of no campaign")
        campaign.write_text(said)
        with open(self.folder / "out" / "cases.jsonl", "a") as file:
            file.write("{}\n")
        refused("--threads", "1", word="cases.jsonl: line 6")
        refused("-o", "net.txt", word="net.txt: Not a directory")
        refused("--store", "net.txt", word="no store", code=2)

    def test_a_dry_run_of_shards_refuses_what_a_start_would(self):
        self.profiled("-o", "parts", "--shard", "1/2")
        before = self.state_of("parts")
        for options in (("--shard", "2/2", "--threads", "7"), ("--shard", "1/2", "--threads", "7"), ()):
            dry = self.run_it("-n", "-o", "parts", *options, code=1)[1]
            self.assertIn("is of another campaign: threads is 0 there and 7" if options else "parts: holds files that are of no campaign", dry)
            self.assertEqual(self.state_of("parts"), before)
            self.assertEqual(self.run_it("-o", "parts", *options, code=1)[1], dry)
            before = self.state_of("parts")
        self.run_it("-n", "-o", "parts", "--shard", "2/2")

    # By path, each file's bytes and time.
    def state_of(self, folder):
        return {path: (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns) for path in (self.folder / folder).rglob("*")}

    # The GPU's driver and the runner are where it measures, not where somebody looks what is left.
    def test_a_dry_run_needs_neither_runner_nor_gpu(self):
        out, errors = self.run_it("-n", "--gpu", "0", "--runner", "nobody")
        self.assertIn("4 operations, 1 whole network\n", out)
        self.assertIn("no runner 'nobody' here", errors)
        self.assertFalse((self.folder / "out").exists())
        self.on_gpu("a100.toml")
        out, errors = self.run_it("-n", "--gpu", "0", "--noisy", "9")
        self.assertIn("; 1 of 5 are left", out)
        self.assertIn("whether out is of this device is not known here: --gpu 0: ", errors)
        self.assertIn("gpu is a100-sxm4-40gb there and gh200", self.on_gpu("grace_hopper.toml", "-n", code=1)[1])

    def test_a_store_that_cannot_be_one_is_told_before_anything_is_measured(self):
        self.assertIn("net.txt is no store", self.run_it("--store", "net.txt", code=2)[1])
        self.assertIn("no file can be made", self.run_it("--store", "nowhere/my.db", code=2)[1])
        self.assertFalse((self.folder / "out").exists())

    # What a table of another GPU has is measured here, each operation once, in the table's own modes.
    def test_operations_of_a_table(self):
        (self.folder / "list.csv").write_text(
            "operator,operands,mode,gpu,time_s\n"
            '"linear","f32[8, 64]; w f32[32, 64]; _",inference,a30,0.1\n'
            '"linear","f32[8, 64]; w f32[32, 64]; _",inference,a100,0.1\n'
            '"linear","f32[8, 64]; w f32[32, 64]; _",training,a30,0.1\n'
            'activation,"f32[8, 64]",,a30,0.1\n')
        self.words = ["--operations", "list.csv"]
        self.assertEqual(self.profiled()["measured"], 3)
        self.assertEqual(sorted((row["operator"], row["mode"]) for row in self.rows()),
                         [("activation", "inference"), ("linear", "inference"), ("linear", "training")])
        (self.folder / "list.csv").write_text("operator,operands\nlinear,f32[8]\n")
        self.assertIn("list.csv: line 2", self.run_it(code=1)[1])

    def test_a_table_of_networks_alone_is_told(self):
        (self.folder / "nets.csv").write_text("operator,operands,network\n,,resnet18\n")
        self.words = ["--operations", "nets.csv"]
        self.assertIn("nets.csv: holds no operations", self.run_it(code=1)[1])
        self.assertFalse((self.folder / "out").exists())

    # Beside a model they are the model's.
    def test_what_a_table_cannot_use_is_refused(self):
        (self.folder / "list.csv").write_text('operator,operands\nactivation,"f32[8, 64]"\n')
        for options in (("--batch", "64"), ("--shapes", "x:1x2"), ("--only", "networks")):
            self.words = ["--operations", "list.csv"]
            self.assertIn(options[0], self.run_it("-n", *options, code=2)[1])
        self.words = ["net.txt", "--operations", "list.csv", "--batch", "64"]
        self.assertIn("5 operations, 1 whole network", self.run_it("-n")[0])

    # A python3 that stands for one with torch: two networks of the list recurrent, and one that it cannot make.
    def zoo_python(self, *lines):
        python = self.folder / "bin" / "python3"
        python.parent.mkdir(exist_ok=True)
        made = {f"x/{name}": {"status": "ok", "network": f"recurrent:{name}", "file": f"torchscript/{name}.onnx"} for name in ("lstm", "gru")}
        made["x/rnn"] = {"status": "failed", "network": "recurrent:rnn", "reason": "too big"}
        (self.folder / "net.onnx").write_bytes((EXAMPLES / "lstm.onnx").read_bytes())
        (self.folder / "summary.json").write_text(json.dumps(made))
        python.write_text("\n".join(["#!/bin/sh", f'[ "$2" = zoo ] || exec {sys.executable} "$@"',  # the runner
                                     'echo "$@" >> words; echo "[2/10] made" >&2; mkdir -p "$6/torchscript"',
                                     *(f'cp net.onnx "$6/torchscript/{name}.onnx"' for name in ("lstm", "gru")),
                                     'cp summary.json "$6"', *lines]))
        python.chmod(0o755)
        return {"PATH": f"{python.parent}:{os.environ['PATH']}"}

    def times_python_ran(self):
        return (self.folder / "words").read_text().count("\n")

    def test_networks_of_the_zoo(self):
        python = self.zoo_python()
        self.words = ["--zoo", "recurrent", "--dry-run"]
        out, errors = self.run_it(**python)
        self.assertRegex(out, r"^\d+ operations, 2 whole networks")
        self.assertIn("not made: x/rnn: too big", errors)
        self.assertIn("making networks of recurrent\n", errors)
        self.assertIn("7 more of recurrent are not made yet", errors)
        self.assertEqual((self.folder / "words").read_text().split()[:4], ["-m", "zoo", "export", "--no-references"])
        self.assertEqual((self.folder / "out/zoo/zoo.log").read_text(), "[2/10] made\n")
        # What is missing is tried again; where there is nothing to try, no Python starts.
        self.run_it(**python)
        self.assertEqual(self.times_python_ran(), 2)
        self.words = ["--zoo", "recurrent:lstm", "--dry-run"]
        (self.folder / "out/zoo/recurrent").rename(self.folder / "out/zoo/recurrent_lstm")
        self.assertNotIn("making", self.run_it(**python)[1])
        self.assertEqual(self.times_python_ran(), 2)
        (self.folder / "out/zoo/recurrent_lstm/torchscript/lstm.onnx").unlink()
        self.run_it(**python)
        self.assertEqual(self.times_python_ran(), 3)

    # A quarter of the time, and what it took is not there for measuring.
    def test_making_networks_is_part_of_the_time(self):
        python = self.zoo_python("sleep 3")
        self.words = ["--zoo", "recurrent", "--batch", "1,2,3,4,5,6,7,8"]
        result = self.profiled("--for", "8s", **python)
        self.assertIn("--weightless --within 2 --list", (self.folder / "words").read_text())
        self.assertEqual(result["stopped"], "the time is over")
        self.assertGreater(result["measured"], 0)
        logged = [case["windows"] for case in self.cases()]
        self.assertLess((logged[-1][-1][2] - logged[0][0][1]) / 1e6, 5.5)
        # To look at what was measured, none are made.
        self.run_it("--validate", code=None, **python)
        self.assertEqual(self.times_python_ran(), 1)

    def test_a_python_that_cannot_make_networks_says_why(self):
        python = self.zoo_python()
        (self.folder / "bin/python3").write_text("#!/bin/sh\necho 'No module named torch' >&2; exit 1\n")
        self.words = ["--zoo", "recurrent", "--dry-run"]
        self.assertIn("(exit code 1): No module named torch", self.run_it(code=1, **python)[1])
        (self.folder / "out/zoo/recurrent/torchscript").mkdir()
        (self.folder / "out/zoo/recurrent/torchscript/lstm.onnx").write_bytes((self.folder / "net.onnx").read_bytes())
        self.assertIn("none was made: No module named torch", self.run_it(**python)[1])
        self.assertIn("no network of 'recurrent' is made yet", self.run_it("--shard", "1/2", "-o", "other", code=1, **python)[1])

    def test_a_network_that_cannot_be_made_is_tried_again_where_asked_for(self):
        python = self.zoo_python()
        self.words = ["--zoo", "recurrent:rnn", "--dry-run"]
        summary, own = self.folder / "summary.json", self.folder / "out/zoo/recurrent_rnn"
        own.mkdir(parents=True)
        failed = {"status": "failed", "network": "recurrent:rnn", "reason": "No module named 'timm'"}
        (own / "summary.json").write_text(json.dumps({"x/rnn": failed}))
        for _ in range(2):
            errors = self.run_it(code=1, **python)[1]
            self.assertIn("no network of 'recurrent:rnn' was made: x/rnn: No module named 'timm'", errors)
            self.assertIn("then --retry-failed tries again", errors)
        self.assertFalse((self.folder / "words").exists())  # no Python
        summary.write_text(json.dumps({"x/rnn": failed | {"status": "ok", "file": "torchscript/lstm.onnx"}}))
        self.run_it("--retry-failed", **python)
        self.assertIn("--retry recurrent:rnn", (self.folder / "words").read_text())
        # A name that nobody knows is not the Python's fault.
        (own / "summary.json").write_text(json.dumps({"x/rnn": failed | {"reason": "UnsupportedNetwork: no recurrent network 'rnn'"}}))
        for file in own.glob("*/*.onnx"):
            file.unlink()
        self.assertRegex(self.run_it(code=1, **python)[1], r"no recurrent network 'rnn'\n$")

    def test_odd_names_of_the_zoo_are_refused(self):
        self.words = ["--zoo", "nothing", "--dry-run"]
        self.assertIn("the zoo has no list 'nothing'", self.run_it(code=1)[1])
        self.words = ["--zoo", "../torchvision", "--dry-run"]
        self.assertIn("is no name of the zoo", self.run_it(code=1)[1])

    def test_a_runner_that_dies_costs_its_case_alone(self):
        result = self.profiled(FAKE_RUNNER="softmax=die", code=3)
        self.assertEqual((result["measured"], result["failed"]), (4, 1))
        (failed,) = [case for case in self.cases() if case["status"] == "failed"]
        self.assertEqual((failed["operator"], failed["reason"]), ("softmax", "the runner ended by signal 11 (Segmentation fault)"))

    def test_a_runner_that_hangs_is_given_up(self):
        result = self.profiled("--patience", "1", FAKE_RUNNER="softmax=hang activation=stuck", code=3)
        self.assertEqual((result["measured"], result["failed"]), (3, 2))
        reasons = {case["operator"]: case["reason"] for case in self.cases() if case["status"] == "failed"}
        self.assertIn("no answer in 1 s;", reasons["softmax"])
        self.assertRegex(reasons["activation"], r"^no answer in \d(\.\d)? s;")  # with what the work was expected to take

    # Nothing is measured, and nothing that was is lost.
    def test_a_runner_that_hangs_at_its_start_is_given_up(self):
        self.profiled("--only", "networks")
        hangs, rows = {"FAKE_RUNNER": "hello=hang"}, self.rows()
        begun = time.monotonic()
        self.assertIn("no answer in 1 s", self.run_it("--patience", "1", code=1, **hangs)[1])
        self.assertIn("no answer in 1 s", self.run_it("--check-proportionality", "--patience", "1", code=1, **hangs)[1])
        result = self.profiled("--for", "2s", **hangs)
        self.assertEqual((result["stopped"], result["measured"], result["left"]), ("the time is over, before the runner was ready", 0, 4))
        (self.folder / "prepared.hello").unlink()
        process = self.start("--json", **hangs)
        self.wait_until(lambda: (self.folder / "prepared.hello").exists(), 30, "no runner is started")
        process.send_signal(signal.SIGINT)
        self.assertEqual(json.loads(process.communicate(timeout=10)[0])["stopped"], "stopped, before the runner was ready")
        self.assertEqual(process.returncode, 130)
        self.assertLess(time.monotonic() - begun, 40)
        self.assertEqual(self.rows(), rows)

    def test_failures_are_tried_again_where_asked_for(self):
        result = self.profiled(FAKE_RUNNER="softmax=memory activation=unsupported", code=3)
        self.assertEqual(result["reasons"], {"CUDA out of memory": 1, "not here": 1})
        self.assertEqual((result["measured"], result["failed"]), (3, 2))
        again = self.profiled()
        self.assertEqual((again["measured"], again["failed_before"]), (0, 2))
        self.assertIn("failed before and left alone: 2 cases; --retry-failed", self.run_it()[0])
        retried = self.profiled("--retry-failed")
        self.assertEqual((retried["measured"], retried["failed_before"]), (2, 0))
        self.assertEqual(len(self.rows()), 5)

    def test_a_runner_that_only_dies_ends_the_campaign(self):
        _, errors = self.run_it(code=1, FAKE_RUNNER="all=die")
        self.assertIn("failed 5 times in a row", errors)

    def test_windows_that_cannot_be_are_failed_cases(self):
        result = self.profiled(FAKE_RUNNER="softmax=ahead activation=still", code=3)
        self.assertEqual((result["measured"], result["failed"]), (3, 2))
        reasons = {case["operator"]: case["reason"] for case in self.cases() if case["status"] == "failed"}
        self.assertRegex(reasons["softmax"], "the runner tells of work that ended .* after the reply")
        self.assertRegex(reasons["activation"], r"the runner tells of \d+ iterations that took 0 us")
        self.assertIn("took 0 us", self.run_it("--check-proportionality", code=1, FAKE_RUNNER="all=still")[1])

    # As a device whose kernels are compiled at the first calls: the warm-up settles, and is over only then.
    def test_no_window_is_shorter_than_it_is_said(self):
        self.profiled("--only", "networks", FAKE_RUNNER="all=cold")
        (case,) = self.cases()
        self.assertTrue(case["settled"])
        self.assertLess(len(case["windows"]), 41)
        for _, begin_us, end_us, _ in case["windows"]:
            self.assertGreaterEqual(end_us - begin_us, 100_000)
        self.assertLess(case["time_s"], 2e-3)

    def test_what_others_took_of_the_processor_is_told(self):
        before = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, {min(before)})  # and so for whom it starts
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as burner:
            out = self.run_it("--only", "networks")[0]
            burner.kill()
        self.assertIn("beside other work on the processor: 1 case; --retry-shared", out)
        self.assertIn("other processes", self.cases()[0]["beside"])
        self.assertEqual([row["cautions"] for row in self.rows()], ["shared-processor"])
        self.assertEqual(self.profiled("-n", "--only", "networks", "--noisy", "9")["left"], 0)
        self.assertEqual(self.profiled("-n", "--only", "networks", "--noisy", "9", "--retry-shared")["left"], 1)

    def test_sigkill_loses_the_case_at_hand_alone(self):
        journal = self.folder / "out" / "cases.jsonl"
        process = self.start()
        self.wait_until(lambda: journal.exists() and journal.read_text().count("\n") >= 2, 60, "nothing is measured")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        before = journal.read_text().count("\n")
        result = self.profiled()
        self.assertEqual(before + result["measured"], 5)
        self.assertEqual(len({case["id"] for case in self.cases()}), 5)
        # The runner of the killed one went with it: the recording and the folder are nobody's any more.
        self.assertEqual(len(list((self.folder / "out").glob("log-*.jcrun"))), 2)

    # Two calls, one to settle and five windows take 4 s; so does no case begin twice.
    def test_a_case_that_takes_longer_than_the_time_is_left_for_the_next_start(self):
        slow = {"FAKE_RUNNER": "all=slow"}
        result = self.profiled("--for", "2s", **slow)
        self.assertEqual((result["stopped"], result["measured"], result["failed"], result["left"]), ("the time is over", 0, 0, 5))
        self.assertEqual(len((self.folder / "prepared").read_text().splitlines()), 1)
        self.assertEqual(self.profiled()["measured"], 5)

    def test_ctrl_c_in_a_long_case_ends_before_its_windows_do(self):
        process = self.start("--json", FAKE_RUNNER="all=slow")
        self.wait_until(lambda: (self.folder / "prepared").exists(), 60, "nothing is measured")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        result = json.loads(out)
        self.assertEqual((result["stopped"], result["measured"], result["failed"], result["left"]), ("stopped", 0, 0, 5))

    # The kernel tells the session of it, and what is written to the terminal from then on fails.
    def test_a_terminal_that_is_closed_loses_no_rows(self):
        journal = self.folder / "out" / "cases.jsonl"
        ours, theirs = os.openpty()
        words = [PROGRAM, "profile", *self.words, "-o", "out", "--gpu", "cpu", "--runner", str(HERE / "fake_runner.py")]
        process = subprocess.Popen(words, cwd=self.folder, env=self.environment, stdin=theirs, stdout=theirs, stderr=theirs,
                                   start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.wait_until(lambda: journal.exists() and "\n" in journal.read_text(), 60, "nothing is measured")
        os.close(ours)
        process.wait(timeout=60)
        self.assertGreater(len(self.rows()), 0)
        self.assertEqual(len(self.rows()), len(self.cases()))
        self.assertLess(len(self.rows()), 5)

    def test_ctrl_c_says_what_is_left(self):
        journal = self.folder / "out" / "cases.jsonl"
        process = self.start("--json")
        self.wait_until(lambda: journal.exists() and "\n" in journal.read_text(), 60, "nothing is measured")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        result = json.loads(out)
        self.assertEqual(result["stopped"], "stopped")
        self.assertEqual(process.returncode, 130)
        self.assertEqual(result["measured"] + result["left"], 5)
        self.assertEqual(len(self.rows()), result["measured"])

    # Only a runner that is ready says of what software the rows are.
    def test_rows_that_are_not_written_are_not_promised(self):
        def hanging(*options, code):
            return self.run_it("--for", "1s", "--noisy", "9", *options, code=code, FAKE_RUNNER="hello=hang")

        rows = self.folder / "out" / "measurements.csv"
        self.assertIn("rows: out/measurements.csv\n", self.run_it()[0])
        out, _ = hanging(code=0)
        self.assertEqual(out, "measured 0, failed 0, left 0\nrows: out/measurements.csv\n")
        os.utime(rows, (1, 1))  # as a start leaves them that measured more and was killed
        out, errors = hanging(code=3)
        self.assertEqual(out, "measured 0, failed 0, left 0\n")
        self.assertIn("out/measurements.csv: not written: the time was over before the runner was ready", errors)
        rows.unlink()
        self.words += ["--mode", "inference,training"]
        result = json.loads(hanging("--json", code=3)[0])
        self.assertEqual((result["left"], result["rows"]), (6, None))
        self.assertEqual(result["stopped"], "the time is over, before the runner was ready")
        self.assertEqual(self.profiled("--only", "networks", "--noisy", "9")["rows"], "out/measurements.csv")
        self.assertEqual(len(self.rows()), 6)

    def test_a_budget_is_kept_and_the_largest_work_comes_first(self):
        result = self.profiled("--for", "1s")
        self.assertEqual(result["stopped"], "the time is over")
        self.assertGreater(result["left"], 0)
        self.assertNotIn((self.folder / "prepared").read_text().splitlines()[0], ("softmax", "activation"))

    # Products are what the shipped pack knows best of an A30; of a device that it has never heard of it knows nothing.
    def test_with_a_budget_what_the_predictor_knows_least_comes_first(self):
        (self.folder / "gpu.toml").write_text("[[gpu]]\nload = {constant_w = 250}\n")
        standin = {"LD_LIBRARY_PATH": STANDIN, "JOULECAST_STANDIN": str(self.folder / "gpu.toml"),
                   "JOULECAST_STANDIN_STATE": str(self.folder / "state")}
        for gpu, name, first in (("0", "a30", "network"), ("cpu", "toaster", "linear")):
            self.profiled("--for", "60s", "--gpu", gpu, "--name", name, "-o", name, "--span", "0.5", **standin)
            self.assertEqual((self.folder / "prepared").read_text().splitlines()[0], first)
            (self.folder / "prepared").unlink()
        self.assertIn("nowhere.jcpack", self.run_it("--for", "1s", "--pack", "nowhere.jcpack", code=1)[1])

    def test_power_of_the_gpu_is_that_of_the_windows(self):
        (self.folder / "gpu.toml").write_text("[[gpu]]\nload = {constant_w = 250}\n")
        options = ("--gpu", "0", "--name", "a30", "--only", "operations", "--span", "2")
        out = self.run_it("--json", *options, LD_LIBRARY_PATH=STANDIN, JOULECAST_STANDIN=str(self.folder / "gpu.toml"),
                          JOULECAST_STANDIN_STATE=str(self.folder / "state"))[0]
        self.assertEqual(json.loads(out)["measured"], 4)
        for row in self.rows():
            # Steps of the counter are seen late where the machine is busy: the row's own error has to cover it.
            error = float(row["power_se_w"])
            self.assertLess(error, 25)
            self.assertAlmostEqual(float(row["power_w"]), 250, delta=max(5, 3 * error))
            self.assertAlmostEqual(float(row["energy_j"]), float(row["power_w"]) * float(row["time_s"]), delta=1e-9)
            self.assertEqual(row["gpu"], "a30")

    def on_gpu(self, scenario, *options, **more):
        return self.run_it("--gpu", "0", "--only", "operations", "--noisy", "9", "--span", "0.3", *options, LD_LIBRARY_PATH=STANDIN,
                           JOULECAST_STANDIN=str(SCENARIOS / scenario), JOULECAST_STANDIN_STATE=str(self.folder / "state"), **more)

    def test_a_gpu_is_called_what_the_catalogue_calls_it(self):
        self.on_gpu("a100.toml")
        self.assertEqual({row["gpu"] for row in self.rows()}, {"a100-sxm4-40gb"})
        trained = subprocess.run([PROGRAM, "train", "out/measurements.csv", "-q", "-o", "my.jcpack"], cwd=self.folder, capture_output=True,
                                 text=True, timeout=120)
        self.assertEqual(trained.returncode, 0, trained.stderr)

    def test_a_folder_is_of_one_device(self):
        self.on_gpu("a100.toml")
        before = self.cases()
        errors = self.on_gpu("grace_hopper.toml", code=1)[1]
        self.assertIn("gpu is a100-sxm4-40gb there and gh200", errors)
        self.assertIn("hint: -o names a folder of its own", errors)
        self.assertEqual(self.cases(), before)
        # By what the driver says, whatever the rows are to call it; so are other shards of the campaign.
        self.on_gpu("a100.toml", "-o", "named", "--name", "mine")
        self.assertIn("label is NVIDIA A100-SXM4-40GB there and NVIDIA GH200 480GB here",
                      self.on_gpu("grace_hopper.toml", "-o", "named", "--name", "mine", code=1)[1])
        shards = ("-o", "parts", "--shard")
        self.on_gpu("a100.toml", *shards, "1/2")
        self.assertIn("parts/shard-0001: is of another campaign", self.on_gpu("grace_hopper.toml", *shards, "2/2", code=1)[1])
        self.on_gpu("a100.toml", *shards, "2/2")
        self.assertIn("shards is 2 there and 3 here", self.on_gpu("a100.toml", *shards, "3/3", code=1)[1])

    @unittest.skipIf("model name" not in pathlib.Path("/proc/cpuinfo").read_text(), "the kernel tells no processor's name")
    def test_a_folder_is_of_one_processor(self):
        self.profiled()
        campaign = self.folder / "out" / "campaign.json"
        said = json.loads(campaign.read_text())
        campaign.write_text(json.dumps(said | {"label": "Another 9000"}))
        self.assertIn(f"label is Another 9000 there and {said['label'][:20]}", self.run_it("--noisy", "9", code=1)[1])

    # The sensors are read while the runner starts: what its failure takes down waits for them.
    def test_a_runner_that_cannot_start_on_a_gpu_says_why(self):
        runner = self.folder / "no_cuda"
        runner.write_text("#!/bin/sh\necho old news >&2\necho this runner needs CUDA >&2\nsleep 0.5\nexit 1\n")
        runner.chmod(0o755)
        for _ in range(3):
            errors = self.on_gpu("a100.toml", "--runner", str(runner), code=1)[1]
            self.assertIn("no_cuda: the runner ended with code 1: this runner needs CUDA\n", errors)
        self.assertIn("this runner needs CUDA", self.run_it("--runner", str(runner), "--check-proportionality", "-o", "other", code=1)[1])
        errors = self.run_it("--runner", "/bin/true", code=1)[1]
        self.assertIn("/bin/true: the runner ended with code 0\n", errors)

    def test_a_gpu_that_is_cut_into_slices_is_no_whole_one(self):
        errors = self.on_gpu("mig.toml", code=1)[1]
        self.assertIn("gpu0: is cut into slices", errors)
        self.assertFalse((self.folder / "out").exists())

    def test_a_start_that_measured_nothing_binds_no_folder(self):
        self.run_it("--runner", "/bin/true", code=1)
        self.assertEqual(self.profiled()["measured"], 5)

    def test_the_array_is_printed_as_it_would_be_submitted(self):
        script = self.run_it("--slurm", "2", "-n", "--json", "--sbatch=--partition=x")[0]
        (task,) = [line for line in script.splitlines() if line.startswith("exec ")]
        self.assertIn("'net.txt'", task.replace(" net.txt ", " 'net.txt' "))
        for word in ("dry-run", "json", "slurm", "sbatch"):
            self.assertNotIn(word, task)
        sbatch = self.folder / "bin" / "sbatch"
        sbatch.parent.mkdir()
        sbatch.write_text("#!/bin/sh\necho 17\n")
        sbatch.chmod(0o755)
        self.run_it("--slurm", "2", "--sbatch=--partition=x", PATH=f"{sbatch.parent}:{os.environ['PATH']}")
        self.assertEqual((self.folder / "out" / "profile.sbatch").read_text(), script)

    # Everything takes 0.2 ms: the network, and each of its four operations.
    def test_sums_are_held_against_the_network(self):
        self.profiled()
        found = json.loads(self.run_it("--validate", "--json")[0])
        (net,) = found["networks"]
        self.assertEqual((net["missing_operations"], found["complete"]), (0, 1))
        self.assertAlmostEqual(net["sum_s"]["value"] / net["time_s"]["value"], 4, delta=1.5)
        self.assertIn("1 network that lacks nothing", self.run_it("--validate")[0])
        page = (self.folder / "out" / "validation.html").read_text()
        self.assertTrue(re.search(r"<td>inference</td><td>fp32</td><td class=\"n\">[0-9.]+ [mu]s ±[0-9.]+ %</td>", page), "no table")
        # What was asked for and is not there is named, and counted where it is much.
        batches = ("--validate", "--mode", "inference,training")
        self.assertIn("note: not measured: net batch 256 training fp32\n", self.run_it(*batches)[1])
        (one,) = json.loads(self.run_it(*batches, "--json")[0])["unmeasured"]
        self.assertEqual((one["model"], one["batch"], one["mode"]), ("net", 256, "training"))
        self.words = ["net.txt", "--batch", "256," + ",".join(map(str, range(1, 13)))]
        self.assertIn("net batch 8 inference fp32, and 4 more", " ".join(self.run_it("--validate")[1].split()))
        self.words = ["net.txt", "--shapes", "x:256x1024"]
        self.assertIn("none of these networks", self.run_it("--validate", "--mode", "training", code=1)[1])
        # In training both have the optimizer's step: it is the sixth, and no row.
        self.assertIn("4 operations, 1 optimizer step, 1 whole network", self.run_it("--mode", "training", "--dry-run")[0])
        self.assertEqual(self.profiled("--mode", "training")["measured"], 6)
        self.assertEqual(sum(row["mode"] == "training" for row in self.rows()), 5)
        (net,) = json.loads(self.run_it("--validate", "--mode", "training", "--json")[0])["networks"]
        self.assertEqual(net["missing_operations"], 0)
        self.assertAlmostEqual(net["sum_s"]["value"] / net["time_s"]["value"], 5, delta=1.9)
        self.assertIn("Training has the optimizer's step", self.run_it("--validate", "--mode", "training")[0])

    # The fake sleeps 0.2 ms an iteration; a sleep costs some 0.1 ms more, however long it is.
    def test_short_runs_are_told_from_proportional_ones(self):
        found = json.loads(self.run_it("--check-proportionality", "--json", "--span", "0.4")[0])
        self.assertEqual(len(found["operations"]), 2)
        for operation in found["operations"]:
            self.assertAlmostEqual(operation["iteration_s"], 2e-4, delta=1e-4)
            self.assertEqual(len(operation["points"]) % 4, 0)
            self.assertGreaterEqual(operation.get("safe_s", 1), operation["iteration_s"])
            self.assertGreater(operation["points"][-1][1], 0)
        page = self.folder / "out" / "proportionality.html"
        if page.exists():  # not where this was built without what draws
            self.assertIn("Does time grow", page.read_text())
            self.assertIn("page: out/proportionality.html", self.run_it("--check-proportionality", "--span", "0.2")[1])

    def test_a_machine_too_noisy_to_tell_short_runs_is_told_as_that(self):
        noisy = {"FAKE_RUNNER": "all=noisy"}
        found = json.loads(self.run_it("--check-proportionality", "--json", "--span", "0.2", **noisy)[0])
        self.assertEqual([(one["too_noisy"], "safe_s" in one) for one in found["operations"]], [(True, False)] * 2)
        self.assertIn("too noisy to tell", self.run_it("--check-proportionality", "--span", "0.2", **noisy)[0])

    # The sensors of one GPU and the work of another would be a measurement of nothing.
    def test_the_runner_works_on_the_gpu_that_is_measured(self):
        (self.folder / "gpu.toml").write_text("".join(f"[[gpu]]\nload = {{constant_w = {watts}}}\n" for watts in (100, 200)))
        environment = {"LD_LIBRARY_PATH": STANDIN, "JOULECAST_STANDIN": str(self.folder / "gpu.toml"),
                       "JOULECAST_STANDIN_STATE": str(self.folder / "state")}
        self.profiled("--gpu", "1", "--only", "networks", "--span", "2", **environment)
        self.assertEqual((self.folder / "prepared.gpus").read_text(), "GPU-00000000-0000-4000-8000-000000000001")
        self.assertAlmostEqual(float(self.rows()[0]["power_w"]), 200, delta=50)

    def test_how_long_it_takes_does_not_hang_on_what_was_freed_before(self):
        heap = self.folder / "prepared.heap"
        self.profiled("--only", "networks", MALLOC_TRIM_THRESHOLD_="4096")
        self.assertEqual(heap.read_text(), "0 4096")  # what the user has set stays
        self.environment = {key: value for key, value in self.environment.items() if not key.startswith("MALLOC_")}
        self.profiled("--only", "networks", "-o", "another")
        self.assertEqual(heap.read_text(), "0 1099511627776")

    def test_networks_of_one_file_name_are_told_apart(self):
        for folder, width in (("a", 16), ("b", 32)):
            (self.folder / folder).mkdir()
            (self.folder / folder / "net.txt").write_text(NET.replace("1024]", f"{width}]"))
        self.words = ["a/net.txt", "b/net.txt", "-b", "4"]
        self.profiled("--only", "networks")
        self.assertEqual({row["name"] for row in self.rows()}, {"a/net", "b/net"})

    # Each case at each limit, in mixed order; whatever ends the campaign, the limit is as it was.
    def test_limits_are_set_and_put_back(self):
        (self.folder / "gpu.toml").write_text("allow_set = true\n[[gpu]]\nload = {constant_w = 200}\n")
        environment = {"LD_LIBRARY_PATH": STANDIN, "JOULECAST_STANDIN": str(self.folder / "gpu.toml"),
                       "JOULECAST_STANDIN_STATE": str(self.folder / "state")}
        options = ("--gpu", "0", "--name", "a30", "--only", "operations", "--span", "0.5", "--power-limit", "300,400")
        self.assertEqual(self.profiled(*options, **environment)["measured"], 8)
        rows = self.rows()
        self.assertEqual(sorted(float(row["power_limit_w"]) for row in rows), [300] * 4 + [400] * 4)
        limits = [case["power_limit_w"] for case in self.cases()]
        self.assertNotIn(limits, (sorted(limits), sorted(limits, reverse=True)))
        self.assertEqual(self.limit(), 700_000)
        # Killed in mid-campaign: its guardian puts back.
        journal = self.folder / "out" / "cases.jsonl"
        process = self.start(*options, "--noisy", "1e-9", **environment)
        self.wait_until(lambda: journal.read_text().count("\n") >= 10, 60, "nothing is measured")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.wait_until(lambda: self.limit() == 700_000, 30, "the limit stays")
        _, errors = self.run_it("--gpu", "0", "--name", "a30", "--power-limit", "20", code=1, **environment)
        self.assertIn("20 W", errors)
        self.assertIn("GPU", self.run_it("--power-limit", "300", code=2)[1])

    # What was last set on the stand-in's GPU, in milliwatts.
    def limit(self):
        lines = [line.split() for line in (self.folder / "state").read_text().splitlines()[1:]]
        return int([line[3] for line in lines if line[2] == "power_limit_mw"][-1])

    def test_a_runtime_that_the_runner_does_not_have_starts_nothing(self):
        _, errors = self.run_it("--runtime", "pytorch-compiled", code=1)
        self.assertIn("this runner has pytorch-eager", errors)
        # One that passes over words it does not know would measure eager mode under another name.
        _, errors = self.run_it("--runtime", "pytorch-compiled", code=1, FAKE_RUNNER="runtimes=ignored")
        self.assertIn("has no runtime pytorch-compiled, but pytorch-eager", errors)
        self.assertEqual(self.cases(), [])
        self.assertIn("has no runtime", self.run_it("--check-proportionality", "--runtime", "pytorch-compiled", code=1,
                                                    FAKE_RUNNER="runtimes=ignored")[1])

    # Rows of a folder have one runtime and one runner: they would be told apart no more.
    def test_what_another_runner_measured_is_another_campaign(self):
        self.profiled("--runtime", "pytorch-eager")
        self.assertEqual(self.profiled()["measured"], 0)
        campaign = json.loads((self.folder / "out" / "campaign.json").read_text())
        self.assertEqual((campaign["runner"], campaign.get("runtime")), ("fake_runner.py", None))
        (self.folder / "other_runner.py").symlink_to(HERE / "fake_runner.py")
        self.assertIn("another campaign", self.run_it("--runner", "./other_runner.py", code=1)[1])
        self.assertIn("another campaign", self.run_it("--runtime", "pytorch-compiled", code=1)[1])

    def profiled_module(self, *options, code=0, **environment):
        words = [PROGRAM, "profile", "--module", "nets.mine:Net", "-o", "out", "--gpu", "cpu", "--runner", str(HERE / "fake_runner.py")]
        done = subprocess.run([*words, *options], cwd=self.folder, env=self.environment | environment, text=True, capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def test_a_module_is_refused_by_a_runner_that_runs_none(self):
        said = self.profiled_module("--shapes", "x:4x3x8x8", "--shapes", "ids:4x5:i64", code=3)
        self.assertIn("1 of 1 cases failed: 1 x ", said)
        (case,) = self.cases()
        self.assertEqual((case["status"], case["network"], case["module"], case["batch"]), ("failed", "Net", "nets.mine:Net", 4))
        self.assertIn("runs no modules", case["reason"])

    # It would have made a program of nothing of it, and measured that.
    def test_a_runner_that_passes_over_a_module_measures_nothing(self):
        self.profiled_module("--shapes", "x:4x3x8x8", FAKE_RUNNER="modules=ignored", code=3)
        (case,) = self.cases()
        self.assertEqual((case["status"], case["reason"]), ("failed", "this runner knows nothing of modules"))

    def test_odd_modules_are_answered(self):
        for options, word in (((), "inputs are not known"), (("--shapes", "x"), "no shape"), (("--shapes", "x:2:f99"), "no shape"),
                              (("--shapes", "x:2", "--batch", "2"), "shapes are whole"), (("--module", "mine", "--shapes", "x:2"), "names no callable"),
                              (("--shapes=x:2", "--", "net.txt"), "not beside model files")):
            self.assertIn(word, self.profiled_module(*options, code=2))
        self.assertFalse((self.folder / "out").exists())

    def test_odd_requests_are_answered(self):
        for options, word in ((("--window", "0.05"), "100 ms"), (("--for", "soon"), "no time"), (("--mode", "both"), "no mode"),
                              (("--precision", "fp8"), "none that is measured"), (("--runner", "nobody"), "no runner"),
                              (("--batch", "0"), "no batch size"), (("--sbatch=--x",), "only with --slurm"),
                              (("--validate", "--check-proportionality"), "two things"),
                              (("--slurm", "2", "--validate"), "array measures"), (("--slurm", "2", "--check-proportionality"), "array measures"),
                              (("--slurm", "0"), "--slurm"), (("--slurm", "100001"), "--slurm"), (("--batch", "1,,2"), "'' is no batch size"),
                              (("--mode", "inference,"), "'' is no mode"), (("--gpu", "0,0"), "one GPU"), (("--gpu", "all"), "one GPU"),
                              (("--name", ""), "is empty"), (("--slurm", "2", "--sbatch=--a\nb"), "not one line"),
                              (("--name", "a\nb"), "'a?b' has characters"), (("--name", "a\x7f", "-n"), "no name has"),
                              (("--name", "a100-sxm4-40gb"), "a name of your own"), (("--name", "NVIDIA A30"), "is the GPU"),
                              (("--shard", ""), "is empty"), (("--pack", "nofile"), "only with --for"),
                              (("-n", "--for", "1s", "--pack", "nofile"), "nofile"), (("-n", "--gpu-file", "nofile"), "nofile"),
                              (("--slurm", "2", "--gpu-file", "nofile"), "nofile"), (("--slurm", "9"), "only 5 cases"),
                              (("--target", "0"), "above 0"), (("--window", "nan"), "100 ms"), (("--window", "inf"), "100 ms"),
                              (("--span", "nan"), "--span"), (("--span", "-1"), "--span"), (("--patience", "nan"), "--patience"),
                              (("--patience", "1e300"), "--patience"), (("--target", "inf"), "above 0"), (("--noisy", "nan"), "above 0"),
                              (("--for", "inf"), "no time"), (("--for", "1e300h"), "no time"), (("--for", "nan"), "no time")):
            process = self.start(*options)
            _, errors = process.communicate(timeout=60)
            self.assertIn(process.returncode, (1, 2), options)
            self.assertIn(word, errors)
            self.assertFalse((self.folder / "out").exists(), options)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
