#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`joulecast measure` and its sisters against a stand-in of NVML.

    measure_test.py joulecast folder-of-the-stand-in scenarios [unittest's arguments]
"""

import csv
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from recording_reader import read

JOULECAST, STANDIN, SCENARIOS = (os.path.abspath(word) for word in sys.argv[1:4])


def environment(scenario=None, **more):
    out = {"PATH": f"{Path(JOULECAST).parent}:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    if scenario:
        out |= {"LD_LIBRARY_PATH": STANDIN, "JOULECAST_STANDIN": f"{SCENARIOS}/{scenario}.toml"}
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            out[name] = os.environ[name]
    return out | more


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_joulecast(self, *arguments, scenario=None, **more):
        return subprocess.run(
            [JOULECAST, *arguments], cwd=self.folder, env=environment(scenario, **more), capture_output=True, text=True,
            timeout=60, check=False,
        )

    def measured(self, *arguments, scenario="eight_h100", **more):
        done = self.run_joulecast("measure", "--json", *arguments, scenario=scenario, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stderr)


class TheCommand(Case):
    def test_keeps_its_output_and_its_exit_code(self):
        done = self.run_joulecast("measure", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stdout, "out\n")
        self.assertIn("err\n", done.stderr)

    def test_may_have_options_of_its_own_without_dashes(self):
        done = self.run_joulecast("measure", "sh", "-c", "echo $0", "--json")
        self.assertEqual(done.stdout, "--json\n")

    def test_may_write_where_the_summary_would_stand(self):
        command = ("sh", "-c", "echo 50% >&2")
        done = self.run_joulecast("measure", "--json", "--summary", "out.json", "--", *command, scenario="eight_h100")
        self.assertEqual((done.returncode, done.stderr), (0, "50%\n"))
        self.assertEqual(json.loads(Path(self.folder, "out.json").read_text())["schema"], "joulecast.measurement/1")
        done = self.run_joulecast("measure", "--summary", "out.json", "--", *command, scenario="eight_h100")
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (0, "50%"))
        self.assertNotIn("gpu0", done.stderr)
        self.assertIn("gpu0", Path(self.folder, "out.json").read_text())

    def test_is_not_measured_in_vain_where_the_summary_cannot_be_written(self):
        done = self.run_joulecast("measure", "--summary", "nowhere/out.txt", "--", "true", scenario="eight_h100")
        self.assertEqual(done.returncode, 1)
        self.assertIn("gpu0", done.stderr)
        self.assertIn("nowhere/out.txt", done.stderr)

    def test_keeps_its_input(self):
        done = subprocess.run([JOULECAST, "measure", "-q", "cat"], input="through\n", env=environment(), text=True,
                              capture_output=True, timeout=20, check=False)
        self.assertEqual(done.stdout, "through\n")

    def test_reads_a_file_anew_in_each_run(self):
        Path(self.folder, "in").write_text("skipped\nwords\n")
        command = "read line; exec joulecast measure -q -o run.jcrun -w 1 -r 3 -- cat"
        with open(f"{self.folder}/in", encoding="ascii") as file:
            done = subprocess.run(["bash", "-c", command], stdin=file, cwd=self.folder, env=environment(), text=True,
                                  capture_output=True, timeout=30, check=False)
        self.assertEqual(done.stdout, "words\n" * 3)
        self.assertEqual(read(f"{self.folder}/run.jcrun").notes, [])

    def test_says_where_a_pipe_was_used_up(self):
        done = subprocess.run([JOULECAST, "measure", "--json", "-r", "3", "--", "sh", "-c", "cat >>copy"], input="words\n",
                              cwd=self.folder, env=environment(), text=True, capture_output=True, timeout=30, check=False)
        self.assertEqual(Path(self.folder, "copy").read_text(), "words\n")
        warnings = [text for text in json.loads(done.stderr)["warnings"] if "standard input is a pipe" in text]
        self.assertEqual(len(warnings), 1, done.stderr)

    def test_that_is_not_there_or_no_program(self):
        self.assertEqual(self.run_joulecast("measure", "--", "no-such-program").returncode, 127)
        done = self.run_joulecast("measure", "-o", "run.jcrun", "--", "/etc/passwd")
        self.assertEqual(done.returncode, 126)
        self.assertFalse(Path(self.folder, "run.jcrun").exists())

    def test_killed_by_a_signal_gives_what_a_shell_gives(self):
        self.assertEqual(self.run_joulecast("measure", "--", "sh", "-c", "kill -SEGV $$").returncode, 128 + 11)

    def test_gets_the_signals_that_we_get(self):
        script = "trap 'echo stopped; exit 3' TERM; echo ready; while :; do sleep 0.05; done"
        run = subprocess.Popen([JOULECAST, "measure", "-o", "run.jcrun", "--", "sh", "-c", script], cwd=self.folder,
                               env=environment("v100"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "ready\n")
        time.sleep(0.3)
        run.send_signal(signal.SIGTERM)
        out, err = run.communicate(timeout=20)
        self.assertEqual((out, run.returncode), ("stopped\n", 3))
        self.assertIn("Measured: sh", err)
        self.assertIsNotNone(read(f"{self.folder}/run.jcrun").end)

    def test_hears_messages_and_goes_on_being_measured(self):
        told = ["USR1", "USR2", "ALRM", "XCPU", "WINCH", "RTMIN+3"]
        traps = "; ".join(f"trap 'echo {name}' {name}" for name in told)
        script = f"{traps}; echo ready; for i in $(seq 400); do [ -e done ] && break; sleep 0.05; done; sleep 0.3; exit 5"
        run = subprocess.Popen([JOULECAST, "measure", "-o", "run.jcrun", "--", "bash", "-c", script], cwd=self.folder,
                               env=environment("v100"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "ready\n")
        for name in told:
            run.send_signal(signal.SIGRTMIN + 3 if name == "RTMIN+3" else getattr(signal, f"SIG{name}"))
            self.assertEqual(run.stdout.readline(), f"{name}\n")
        Path(self.folder, "done").touch()
        _, err = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 5, err)
        self.assertIn("Measured: bash", err)
        self.assertFalse(read(f"{self.folder}/run.jcrun").end["stopped"])

    def test_that_has_not_begun_misses_a_message(self):
        run = subprocess.Popen([JOULECAST, "measure", "--baseline", "2", "--", "echo", "ran"], cwd=self.folder,
                               env=environment("v100"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        run.send_signal(signal.SIGUSR1)
        out, err = run.communicate(timeout=20)
        self.assertEqual((run.returncode, out), (0, "ran\n"), err)

    def test_stopped_in_the_baseline_says_so(self):
        run = subprocess.Popen([JOULECAST, "measure", "--baseline", "60", "--", "touch", "ran"], cwd=self.folder,
                               env=environment("v100"), stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=20)
        self.assertEqual(run.returncode, 130, err)
        self.assertIn("nothing was measured", err)
        self.assertIn("hint: --baseline is 60 s of idleness", err)
        self.assertNotIn("-w", err)
        self.assertFalse(Path(self.folder, "ran").exists())

    def test_killed_in_the_baseline_is_not_summed_up(self):
        for option, only in ((["--baseline", "60"], "the baseline"), (["-w", "1"], "its warm-up")):
            process = subprocess.Popen([JOULECAST, "measure", "-f", "-o", "run.jcrun", *option, "--", "sleep", "3"],
                                       cwd=self.folder, env=environment("eight_h100"))
            time.sleep(1.5)
            process.kill()
            process.wait()
            for verb in (["analyze"], ["analyze", "--json"], ["report", "-o", "page.html"]):
                done = self.run_joulecast(verb[0], "run.jcrun", *verb[1:])
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(f"had not begun when the recording ended: {only} is all there is", done.stderr + done.stdout)
            self.assertFalse(Path(self.folder, "page.html").exists())

    def test_finds_nothing_changed_but_the_marks(self):
        done = self.run_joulecast("measure", "--no-hook", "-q", "--", "env")
        names = {line.split("=")[0] for line in done.stdout.splitlines()}
        plain = subprocess.run(["env"], env=environment(), capture_output=True, text=True, check=True)
        ours = {line.split("=")[0] for line in plain.stdout.splitlines()}
        self.assertEqual(names - ours, {"JOULECAST_MARKS", "JOULECAST_MARKS_FD"})

    def test_leaves_nothing_behind(self):
        self.run_joulecast("measure", "--", "true", scenario="v100")
        self.assertEqual(os.listdir(self.folder), [])


class WithoutSensors(Case):
    def test_says_so_and_lets_the_command_run(self):
        done = self.run_joulecast("measure", "--", "sleep", "0.2")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing here measures power", done.stderr)
        self.assertIn("no NVIDIA driver here", done.stderr)

    def test_gives_no_energy_and_not_zero(self):
        done = self.run_joulecast("measure", "--json", "--", "true")
        self.assertEqual([device for device in json.loads(done.stderr)["devices"] if device["energy_j"]], [])

    def test_a_gpu_that_is_asked_for_is_an_error(self):
        done = self.run_joulecast("measure", "--gpu", "0", "--", "touch", "ran")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(os.listdir(self.folder), [])


class Energy(Case):
    def test_of_eight_gpus_is_each_ones_own(self):
        run = self.measured("--", "sleep", "2")
        self.assertEqual([device["device"] for device in run["devices"]], [f"gpu{i}" for i in range(8)])
        for device in run["devices"]:
            self.assertEqual(device["energy_j"]["source"], "nvml-counter")
            # 350 and 650 W in turn.
            self.assertAlmostEqual(device["energy_j"]["mean"] / run["time_s"]["mean"], 500, delta=50)

    def test_follows_the_visible_devices(self):
        run = self.measured("--", "true", CUDA_VISIBLE_DEVICES="5,2")
        self.assertEqual([device["device"] for device in run["devices"]], ["gpu2", "gpu5"])
        self.assertEqual(run["run"]["gpu_choice"], "CUDA_VISIBLE_DEVICES=5,2")

    def test_takes_gpu_and_interval_from_the_environment_unless_told(self):
        run = self.measured("--", "sleep", "1", JOULECAST_GPU="3", JOULECAST_INTERVAL="10")
        self.assertEqual([device["device"] for device in run["devices"]], ["gpu3"])
        gaps = {one["source"]: one["usual_gap_s"] for one in run["sampling"]}
        self.assertLess(gaps["nvml-instant"], 0.03)
        run = self.measured("--gpu", "2", "--", "true", JOULECAST_GPU="3")
        self.assertEqual([device["device"] for device in run["devices"]], ["gpu2"])
        done = self.run_joulecast("measure", "--", "true", JOULECAST_INTERVAL="soon")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'soon' is no number", done.stderr)

    def test_at_a_coarse_interval_is_still_that_of_the_counter(self):
        # The buffer sees a quarter of the load's time, and it is always the same quarter.
        run = self.measured("-I", "1000", "--", "sleep", "2.3", scenario="a100")
        gpu = run["devices"][0]
        self.assertEqual(gpu["energy_j"]["source"], "nvml-counter")
        self.assertAlmostEqual(gpu["power_w"]["mean"], 0.75 * 380 + 0.25 * 180, delta=12)
        self.assertTrue(all(source["standard_error_j"] != 0 for source in gpu["runs"][0]["sources"]))

    def test_of_hidden_gpus_says_what_hides_them(self):
        done = self.run_joulecast("measure", "--", "true", scenario="eight_h100", CUDA_VISIBLE_DEVICES="")
        self.assertIn("CUDA_VISIBLE_DEVICES= shows none of the 8 here", done.stderr)

    def test_in_csv_has_a_line_a_source(self):
        done = self.run_joulecast("measure", "--csv", "-r", "2", "--gpu", "0", "--", "sh", "-c", "echo out; sleep 0.5", scenario="v100")
        self.assertEqual((done.returncode, done.stdout), (0, "out\nout\n"))
        rows = list(csv.DictReader(done.stderr.splitlines()))
        best = [row for row in rows if row["best"] == "1"]
        self.assertEqual([(row["device"], row["run"], row["source"]) for row in best],
                         [("gpu0", "1", "nvml-counter"), ("gpu0", "2", "nvml-counter")])
        self.assertGreater(len(rows), 2)
        self.assertAlmostEqual(float(best[0]["energy_j"]) / float(best[0]["time_s"]), float(best[0]["power_w"]), places=6)
        bare = self.run_joulecast("measure", "--csv", "--", "true").stderr
        self.assertEqual(len(list(csv.DictReader(bare.splitlines()))), 1, bare)

    def test_without_a_counter_comes_from_power(self):
        run = self.measured("--", "sleep", "1", scenario="p100")
        energy = run["devices"][0]["energy_j"]
        self.assertEqual(energy["source"], "nvml-buffer")
        self.assertAlmostEqual(energy["mean"] / run["time_s"]["mean"], 180, delta=3)

    def test_of_a_gpu_that_fell_off_the_bus_is_not_given(self):
        run = self.measured("--", "sleep", "2", scenario="lost")
        first, second = run["devices"]
        self.assertIsNone(first["energy_j"])
        self.assertIsNotNone(second["energy_j"])
        self.assertTrue(any("too little for a total" in text for text in run["warnings"]), run["warnings"])

    def test_of_sentinels_is_none(self):
        run = self.measured("--", "sleep", "1", scenario="sentinel")
        for device in run["devices"]:
            for one in device["runs"]:
                for source in one["sources"]:
                    self.assertLess(source["energy_j"], 2000)

    def test_counts_on_over_a_wrap_of_the_counter(self):
        run = self.measured("--", "sleep", "2", scenario="counter_wrap")
        device = run["devices"][0]
        sources = {source["source"]: source["energy_j"] for source in device["runs"][0]["sources"]}
        self.assertAlmostEqual(sources["nvml-counter"], sources["nvml-instant"], delta=0.1 * sources["nvml-instant"])

    def test_of_a_superchip_is_told_from_that_of_its_module(self):
        run = self.measured("--", "sleep", "1", scenario="grace_hopper")
        self.assertIn("nvml-module-instant", [source["source"] for source in run["devices"][0]["runs"][0]["sources"]])
        self.assertTrue(any("disagree" in text for text in run["warnings"]))

    def test_under_a_limit_that_changes_is_doubted(self):
        run = self.measured("--", "sleep", "3", scenario="outofband")
        change = r"its power limit did not stay: 700 W, then 350 W from 0\.\d+ s, 700 W again from 1\.\d+ s on;"
        told = [text for text in run["warnings"] if re.search(change, text)]
        self.assertEqual(len(told), 1, run["warnings"])

    def test_repeats_and_warm_ups(self):
        run = self.measured("-r", "3", "-w", "1", "-o", "run.jcrun", "--", "sh", "-c", "echo x >>count; sleep 0.3", scenario="v100")
        self.assertEqual(Path(self.folder, "count").read_text(), "x\n" * 4)
        self.assertEqual(run["time_s"]["n"], 3)
        self.assertIsNotNone(run["time_s"]["stddev"])

    def test_phases_of_warm_ups_do_not_count(self):
        script = 'for i in 1 2; do echo "begin epoch" >&$JOULECAST_MARKS_FD; sleep 0.3; echo "end epoch" >&$JOULECAST_MARKS_FD; done'
        run = self.measured("-r", "2", "-w", "2", "-o", "run.jcrun", "--", "bash", "-c", script, scenario="v100")
        analyzed = json.loads(self.run_joulecast("analyze", "--json", "run.jcrun").stdout)
        for phases in (run["phases"], analyzed["runs"][0]["phases"]):
            self.assertEqual([(phase["name"], phase["time_s"]["n"]) for phase in phases], [("epoch", 4)])
        self.assertRegex(self.run_joulecast("analyze", "run.jcrun").stdout, r"epoch .* ([4-9]\d|100)(\.\d)? %")

    def test_a_warm_up_that_fails_is_no_measurement(self):
        done = self.run_joulecast("measure", "-w", "1", "--", "false", scenario="v100")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nothing was measured", done.stderr)
        done = self.run_joulecast("measure", "-r", "3", "--", "false", scenario="v100")
        self.assertIn("1 of 3 runs", done.stderr)

    def test_runs_that_fail_are_in_no_mean(self):
        script = "echo x >>count; [ $(wc -l <count) -eq 2 ] && exit 9; sleep 0.6"
        done = self.run_joulecast("measure", "-i", "-r", "3", "-o", "run.jcrun", "--", "sh", "-c", script, scenario="v100")
        self.assertEqual(done.returncode, 9)
        said = "1 of 3 runs failed (exit code 9) and is not in the means"
        self.assertIn(said, done.stderr)
        self.assertIn("(mean of 2 runs", done.stderr)
        run = json.loads(self.run_joulecast("analyze", "--json", "run.jcrun").stdout)["runs"][0]
        self.assertEqual((run["time_s"]["n"], len(run["devices"][0]["runs"])), (2, 2))
        self.assertGreater(run["time_s"]["min"], 0.6)
        self.assertEqual([(one["run"], one["code"]) for one in run["failed_runs"]], [(2, 9)])
        self.assertIn(said, run["warnings"])
        self.assertIn(said, self.run_joulecast("report", "--no-charts", "run.jcrun").stdout)
        os.remove(f"{self.folder}/count")
        done = self.run_joulecast("measure", "-i", "-r", "3", "--csv", "--", "sh", "-c", script, scenario="v100")
        rows = list(csv.DictReader(done.stderr.splitlines()))
        self.assertEqual([(row["run"], row["exit_code"]) for row in rows if row["best"] in ("1", "")], [("1", "0"), ("2", "9"), ("3", "0")])

    def test_where_all_fail_is_of_those(self):
        done = self.run_joulecast("measure", "-i", "-r", "2", "--", "false", scenario="v100")
        self.assertIn("all 2 runs failed (exit code 1)", done.stderr)
        self.assertIn("(mean of 2 runs", done.stderr)

    def test_a_phase_that_nobody_ended_ends_with_the_command(self):
        run = self.measured("--", "bash", "-c", 'echo "begin p" >&$JOULECAST_MARKS_FD; sleep 0.3', scenario="v100")
        self.assertLessEqual(run["phases"][0]["time_s"]["mean"], run["time_s"]["mean"])

    def test_baseline_is_told_apart(self):
        run = self.measured("--baseline", "1", "--", "sleep", "1", scenario="p100")
        self.assertAlmostEqual(run["devices"][0]["above_idle_j"], 0, delta=5)


class Inside(Case):
    """A measure inside a measure."""

    def test_each_counts_all_of_its_own_once(self):
        script = ("joulecast mark begin outer; joulecast measure -q -o inner.jcrun -- "
                  "bash -c 'joulecast mark begin inner; sleep 1; joulecast mark end inner'; joulecast mark end outer")
        outer = self.measured("--gpu", "0", "-o", "outer.jcrun", "--", "bash", "-c", script, CUDA_VISIBLE_DEVICES="0")
        inner = json.loads(self.run_joulecast("analyze", "--json", "inner.jcrun").stdout)["runs"][0]
        self.assertEqual([phase["name"] for phase in outer["phases"]], ["outer"])
        self.assertEqual([phase["name"] for phase in inner["phases"]], ["inner"])
        self.assertEqual((outer["time_s"]["n"], inner["time_s"]["n"]), (1, 1))
        self.assertGreater(outer["time_s"]["mean"], inner["time_s"]["mean"] + 0.4)
        for run in (outer, inner):
            # 350 and 650 W in turn.
            self.assertAlmostEqual(run["devices"][0]["energy_j"]["mean"] / run["time_s"]["mean"], 500, delta=50)
        self.assertTrue(any("inside another" in text for text in inner["warnings"]), inner["warnings"])
        self.assertFalse(any("inside another" in text for text in outer["warnings"]), outer["warnings"])


class Failures(Case):
    def test_under_json_are_one_object_on_the_same_stream(self):
        for arguments, code in ((["--", "no-such-program"], 127), (["-r", "0", "--", "true"], 2), (["-I", "--", "true"], 2),
                                (["-w", "1", "--", "false"], 1), (["--gpu", "0", "--", "true"], 2), ([], 2)):
            done = self.run_joulecast("measure", "--json", *arguments)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            failure = json.loads(done.stderr)
            self.assertEqual((failure["schema"], failure["exit_code"]), ("joulecast.failure/1", code))

    def test_of_the_others_leave_the_sentence_on_standard_error(self):
        for arguments, code in ((["analyze", "nowhere"], 1), (["watch", "-c", "1"], 1), (["doctor", "--gpu", "7"], 2),
                                (["sweep", "nowhere.toml"], 2), (["analyze"], 2)):
            done = self.run_joulecast(*arguments, "--json")
            self.assertEqual(done.returncode, code, done.stderr)
            failure = json.loads(done.stdout)
            self.assertEqual(failure["exit_code"], code)
            self.assertIn(failure["error"]["message"].split("\n")[0], done.stderr)

    def test_of_a_command_that_ran_keep_its_summary(self):
        done = self.run_joulecast("measure", "--json", "--", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(json.loads(done.stderr)["schema"], "joulecast.measurement/1")

    def test_json_of_the_command_is_not_ours(self):
        done = self.run_joulecast("measure", "--no-such", "--", "true", "--json")
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith("joulecast: "), done.stderr)


class Recordings(Case):
    def test_are_not_replaced_unless_forced(self):
        self.assertEqual(self.run_joulecast("measure", "-o", "a.jcrun", "--", "true").returncode, 0)
        again = self.run_joulecast("measure", "-o", "a.jcrun", "--", "touch", "ran")
        self.assertEqual(again.returncode, 2)
        self.assertIn("--force", again.stderr)
        self.assertFalse(Path(self.folder, "ran").exists())
        self.assertEqual(self.run_joulecast("measure", "-f", "-o", "a.jcrun", "--", "true").returncode, 0)

    def test_are_not_replaced_by_a_command_that_cannot_be_started(self):
        self.measured("-o", "a.jcrun", "--", "true")
        Path(self.folder, "text").write_text("no program")
        before = Path(self.folder, "a.jcrun").read_bytes()
        for command, code in (("no-such-program", 127), ("./no-such-program", 127), ("./text", 126), (self.folder, 126)):
            done = self.run_joulecast("measure", "-f", "-o", "a.jcrun", "--", command, scenario="eight_h100")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(Path(self.folder, "a.jcrun").read_bytes(), before)

    def test_are_written_by_one_process_alone(self):
        first = subprocess.Popen([JOULECAST, "measure", "-q", "-o", "a.jcrun", "--", "sleep", "2"], cwd=self.folder,
                                 env=environment("eight_h100"))
        time.sleep(1)
        second = self.run_joulecast("measure", "-f", "-o", "a.jcrun", "--", "touch", "ran", scenario="eight_h100")
        self.assertEqual(second.returncode, 2)
        self.assertIn("another process is recording into it", second.stderr)
        self.assertFalse(Path(self.folder, "ran").exists())
        self.assertEqual(first.wait(), 0)
        self.assertEqual(read(f"{self.folder}/a.jcrun").cut_off, 0)
        self.assertEqual(self.run_joulecast("measure", "-f", "-o", "a.jcrun", "--", "true").returncode, 0)

    def test_are_not_replaced_by_an_export_either(self):
        for name in ("a.jcrun", "b.jcrun"):
            self.assertEqual(self.run_joulecast("measure", "-o", name, "--", "true").returncode, 0)
        before = Path(self.folder, "b.jcrun").read_bytes()
        for form in ("jcrun", "csv"):
            again = self.run_joulecast("export", "--as", form, "a.jcrun", "-o", "b.jcrun")
            self.assertEqual((again.returncode, Path(self.folder, "b.jcrun").read_bytes()), (2, before))
            self.assertIn("--force", again.stderr)
        self.assertEqual(self.run_joulecast("export", "-f", "--as", "csv", "a.jcrun", "-o", "b.jcrun").returncode, 0)
        self.assertNotEqual(Path(self.folder, "b.jcrun").read_bytes(), before)

    def test_hold_machine_devices_and_settings(self):
        self.run_joulecast("measure", "-o", "a.jcrun", "--", "true", scenario="v100")
        head = read(f"{self.folder}/a.jcrun").head
        self.assertEqual(head["schema"], "joulecast.recording/1")
        details = head["devices"][0]["details"]
        self.assertEqual(details["architecture"], "volta")
        self.assertEqual((details["nvml_version"], details["cuda_version"]), ("12.550.54.15", "12.4"))
        self.assertEqual(details["compute_capability"], "7.0")
        names = [line.split("=", 1)[1].strip("\"'") for line in Path("/etc/os-release").read_text().splitlines() if line.startswith("PRETTY_NAME=")]
        self.assertEqual([head["machine"]["distribution"]], names)
        self.assertGreater(details["settings"]["power_limit_w"], 0)

    def test_say_what_the_driver_lost(self):
        run = self.measured("--", "sleep", "3", scenario="ring_overrun")
        self.assertTrue(any("ran over" in text for text in run["warnings"]), run["warnings"])

    def test_of_ranks_add_up(self):
        for rank in range(2):
            self.run_joulecast("measure", "-o", "{rank}.jcrun", "--", "sleep", "1", scenario="eight_h100", RANK=str(rank),
                               WORLD_SIZE="2", LOCAL_RANK=str(rank), TORCHELASTIC_RUN_ID="job")
        done = self.run_joulecast("analyze", "--json", "0.jcrun", "1.jcrun")
        job = json.loads(done.stdout)["job"]
        self.assertEqual((job["ranks"], job["gpus"]), (2, 2))
        ranks = [json.loads(self.run_joulecast("analyze", "--json", f"{i}.jcrun").stdout)["runs"][0] for i in range(2)]
        self.assertAlmostEqual(job["energy_j"], sum(run["devices"][0]["energy_j"]["mean"] for run in ranks), places=6)
        for verb in (["analyze"], ["report", "-o", "page.html"]):
            twice = self.run_joulecast(verb[0], "0.jcrun", "1.jcrun", "0.jcrun", *verb[1:])
            self.assertIn("not summed as one job: 0.jcrun and 0.jcrun are both of its rank 0", twice.stderr)
        # Each draws 500 W in the mean.
        self.assertAlmostEqual(job["energy_j"] / sum(run["time_s"]["mean"] for run in ranks), 500, delta=60)

    def test_can_be_played_again(self):
        self.run_joulecast("measure", "-o", "a.jcrun", "--", "sleep", "2", scenario="p100")
        run = self.measured("--replay", "a.jcrun", "--", "sleep", "0.8", scenario=None)
        self.assertEqual(run["devices"][0]["energy_j"]["source"], "nvml-buffer")
        self.assertTrue(any("played again" in text for text in run["warnings"]))

    def test_played_again_have_their_own_gpus_and_their_own_end(self):
        self.measured("-o", "a.jcrun", "--", "sleep", "0.2", scenario="eight_h100")
        chosen = self.run_joulecast("measure", "--replay", "a.jcrun", "--gpu", "1", "--", "true")
        self.assertEqual(chosen.returncode, 2)
        self.assertIn("--replay plays all it has", chosen.stderr)
        late = self.run_joulecast("measure", "--baseline", "2", "--replay", "a.jcrun", "--", "sleep", "0.2")
        self.assertIn("the recording that was played is shorter", late.stderr)
        self.assertNotIn("nothing here measures", late.stderr)

    def test_on_a_full_disk_fail_after_the_command_ran(self):
        for code, ours in (0, 1), (4, 4):
            command = f'ulimit -f 4; exec joulecast measure -I 1 -f -o x.jcrun -- sh -c "sleep 1; exit {code}"'
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment("eight_h100"), text=True,
                                  capture_output=True, timeout=30, check=False)
            self.assertEqual(done.returncode, ours, done.stderr)
            self.assertIn("File too large", done.stderr)
            # What the file has no room for was measured all the same.
            self.assertRegex(done.stderr, r"Time: +1\.\d+ s")
            self.assertNotIn("nothing here measures", done.stderr)
            self.assertRegex(done.stderr, r"gpu7 .* J ")

    def test_go_to_regular_files_only(self):
        os.mkfifo(f"{self.folder}/pipe")
        for place in ("pipe", "/dev/null", "."):
            done = self.run_joulecast("measure", "-f", "-o", place, "--", "touch", "ran")
            self.assertEqual(done.returncode, 2, place)
            self.assertFalse(Path(self.folder, "ran").exists())
        self.run_joulecast("measure", "-o", "a.jcrun", "--", "true")
        os.symlink("target.csv", f"{self.folder}/link")
        done = self.run_joulecast("export", "--as", "csv", "a.jcrun", "-o", "link")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(Path(self.folder, "link").is_symlink())
        self.assertEqual(self.run_joulecast("export", "--as", "csv", "a.jcrun", "-o", "pipe").returncode, 1)

    def test_no_recording_is_a_clear_error(self):
        Path(self.folder, "x").write_text("time,power\n")
        done = self.run_joulecast("analyze", "x")
        self.assertEqual(done.returncode, 1)
        self.assertIn("neither a recording of joulecast", done.stderr)


class Stalls(threading.Thread):
    """How long this machine at worst kept a thread waiting that sleeps a little and then writes to the disk."""

    EVERY_S = 0.05

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.worst_s, self.ended = 0.0, threading.Event()
        self.file = open(f"{folder}/stalls", "wb", buffering=0)

    def run(self):
        while not self.ended.is_set():
            before = time.monotonic()
            time.sleep(self.EVERY_S)
            self.file.write(b"x")
            os.fdatasync(self.file.fileno())
            self.worst_s = max(self.worst_s, time.monotonic() - before - self.EVERY_S)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()
        self.file.close()


class Killed(Case):
    """Two hundred times: nothing but the last second is missing, and it can always be read. What the machine itself keeps
    everybody waiting for comes on top."""

    KILLS, AT_ONCE = 200, 25

    def test_loses_no_more_than_a_second(self):
        rng = random.Random(7)
        self.with_readings = 0
        for start in range(0, self.KILLS, self.AT_ONCE):
            runs = [(i, rng.uniform(0.0, 2.5)) for i in range(start, start + self.AT_ONCE)]
            self.kill_some(sorted(runs, key=lambda run: run[1]))
        self.assertGreater(self.with_readings, self.KILLS / 10)

    def kill_some(self, runs):
        started = {}
        begun = time.monotonic()
        for i, _ in runs:
            started[i] = subprocess.Popen([JOULECAST, "measure", "-o", f"{i}.jcrun", "--", "sleep", "30"], cwd=self.folder,
                                          env=environment("v100"), stderr=subprocess.DEVNULL, start_new_session=True)
        killed = {}
        with Stalls(self.folder) as stalls:
            for i, moment in runs:
                time.sleep(max(0.0, begun + moment - time.monotonic()))
                os.killpg(started[i].pid, signal.SIGKILL)
                killed[i] = time.monotonic()
                started[i].wait()
        for i, _ in runs:
            self.check(Path(self.folder, f"{i}.jcrun"), killed[i], 2 * stalls.worst_s)

    def check(self, path, killed, stalled_s):
        if not path.exists():
            return  # killed before it was there
        done = subprocess.run([JOULECAST, "analyze", "--json", path], capture_output=True, text=True, env=environment(), timeout=20,
                              check=False)
        data = path.read_bytes()
        if len(data) < 16:
            return
        recording = read(path)
        last = recording.last_reading()
        if last is None:
            return  # killed before its first readings were written: starting 25 at once takes its time
        self.with_readings += 1
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(killed - last * 1e-6, 1.0 + stalled_s, path)
        for channel, series in zip(recording.channels, recording.readings):
            if channel["source"] == "nvml-counter":
                gaps = [b[0] - a[0] for a, b in zip(series, series[1:])]
                self.assertLess(max(gaps, default=0) * 1e-6, 0.5 + stalled_s, path)


class Watching(Case):
    def test_prints_as_often_as_asked(self):
        done = self.run_joulecast("watch", "-d", "0.2", "-c", "3", "--json", scenario="v100")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(lines), 3)
        self.assertGreater(lines[2]["devices"][0]["energy_j"], lines[0]["devices"][0]["energy_j"])

    def test_a_gpu_that_fell_silent_is_not_shown_as_alive(self):
        done = self.run_joulecast("watch", "-d", "1", "-c", "6", "--json", scenario="lost")
        lines = [json.loads(line)["devices"] for line in done.stdout.splitlines()]
        # It is lost after 1.5 s: no line after that shows what it said before.
        self.assertEqual([(line[0]["answers"], line[0]["power_w"]) for line in lines[1:]], [(False, None)] * 5)
        lost, alive = lines[-1]
        self.assertEqual((lost["answers"], lost["power_w"], lost["temperature_c"]), (False, None, None))
        self.assertGreater(lost["energy_j"], 100)
        self.assertEqual((alive["answers"], round(alive["power_w"])), (True, 400))

    def test_without_sensors_says_so(self):
        done = self.run_joulecast("watch", "-c", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("doctor", done.stderr)


class Inputs(Case):
    def test_nothing_is_written_over_what_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            run, link = f"{folder}/run.jcrun", f"{folder}/link"
            self.run_joulecast("measure", "-q", "-o", run, "--", "sleep", "0.5", scenario="v100")
            os.symlink(run, link)
            before = pathlib.Path(run).read_bytes()
            for words in (("analyze", run, "--curves", "-o", link), ("report", run, "-f", "-o", run), ("export", run, "--as", "csv", "-o", link)):
                done = self.run_joulecast(*words)
                self.assertEqual((done.returncode, pathlib.Path(run).read_bytes()), (2, before), words)
                self.assertIn("written over itself", done.stderr)


class Progress(Case):
    SCRIPT = r"""printf 'begin training\tepochs=4\n' >&$JOULECAST_MARKS_FD
        for i in 0 1 2 3; do
          echo "begin epoch" >&$JOULECAST_MARKS_FD; sleep 1.5; echo "end epoch" >&$JOULECAST_MARKS_FD
        done
        echo "end training" >&$JOULECAST_MARKS_FD; sleep 1.3"""

    def test_tells_what_the_epochs_to_come_will_take(self):
        done = self.run_joulecast("measure", "-q", "--progress", "--", "bash", "-c", self.SCRIPT, scenario="v100")
        lines = done.stderr.splitlines()
        told = [line for line in lines if "to go" in line]
        # The first epoch says nothing of the others; the stand-in's counter gains 190 J a second.
        self.assertRegex(told[0], r"^\d+ s  epoch [34]/4, \S+ s and \S+ J to go  gpu0 \d+ W$")
        epoch, seconds, joules = (float(word) for word in re.match(r".* epoch (.)/4, (\S+) s and (\S+) J to go", told[0]).groups())
        # The epoch under way, and those after it; an epoch of a busy machine takes more than it sleeps.
        self.assertGreater(seconds, 1.5 * (4 - epoch))
        self.assertLess(seconds, 2 * 1.5 * (4 - epoch + 1))
        self.assertAlmostEqual(joules / 190, seconds, delta=0.2 * seconds + 0.2)
        self.assertTrue(any(re.search(r"[±<>]\S+ %", line) and "epoch 4/4" in line for line in told), lines)
        self.assertNotIn("epoch", lines[-1])

    def test_is_told_where_each_mark_is_a_process(self):
        script = """for i in 1 2 3 4; do joulecast mark begin epoch --with total=4; sleep 1.2; joulecast mark end epoch; done
                    sleep 1.3"""
        done = self.run_joulecast("measure", "-q", "--progress", "--", "sh", "-c", script, scenario="v100")
        self.assertRegex(done.stderr, r"epoch [34]/4, \S+ s ([±<>]\S+ % )?and \S+ J ([±<>]\S+ % )?to go")
        self.assertIn("epoch 4/4", done.stderr)

    def test_is_not_told_where_nobody_asked_and_no_terminal_is(self):
        done = self.run_joulecast("measure", "-q", "--", "sleep", "0.6", scenario="v100")
        self.assertEqual(done.stderr, "")


class Doctor(Case):
    def test_knows_what_the_sensor_sees(self):
        done = self.run_joulecast("doctor", "--json", scenario="a100")
        sensors = {(one["source"], one["signal"]): one for one in json.loads(done.stdout)["sensors"]}
        instant = sensors["nvml-instant", "power_w"]
        self.assertEqual(instant["class"], "A")
        self.assertAlmostEqual(instant["seen_ratio"], 0.25)
        self.assertAlmostEqual(sensors["nvml-counter", "energy_j"]["update_period_s"], 0.1, delta=0.02)

    def test_says_once_what_eight_have_in_common(self):
        lines = self.run_joulecast("doctor", scenario="eight_h100").stdout.splitlines()
        self.assertEqual(len([line for line in lines if "nvml-counter" in line]), 1, lines)
        self.assertTrue(any(line.startswith("gpu0-7  energy_j") for line in lines), lines)
        self.assertLessEqual(max(len(line) for line in lines), 95)
        done = json.loads(self.run_joulecast("doctor", "--json", scenario="eight_h100").stdout)
        instant = [one for one in done["sensors"] if one["source"] == "nvml-instant"]
        self.assertEqual([one["device"] for one in instant], [f"gpu{i}" for i in range(8)])
        self.assertAlmostEqual(instant[0]["known_update_period_s"], 0.1)

    def test_tells_the_module_from_the_gpu_and_promises_no_rights(self):
        out = " ".join(self.run_joulecast("doctor", scenario="grace_hopper").stdout.split())
        self.assertIn("nvml-module-instant: of the whole module", out)
        self.assertNotIn("may be changed (root)", out)

    def test_without_sensors_says_why(self):
        done = self.run_joulecast("doctor")
        self.assertEqual(done.returncode, 0)
        self.assertIn("No sensor", done.stdout)
        self.assertIn("no NVIDIA driver here", done.stdout)


class Marks(Case):
    def test_come_from_the_command_line_and_from_shells(self):
        script = """joulecast mark begin load --with batch=8; sleep 0.5; joulecast mark end load; joulecast mark saved
                    echo "begin shell" >&$JOULECAST_MARKS_FD; sleep 0.3; echo "end shell" >&$JOULECAST_MARKS_FD"""
        run = self.measured("-o", "run.jcrun", "--", "bash", "-c", script, scenario="v100")
        phases = {phase["name"]: phase for phase in run["phases"]}
        self.assertGreaterEqual(phases["load"]["time_s"]["mean"], 0.5)
        self.assertLess(phases["load"]["time_s"]["mean"], run["time_s"]["mean"] - 0.3)
        self.assertFalse(phases["shell"]["open"])
        self.assertIn("saved", [event[3] for event in read(f"{self.folder}/run.jcrun").events])

    def test_names_are_harmless_wherever_they_are_shown(self):
        hostile = "a\u202eb\u2066\u200b\u0085"
        script = """printf 'begin %s\\tfile=%s\\n' "$1" "$1" >&$JOULECAST_MARKS_FD; printf 'begin x\\377\\n' >&$JOULECAST_MARKS_FD
                    sleep 0.3; printf 'end x\\377\\nend %s\\n' "$1" >&$JOULECAST_MARKS_FD"""
        run = self.measured("-o", "run.jcrun", "--", "bash", "-c", script, "sh", hostile, scenario="v100")
        self.assertEqual([phase["name"] for phase in run["phases"]], ["a\ufffdb\ufffd\ufffd\ufffd", "x\ufffd"])
        self.assertFalse(any(phase["open"] for phase in run["phases"]))
        bad = [chr(c) for c in (*range(9), *range(11, 13), *range(14, 32), *range(0x7F, 0xA0), 0x200B, *range(0x202A, 0x202F),
                                *range(0x2066, 0x206A))]
        shown = [["analyze", "run.jcrun"], ["analyze", "--json", "run.jcrun"], ["report", "--no-charts", "run.jcrun"]]
        shown += [["export", "run.jcrun", "--as", form] for form in ("csv", "json", "trace", "openmetrics")]
        for arguments in shown:
            done = subprocess.run([JOULECAST, *arguments], cwd=self.folder, env=environment(), capture_output=True, timeout=60,
                                  check=True)
            for text in (done.stdout.decode(), done.stderr.decode()):  # is UTF-8
                self.assertFalse([c for c in bad if c in text], arguments)
                self.assertNotIn("\\u202e", text.lower(), arguments)

    def test_of_one_name_that_overlap_are_counted_once(self):
        script = """for i in 1 2 3 4; do (joulecast mark begin batch; sleep 1; joulecast mark end batch) & done; wait"""
        run = self.measured("-o", "run.jcrun", "--", "bash", "-c", script, scenario="v100")
        batch = run["phases"][0]
        self.assertEqual((batch["time_s"]["n"], batch["overlapping"]), (4, True))
        self.assertLessEqual(batch["time_s"]["total"], run["time_s"]["mean"])
        self.assertGreater(batch["time_s"]["mean"], 0.9)
        self.assertLessEqual(batch["energy_j"]["gpu0"]["total"], run["devices"][0]["energy_j"]["mean"] * 1.01)
        self.assertRegex(self.run_joulecast("analyze", "run.jcrun").stdout, r"batch +4 .* [3-9]\d\.\d %|batch +4 .* 100")

    def test_nobody_listening_is_no_error(self):
        self.assertEqual(self.run_joulecast("mark", "begin", "x").returncode, 0)

    def test_nobody_listening_any_more_is_no_error(self):
        late = 'nohup sh -c "sleep 1; joulecast mark late 2>said; echo \\$? >code" >/dev/null 2>&1 &'
        self.run_joulecast("measure", "-q", "--", "sh", "-c", late)
        until = time.monotonic() + 20
        while not Path(self.folder, "code").exists() or not Path(self.folder, "code").read_text():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.assertEqual((Path(self.folder, "code").read_text(), Path(self.folder, "said").read_text()), ("0\n", ""))

    def test_what_is_no_mark_is_refused_and_counted(self):
        run = self.measured("--", "bash", "-c", 'echo "start x" >&$JOULECAST_MARKS_FD', scenario="v100")
        self.assertEqual(run["end"]["marks"]["refused"], 1)
        self.assertEqual(self.run_joulecast("mark", "begin").returncode, 2)

    def test_that_are_refused_are_told(self):
        done = self.run_joulecast("measure", "--", "sh", "-c", "echo nonsense >&$JOULECAST_MARKS_FD; sleep 0.1")
        self.assertIn("1 mark was not taken", done.stderr)

    def test_with_a_tab_or_without_a_key_are_refused(self):
        for words in (["begin", "a\tb"], ["a\tb"], ["begin", "a", "--with", "k"], ["begin", "a", "--with", "=v"]):
            done = self.run_joulecast("mark", *words)
            self.assertEqual(done.returncode, 2, words)

    def test_python_programs_are_hooked_without_a_change(self):
        fake = Path(self.folder, "prog.py")
        fake.write_text("import sys\nprint('joulecast_hook' in sys.modules)\n")
        for option, hooked in ([], "True\n"), (["--no-hook"], "False\n"):
            done = self.run_joulecast("measure", "-q", *option, "--", sys.executable, str(fake))
            self.assertEqual(done.stdout, hooked)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
