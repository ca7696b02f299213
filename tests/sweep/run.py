#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""joulecast sweep and restore from outside, on the stand-in library: what is set, kept, killed and put back.

run.py <joulecast> <folder of the stand-in> [test name...]
"""
import csv
import fcntl
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

PROGRAM, STANDIN = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
PLAIN = "allow_set = true\n[[gpu]]\nload = {constant_w = 600}\n"
SCENARIOS = pathlib.Path(__file__).resolve().parent.parent / "nvml" / "scenarios"
# What is promised within a second, on a machine that others keep busy; the command's background is given five to end.
PROMPT_S = 3
# Every signal that comes is a byte in the pipe, so that two at once are not taken for one.
COUNT_SIGNALS = """
import os, pathlib, signal, subprocess, time
inside, outside = os.pipe()
os.set_blocking(outside, False)
signal.set_wakeup_fd(outside)
signal.signal(signal.SIGINT, lambda *_: None)
back = subprocess.Popen(["sh", "-c", "trap '' INT; exec sleep 60"])
pathlib.Path("back").write_text(str(back.pid))
first = os.read(inside, 100)
time.sleep(0.5)
os.write(outside, b".")
pathlib.Path("heard").write_text(str(len(first + os.read(inside, 100)) - 1))
"""


class Sweep(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="sweep_", ignore_cleanup_errors=True)  # orphans of a kill may still write
        self.folder = pathlib.Path(self.temporary.name)
        self.state = self.folder / "state"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith(("CUDA_", "SLURM_"))}
        self.environment |= {
            "LD_LIBRARY_PATH": STANDIN,
            "XDG_STATE_HOME": str(self.folder / "home"),
            "JOULECAST_STANDIN_STATE": str(self.state),
        }
        self.scenario(PLAIN)

    def tearDown(self):
        self.temporary.cleanup()

    def scenario(self, text):
        (self.folder / "scenario.toml").write_text(text)
        self.environment["JOULECAST_STANDIN"] = str(self.folder / "scenario.toml")

    def plan(self, text, name="plan.toml"):
        (self.folder / name).write_text(text)
        return name

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def start_at_terminal(self, *arguments):
        """As typed at a terminal; its keyboard comes back too."""
        keyboard, terminal = pty.openpty()
        self.addCleanup(os.close, keyboard)
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=self.environment, stdin=terminal,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(terminal)
        return process, keyboard

    def number_in(self, name):
        """That the command wrote."""
        path = self.folder / name
        self.wait_until(lambda: path.exists() and path.read_text().strip(), 20, f"no {name}")
        return int(path.read_text())

    def run_it(self, *arguments, code=0):
        process = self.start(*arguments)
        out, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, code, f"{arguments}\n{out}\n{errors}")
        return out, errors

    def settings(self, key="power_limit_mw"):
        """Everything that was set, oldest first."""
        if not self.state.exists():
            return []
        lines = [line.split() for line in self.state.read_text().splitlines()[1:]]
        return [" ".join(line[3:]) for line in lines if len(line) > 3 and line[2] == key]

    def journals(self):
        return list((self.folder / "home").rglob("*.json"))

    def records(self, folder="plan"):
        files = [p for p in (self.folder / folder).glob("*.json") if p.name != "sweep.json" and ".attempt" not in p.name]
        return {p.stem: json.loads(p.read_text()) for p in files}

    def wait_until(self, condition, seconds, what):
        until = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.01)

    def start_long(self):
        """A sweep of one run that is in its command; the command's process id is in pid."""
        self.plan('command = "echo $$ > pid; exec sleep 30"\npower_limits_w = [300]\nsm_clocks_mhz = [990]\nrepetitions = 1\n')
        process = self.start("sweep", "plan.toml")
        self.wait_until(lambda: (self.folder / "pid").exists() and (self.folder / "pid").read_text().strip(), 20, "no command")
        self.assertEqual(self.settings(), ["300000"])
        self.assertEqual(self.settings("sm_lock_mhz"), ["990 990"])
        return process

    def gone(self, pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):  # the second where it is buried between open() and read()
            return True

    def assert_put_back(self):
        self.assertEqual(self.settings()[-1], "700000")
        self.assertEqual(self.settings("sm_lock_mhz")[-1], "none")
        self.assertEqual(self.journals(), [])

    def test_every_run_has_its_setting_and_the_end_has_what_was_found(self):
        self.plan('command = "sleep 0.4"\npower_limits_w = [300, 400, "found"]\nrepetitions = 2\nbaseline_s = 0.2\n')
        out, _ = self.run_it("sweep", "plan.toml")
        self.assertRegex(out, r"energy +300 W ")
        self.assertLessEqual(max(map(len, out.splitlines())), 80, out)
        records = self.records()
        self.assertEqual(len(records), 6)
        self.assertTrue(all(record["code"] == 0 and record["held"] for record in records.values()))
        self.assertEqual(self.settings()[-1], "700000")
        self.assertEqual(self.journals(), [])
        result = json.loads(self.run_it("sweep", "--result", "plan", "--json")[0])
        group = result["groups"][0]
        self.assertTrue(group["reference_is_default"])
        by_name = {setting["setting"]: setting for setting in group["settings"]}
        for name, watts in (("300 W", 300), ("400 W", 400), ("as found", 600)):
            self.assertAlmostEqual(by_name[name]["power_w"], watts, delta=0.1 * watts)
        self.assertEqual(group["optima"][1]["setting"], "300 W")

    def test_a_place_that_no_parameter_fills_is_named(self):
        self.plan("command = \"echo {lr} ${HOME} | awk '{print}'\"\nrepetitions = 1\n[parameters]\n")
        _, errors = self.run_it("sweep", "plan.toml", "--dry-run")
        self.assertIn("{lr} in the command stays as it is", errors)
        self.assertNotIn("{HOME}", errors)

    def test_sigkill_puts_back_within_a_second_and_ends_the_command(self):
        process = self.start_long()
        pid = int((self.folder / "pid").read_text())
        os.kill(process.pid, signal.SIGKILL)
        self.wait_until(lambda: self.settings()[-1] == "700000" and self.settings("sm_lock_mhz")[-1] == "none", PROMPT_S,
                        "not put back at once")
        self.wait_until(lambda: not self.journals(), PROMPT_S, "the journal stays")
        self.wait_until(lambda: self.gone(pid), 20, "the command goes on, at another setting")
        process.communicate()
        # And again: the half run is kept under another name.
        self.plan('command = "echo $$ > pid; exec sleep 30"\npower_limits_w = [300]\nsm_clocks_mhz = [990]\nrepetitions = 1\n')
        (self.folder / "pid").unlink()
        again = self.start("sweep", "plan.toml")
        self.wait_until(lambda: (self.folder / "pid").exists(), 20, "no second run")
        self.assertTrue((self.folder / "plan" / "300W_sm990_r01.attempt1.jcrun").exists())
        again.terminate()
        again.communicate(timeout=20)
        self.assertEqual(again.returncode, 128 + signal.SIGTERM)
        self.assert_put_back()

    def test_sigkill_ends_what_the_command_runs_in_the_background(self):
        self.plan('command = "sleep 60 & echo $! > plain; (trap \'\' TERM; exec sleep 60) & echo $! > deaf; set -m; '
                  'sleep 60 & echo $! > job; exec sleep 60"\npower_limits_w = [300]\nrepetitions = 1\n')
        process = self.start("sweep", "plan.toml")
        pids = {name: self.number_in(name) for name in ("plain", "deaf", "job")}
        os.kill(process.pid, signal.SIGKILL)
        self.wait_until(lambda: self.settings()[-1] == "700000", PROMPT_S, "the settings wait for the command's end")
        for name in ("plain", "job", "deaf"):
            self.wait_until(lambda: self.gone(pids[name]), PROMPT_S if name != "deaf" else 20, f"{name} goes on")
        process.communicate()

    def test_sigkill_of_a_sweep_without_settings_ends_its_command(self):
        self.plan('command = "(trap \'\' TERM; exec sleep 60) & echo $! > deaf; wait"\nrepetitions = 1\n')
        process = self.start("sweep", "plan.toml")
        deaf = self.number_in("deaf")
        os.kill(process.pid, signal.SIGKILL)
        self.wait_until(lambda: self.gone(deaf), 20, "the background goes on")
        process.communicate()

    def test_ctrl_c_at_the_terminal_reaches_the_command_once_and_ends_all(self):
        (self.folder / "count.py").write_text(COUNT_SIGNALS)
        self.plan(f'command = ["{sys.executable}", "count.py"]\npower_limits_w = [300]\nsm_clocks_mhz = [990]\nrepetitions = 1\n')
        process, keyboard = self.start_at_terminal("sweep", "plan.toml")
        back = self.number_in("back")
        os.write(keyboard, b"\x03")
        self.assertEqual(process.wait(timeout=20), 130)
        self.assertEqual(self.number_in("heard"), 1)
        self.assertTrue(self.gone(back))
        self.assert_put_back()

    def test_ctrl_c_ends_a_warm_up_with_all_its_processes(self):
        self.plan('command = "sleep 60 & echo $! > back; sleep 60; true"\nwarmup = 1\nrepetitions = 1\n')
        process, keyboard = self.start_at_terminal("sweep", "plan.toml")
        back = self.number_in("back")
        os.write(keyboard, b"\x03")
        self.assertEqual(process.wait(timeout=20), 130)
        self.assertTrue(self.gone(back))
        self.assertFalse((self.folder / "plan").exists())

    def test_a_command_that_reads_the_terminal_finds_nothing_there(self):
        self.plan('command = "cat > read"\nrepetitions = 1\n')
        process, _ = self.start_at_terminal("sweep", "plan.toml")
        process.wait(timeout=20)
        self.assertEqual((self.folder / "read").read_text(), "")
        self.assertEqual([record["code"] for record in self.records().values()], [0])

    def test_a_signal_reaches_all_that_the_command_runs(self):
        self.plan('command = "sh -c \'trap \\"echo x >> heard; exit\\" TERM; echo $$ > pid; while :; do sleep 0.05; done\' | cat"\n'
                  'repetitions = 1\n')
        process = self.start("sweep", "plan.toml")
        self.number_in("pid")
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertEqual((self.folder / "heard").read_text(), "x\n")

    def test_the_exit_code_tells_the_signal(self):
        self.plan('command = "true"\ncooldown_s = 60\n')
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            process = self.start("sweep", "plan.toml")
            self.assertIn("1/3", process.stderr.readline())
            os.kill(process.pid, number)
            _, errors = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 128 + number)
            self.assertIn("all settings are as they were found", errors)

    def test_what_a_run_leaves_in_the_background_is_ended(self):
        self.plan('command = "sleep 60 & echo $! > back"\nrepetitions = 1\n')
        _, errors = self.run_it("sweep", "plan.toml")
        self.assertIn("left something running in the background", errors)
        self.assertTrue(self.gone(self.number_in("back")))

    def test_when_both_are_killed_restore_puts_back(self):
        process = self.start_long()
        (journal,) = self.journals()
        guardian = json.loads(journal.read_text())["guardian"]["pid"]
        out, _ = self.run_it("restore")
        self.assertIn("is running", out)
        self.assertEqual(self.settings()[-1], "300000")
        os.kill(guardian, signal.SIGKILL)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        out, _ = self.run_it("restore", "--dry-run")
        self.assertIn("would put back gpu0", out)
        self.assertEqual(self.settings()[-1], "300000")
        out, _ = self.run_it("restore")
        self.assertIn("power limit 700 W, SM clocks unlocked", out)
        self.assert_put_back()
        self.assertIn("nothing to put back", self.run_it("restore")[0])

    def test_a_new_sweep_does_not_take_leftovers_for_found(self):
        process = self.start_long()
        os.kill(json.loads(self.journals()[0].read_text())["guardian"]["pid"], signal.SIGKILL)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        self.plan('command = "true"\npower_limits_w = [400]\nrepetitions = 1\n', "next.toml")
        _, errors = self.run_it("sweep", "next.toml")
        self.assertIn("put back first what a dead program left", errors)
        self.assertEqual(self.settings(), ["300000", "700000", "400000", "700000"])

    def test_ctrl_c_stops_puts_back_and_can_go_on(self):
        process = self.start_long()
        os.killpg(process.pid, signal.SIGINT)
        out, errors = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("as they were found", errors)
        self.assert_put_back()
        self.assertEqual(self.records(), {})

    def test_two_sweeps_of_one_gpu_are_refused(self):
        process = self.start_long()
        self.plan('command = "true"\npower_limits_w = [400]\n', "other.toml")
        _, errors = self.run_it("sweep", "other.toml", code=1)
        self.assertIn("is changing its settings", errors)
        self.assertEqual(self.settings(), ["300000"])
        process.terminate()
        process.communicate(timeout=20)

    def test_two_sweeps_into_one_folder_are_refused(self):
        self.plan('command = "echo x >> count; while [ ! -e go ]; do sleep 0.05; done"\nrepetitions = 2\n')
        process = self.start("sweep", "plan.toml", "--repetition", "1")
        self.wait_until(lambda: (self.folder / "count").exists(), 20, "no command")
        _, errors = self.run_it("sweep", "plan.toml", code=1)
        self.assertIn("repetition 1 is being measured by another process", " ".join(errors.split()))
        (self.folder / "go").touch()
        self.run_it("sweep", "plan.toml", "--repetition", "2")
        process.communicate(timeout=20)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len((self.folder / "count").read_text().split()), 2)
        self.assertEqual(len(self.records()), 2)

    def test_a_limit_that_does_not_take_ends_the_series(self):
        self.environment["JOULECAST_STANDIN"] = str(SCENARIOS / "stubborn_limit.toml")
        self.plan('command = "true"\npower_limits_w = [300]\n')
        _, errors = self.run_it("sweep", "plan.toml", code=1)
        self.assertIn("took a power limit of 300 W and still has 700 W", " ".join(errors.split()))
        self.assertFalse((self.folder / "plan").exists())
        self.assertEqual(self.journals(), [])

    def test_a_limit_overridden_in_mid_run_does_not_count(self):
        self.scenario(PLAIN + "[[gpu.out_of_band]]\nat_s = 4\nlimit_w = 350\n")
        self.plan('command = "sleep 5"\npower_limits_w = [500]\nrepetitions = 1\n')
        _, errors = self.run_it("sweep", "plan.toml", code=3)
        (record,) = self.records().values()
        self.assertFalse(record["held"])
        self.assertIn("500 W is asked for, but 350 W is enforced", record["not_held"])
        self.assertIn("left out: 500W_r01: the setting did not last", " ".join(errors.split()))
        self.assertEqual(self.settings()[-1], "700000")

    def test_a_limit_overridden_for_a_while_does_not_count(self):
        self.scenario(PLAIN + "[[gpu.out_of_band]]\nat_s = 0.5\nlimit_w = 350\n[[gpu.out_of_band]]\nat_s = 2\n")
        self.plan('command = "sleep 3"\npower_limits_w = [500]\nrepetitions = 1\n')
        _, errors = self.run_it("sweep", "plan.toml", code=3)
        (record,) = self.records().values()
        self.assertRegex(record["not_held"], r"gpu0: 500 W is asked for, but 350 W was enforced \d\.\d s after its begin")
        self.assertFalse(record["held"])
        # A record of an earlier version, which looked only once the run was over.
        (path,) = (self.folder / "plan").glob("500W*.json")
        path.write_text(json.dumps({key: value for key, value in record.items() if key != "not_held"} | {"held": True}))
        _, errors = self.run_it("sweep", "--result", "plan", code=1)
        self.assertIn("left out: 500W_r01: the setting did not last: gpu0: 500 W is asked for", " ".join(errors.split()))

    def test_a_repetition_that_the_plan_lacks_is_refused(self):
        self.plan('command = "true"\nrepetitions = 2\n')
        _, errors = self.run_it("sweep", "plan.toml", "--repetition", "9", code=2)
        self.assertIn("--repetition 9, but the plan has 2", errors)
        self.assertFalse((self.folder / "plan").exists())

    def test_a_damaged_record_is_named_and_the_others_count(self):
        self.plan('command = "sleep 0.2"\nrepetitions = 2\n')
        self.run_it("sweep", "plan.toml")
        broken = sorted(path for path in (self.folder / "plan").glob("*.json") if path.name != "sweep.json")[0]
        broken.write_text("{")
        out, errors = self.run_it("sweep", "--result", "plan", "--json")
        self.assertEqual(json.loads(out)["groups"][0]["settings"][0]["time_s"]["n"], 1)
        self.assertIn(broken.name, "".join(errors.split()))

    def test_a_lock_that_clocks_do_not_keep_does_not_count(self):
        self.scenario(PLAIN + '[[fault]]\nfunction = "nvmlDeviceGetClockInfo"\nvalue = 1980\n')
        self.plan('command = "sleep 1"\nsm_clocks_mhz = [990]\nrepetitions = 1\n')
        _, errors = self.run_it("sweep", "plan.toml", code=3)
        self.assertIn("its SM clock was up to 1980 MHz, locked to 990 MHz", " ".join(errors.split()))

    def test_without_rights_it_says_what_to_ask_for(self):
        self.environment["JOULECAST_STANDIN"] = str(SCENARIOS / "denied.toml")
        self.plan('command = "true"\npower_limits_w = [300]\n')
        _, errors = self.run_it("sweep", "plan.toml", code=1)
        self.assertIn("sudo nvidia-smi -i 0 -pl 300", " ".join(errors.split()))
        self.assertEqual(self.journals(), [])

    def test_out_of_range_is_refused_before_anything_is_changed(self):
        self.plan('command = "touch ran"\noutput = "out/of/range"\npower_limits_w = [300, 100]\norder = "given"\n')
        _, errors = self.run_it("sweep", "plan.toml", code=2)
        self.assertIn("outside its range, 200 W to 700 W", " ".join(errors.split()))
        self.assertEqual(self.settings(), [])
        self.assertFalse((self.folder / "ran").exists())
        self.assertFalse((self.folder / "out").exists())

    def test_a_refused_plan_leaves_a_folder_as_it_was(self):
        (self.folder / "plan").mkdir()
        self.environment["JOULECAST_STANDIN"] = str(SCENARIOS / "denied.toml")
        self.plan('command = "true"\npower_limits_w = [300]\n')
        self.run_it("sweep", "plan.toml", code=1)
        self.assertEqual(list((self.folder / "plan").iterdir()), [])

    def test_a_working_directory_that_is_not_there_is_named(self):
        for how in ([], ["--dry-run"]):
            self.plan('command = "true"\nworking_directory = "nowhere"\n')
            _, errors = self.run_it("sweep", "plan.toml", *how, code=2)
            self.assertIn("working_directory: nowhere: no such folder", errors)

    def test_dry_run_refuses_what_the_run_would_refuse(self):
        for settings in ("power_limits_w = [300, 100]", "sm_clocks_mhz = [991]", 'gpu = "7"\npower_limits_w = [300]'):
            self.plan(f'command = "true"\norder = "given"\n{settings}\n')
            real = self.run_it("sweep", "plan.toml", code=2)
            self.assertEqual(self.run_it("sweep", "plan.toml", "--dry-run", code=2), real)
        self.assertIn("gpu", real[1])

    def test_dry_run_without_a_gpu_says_what_it_could_not_check(self):
        self.scenario('[[gpu]]\n[[fault]]\nfunction = "nvmlInit_v2"\nreturn = "DRIVER_NOT_LOADED"\n')
        self.plan('command = "true"\npower_limits_w = [100]\nrepetitions = 1\n')
        out, _ = self.run_it("sweep", "plan.toml", "--dry-run")
        self.assertIn("1 run into plan", out)
        self.assertIn("no GPU to check the settings on: ", out)
        self.plan('command = "true"\n')
        self.assertNotIn("no GPU", self.run_it("sweep", "plan.toml", "--dry-run")[0])

    def test_failed_runs_are_kept_and_do_not_stop_the_series(self):
        self.plan('command = "echo said; echo x >> count; test {n} = 2"\nrepetitions = 1\n[parameters]\nn = [1, 2]\n')
        _, errors = self.run_it("sweep", "plan.toml", code=3)
        self.assertEqual({name: record["code"] for name, record in self.records().items()},
                         {"n=1_found_r01": 1, "n=2_found_r01": 0})
        self.assertIn("said", (self.folder / "plan" / "n=1_found_r01.log").read_text())
        _, errors = self.run_it("sweep", "plan.toml")
        self.assertIn("0 runs done, 0 failed, 2 there already", errors)
        self.assertEqual(len((self.folder / "count").read_text().split()), 2)
        self.run_it("sweep", "plan.toml", "--retry-failed", code=3)
        self.assertEqual(len((self.folder / "count").read_text().split()), 3)
        self.assertTrue((self.folder / "plan" / "n=1_found_r01.attempt1.json").exists())

    def test_more_repetitions_are_added_another_command_is_not(self):
        self.plan('command = "true"\nrepetitions = 1\n')
        self.run_it("sweep", "plan.toml")
        self.plan('command = "true"\nrepetitions = 2\n')
        _, errors = self.run_it("sweep", "plan.toml")
        self.assertIn("1 run done, 0 failed, 1 there already", errors)
        self.plan('command = "false"\nrepetitions = 2\n')
        _, errors = self.run_it("sweep", "plan.toml", code=2)
        self.assertIn("another command", errors)

    def test_warm_ups_come_once_for_each_command(self):
        self.plan('command = "echo {n} >> count; sleep 0.1"\nwarmup = 2\nrepetitions = 2\n[parameters]\nn = [1, 2]\n')
        self.run_it("sweep", "plan.toml")
        words = (self.folder / "count").read_text().split()
        self.assertEqual((words.count("1"), words.count("2")), (4, 4))

    def test_what_does_not_cool_down_is_told(self):
        self.plan('command = "sleep 0.3"\nrepetitions = 1\ncooldown_c = 20\ncooldown_max_s = 0.5\n')
        _, errors = self.run_it("sweep", "plan.toml")
        self.assertIn("20 C wanted", errors)
        self.assertIn("some runs began warmer than the plan wants", errors)
        (record,) = self.records().values()
        self.assertFalse(record["cooled"])
        self.assertGreater(record["start_temperature_c"], 20)
        self.plan('command = "sleep 0.3"\nrepetitions = 1\ncooldown_c = 95\noutput = "cool"\n')
        self.run_it("sweep", "plan.toml")
        (record,) = self.records("cool").values()
        self.assertTrue(record["cooled"])

    def test_dry_run_changes_nothing_and_tells_the_time(self):
        self.plan('command = "true"\npower_limits_w = [300, 400]\nrepetitions = 3\nexpected_s = 60\ncooldown_s = 20\n')
        out, _ = self.run_it("sweep", "plan.toml", "--dry-run")
        self.assertEqual(len(out.splitlines()), 8)
        self.assertIn("6 runs into plan, about 8 min", out)
        self.assertIn("checked: gpu0 (NVIDIA H100", out)
        self.assertEqual(self.settings(), [])
        self.assertFalse((self.folder / "plan").exists())

    def test_what_is_only_planned_is_printed_as_text_alone(self):
        self.plan('command = "true"\n')
        for form in ("--json", "--csv", "--latex"):
            for planned in ("--dry-run", "--slurm"):
                out, errors = self.run_it("sweep", "plan.toml", planned, form, code=2)
                self.assertIn(f"{planned} prints text alone", out + errors)
        self.assertFalse((self.folder / "plan").exists())

    def test_the_command_works_on_the_gpu_that_is_set(self):
        self.scenario("allow_set = true\n[[gpu]]\ncount = 2\nload = {constant_w = 600}\n")
        self.plan('command = "echo $CUDA_VISIBLE_DEVICES > visible"\ngpu = "1"\npower_limits_w = [300]\nrepetitions = 1\n')
        self.run_it("sweep", "plan.toml")
        self.assertTrue((self.folder / "visible").read_text().startswith("GPU-"))
        self.assertEqual([line.split()[1] for line in self.state.read_text().splitlines()[1:]], ["1", "1"])

    def test_slurm_gets_a_task_a_repetition(self):
        self.plan('command = "true"\npower_limits_w = [300]\nrepetitions = 4\nslurm_options = ["--gres=gpu:1"]\n')
        out, _ = self.run_it("sweep", "plan.toml", "--slurm", "--dry-run")
        self.assertIn("#SBATCH --array=1-4", out)
        self.assertIn("#SBATCH --gres=gpu:1", out)
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "sbatch").write_text("#!/bin/sh\ncp \"$1\" submitted; echo Submitted batch job 7\n")
        (tools / "sbatch").chmod(0o755)
        self.environment["PATH"] = f"{tools}:{os.environ['PATH']}"
        out, _ = self.run_it("sweep", "plan.toml", "--slurm")
        self.assertIn("Submitted batch job 7", out)
        # What Slurm would do, for one task.
        self.environment["SLURM_ARRAY_TASK_ID"] = "3"
        task = subprocess.run(["sh", self.folder / "submitted"], cwd="/", env=self.environment, capture_output=True, text=True)
        self.assertEqual(task.returncode, 0, task.stderr)
        self.assertEqual(list(self.records()), ["300W_r03"])

    def test_without_sbatch_it_says_where_the_script_is(self):
        self.plan('command = "true"\n')
        self.environment["PATH"] = "/nowhere"
        _, errors = self.run_it("sweep", "plan.toml", "--slurm", code=1)
        self.assertIn("sweep.sbatch", errors)

    def test_parameters_alone_are_compared(self):
        self.plan('command = "sleep {n}"\nrepetitions = 2\n[parameters]\nn = [0.2, 0.7]\n')
        out, _ = self.run_it("sweep", "plan.toml")
        self.assertRegex(out, r"parameters; reference: n=0.7\n")
        self.assertRegex(out, r"\btime +n=0.2 ")
        self.assertIn("2 runs of a setting are too few", " ".join(out.split()))
        result = json.loads(self.run_it("sweep", "--result", "plan", "--json")[0])
        self.assertEqual([group["group"] for group in result["groups"]], ["n=0.2", "n=0.7"])
        self.assertEqual([setting["setting"] for setting in result["parameters"]["settings"]], ["n=0.2", "n=0.7"])
        self.assertEqual(result["parameters"]["fewest_runs"], 2)

    def test_what_sbatch_says_is_one_line(self):
        self.plan('command = "true"\n')
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "sbatch").write_text("#!/bin/sh\necho first; echo second; exit 1\n")
        (tools / "sbatch").chmod(0o755)
        self.environment["PATH"] = f"{tools}:{os.environ['PATH']}"
        _, errors = self.run_it("sweep", "plan.toml", "--slurm", code=1)
        self.assertIn("sbatch: first; second\n", errors)

    def test_dry_run_promises_no_rights(self):
        self.environment["JOULECAST_STANDIN"] = str(SCENARIOS / "denied.toml")
        self.plan('command = "true"\npower_limits_w = [300]\nrepetitions = 1\n')
        out, _ = self.run_it("sweep", "plan.toml", "--dry-run")
        self.assertIn("has these settings in range", out)
        self.assertNotIn("can have", out)
        if os.geteuid() != 0:
            self.assertIn("takes rights that this process lacks", out)

    def test_the_gpu_of_the_environment_is_swept(self):
        self.scenario("allow_set = true\n[[gpu]]\ncount = 2\nload = {constant_w = 600}\n")
        self.plan('command = "true"\npower_limits_w = [300]\nrepetitions = 1\n')
        self.environment["JOULECAST_GPU"] = "1"
        self.run_it("sweep", "plan.toml")
        self.assertEqual([line.split()[1] for line in self.state.read_text().splitlines()[1:]], ["1", "1"])

    def test_csv_and_latex_have_every_setting(self):
        self.plan('command = "sleep 0.3"\npower_limits_w = [300, 500]\nrepetitions = 2\n')
        out, _ = self.run_it("sweep", "plan.toml", "--csv")
        self.assertEqual(len(out.splitlines()), 1 + 2 * 3)
        out, _ = self.run_it("sweep", "--result", "plan", "--latex")
        self.assertEqual(out.count("\\begin{tabular}"), out.count("\\end{tabular}"))
        self.assertEqual(out.count("\\begin{tabular}"), 3)
        self.run_it("sweep", "--result", "plan", "--latex", "--csv", code=2)
        _, errors = self.run_it("sweep", "--result", ".", code=1)
        self.assertIn("no folder of a sweep", errors)

    def test_a_table_of_runs_is_a_result_in_every_form(self):
        rows = ["gpu,power_limit_w,time_s,energy_j"]
        for repetition in range(4):
            rows += [f"T4_x,{limit},{time + 0.02 * repetition},{energy + 8 * repetition}"
                     for limit, time, energy in ((50, 30, 90000), (70, 20, 100000))]
        (self.folder / "runs.csv").write_text("\n".join(rows) + "\n")
        text, _ = self.run_it("sweep", "--result", "runs.csv")
        self.assertRegex(text, r"energy +50 W +100 % +10\.0 % +a gain\n")
        self.assertRegex(text, r"time +70 W +100 % +0\.0 % +the reference itself\n")
        latex, _ = self.run_it("sweep", "--result", "runs.csv", "--latex")
        # The mean of 90000, 90008, 90016 and 90024 J and the deviation of these, 10.3 J.
        self.assertIn("\\quad energy & 50 W & $90012 \\pm 10$\\,J & 100\\,\\% & 10.0\\,\\% & gain \\\\", latex)
        self.assertIn("{T4\\_x} \\\\*\n\\quad time & 70 W & $20.03 \\pm 0.026$\\,s & 100\\,\\% & 0.0\\,\\% & reference", latex)
        self.assertIn("$(2.003 \\pm 0.0028) \\times 10^{6}$\\,Js", latex)
        table, _ = self.run_it("sweep", "--result", "runs.csv", "--csv")
        cells = [(row["setting"], row["goal"], row["optimum"], row["confidence"], row["verdict"])
                 for row in csv.DictReader(table.splitlines())]
        self.assertIn(("50 W", "energy_j", "1", "1", "gain"), cells)
        self.assertIn(("70 W", "energy_j", "0", "", ""), cells)

    def test_means_of_equal_numbers_are_printed_as_these(self):
        rows = [f"{limit},{time}" for limit, time in ((100, 0.001213), (200, 0.1)) for _ in range(3)]
        (self.folder / "runs.csv").write_text("\n".join(["power_limit_w,time_s", *rows]) + "\n")
        table = csv.DictReader(self.run_it("sweep", "--result", "runs.csv", "--csv")[0].splitlines())
        self.assertEqual([row["mean"] for row in table], ["0.001213", "0.1"])

    def test_latex_tables_longer_than_a_page_break(self):
        def latex(networks):
            rows = [f"n{network},{limit},{repetition},10" for network in range(networks) for limit in (100, 200)
                    for repetition in range(1, 4)]
            (self.folder / "runs.csv").write_text("\n".join(["network,power_limit_w,repetition,time_s", *rows]) + "\n")
            return self.run_it("sweep", "--result", "runs.csv", "--latex")[0]

        short = latex(10)  # 4 rows a group
        self.assertIn("% needs no package\n", short)
        self.assertNotIn("longtable", short)
        long = latex(11)
        self.assertTrue(long.startswith("% needs \\usepackage{longtable}"))
        self.assertEqual((long.count("\\begin{longtable}"), long.count("\\endhead"), long.count("\\end{longtable}")), (1, 1, 1))
        self.assertEqual((long.count("\\begin{tabular}"), long.count("\\end{tabular}")), (12, 12))
        if shutil.which("pdflatex"):
            (self.folder / "page.tex").write_text("\\documentclass{article}\\usepackage{longtable}\\begin{document}\n"
                                                  f"{long}\\end{{document}}\n")
            log = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=self.folder,
                                 capture_output=True, text=True, timeout=60, errors="replace")
            self.assertEqual(log.returncode, 0, log.stdout[-2000:])
            self.assertNotIn("Overfull", log.stdout)

    def test_without_energy_it_compares_times(self):
        functions = ["PowerUsage", "TotalEnergyConsumption", "FieldValues", "Samples"]
        faults = [f'[[fault]]\nfunction = "nvmlDeviceGet{name}"\nreturn = "NOT_SUPPORTED"\n' for name in functions]
        self.scenario(PLAIN + "".join(faults))
        self.plan('command = "sleep {n}"\nrepetitions = 2\npower_limits_w = [300, 400]\n[parameters]\nn = [0.3]\n')
        out, errors = self.run_it("sweep", "plan.toml")
        self.assertIn("no energy was measured: only times are compared", out)
        self.assertIn("no energy: nothing measures it", " ".join(errors.split()))
        self.assertNotIn("EDP", out)
        result = json.loads(self.run_it("sweep", "--result", "plan", "--json")[0])
        (group,) = result["groups"]
        self.assertGreater(group["settings"][0]["time_s"]["mean"], 0.3)
        self.assertIsNone(group["settings"][0]["energy_j"])
        self.assertEqual([optimum["goal"] for optimum in group["optima"]], ["time_s"])
        self.assertEqual(len(self.run_it("sweep", "--result", "plan", "--csv")[0].splitlines()), 1 + 2)
        self.assertIn("& -- & --", self.run_it("sweep", "--result", "plan", "--latex")[0])
        page, _ = self.run_it("report", "plan", "--no-charts")
        self.assertIn("no energy", page)
        self.assertNotIn("EDP against", page)

    def test_the_report_tells_of_command_machine_and_models(self):
        self.plan('command = "sleep {n}"\nrepetitions = 1\npower_limits_w = [300, 400, 500, 600]\nbaseline_s = 0.5\n'
                  "[parameters]\nn = [0.5]\n")
        self.run_it("sweep", "plan.toml")
        page, _ = self.run_it("report", "plan", "--no-charts")
        for text in ("<dd>sleep {n}</dd>", os.uname().nodename, "NVIDIA H100", "(driver ", "gpu0: power limit 700 W (the default)",
                     "<h4>Models</h4>", "Power and SM clock: r = "):
            self.assertIn(text, page)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"Sweep.{name}" for name in sys.argv[3:])])
