#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`joulecast analyze` on recordings made against a stand-in of NVML.

    analyze_test.py joulecast folder-of-the-stand-in scenarios [unittest's arguments]
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

JOULECAST, STANDIN, SCENARIOS = (os.path.abspath(word) for word in sys.argv[1:4])


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_joulecast(self, *arguments, scenario=None):
        environment = {"PATH": f"{Path(JOULECAST).parent}:/usr/bin:/bin", "HOME": self.folder, "LC_ALL": "C.UTF-8",
                       "XDG_CONFIG_HOME": f"{self.folder}/config"}
        if scenario:
            environment |= {"LD_LIBRARY_PATH": STANDIN, "JOULECAST_STANDIN": os.path.join(SCENARIOS, f"{scenario}.toml")}
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                environment[name] = os.environ[name]
        return subprocess.run([JOULECAST, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True,
                              timeout=90, check=False)

    def record(self, name, *arguments, scenario):
        done = self.run_joulecast("measure", "-q", "-o", name, *arguments, scenario=scenario)
        self.assertEqual(done.returncode, 0, done.stderr)

    def analyzed(self, *arguments):
        done = self.run_joulecast("analyze", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["runs"]

    def write(self, name, rows):
        """A log of nvidia-smi: a row a tenth of a second."""
        lines = ["timestamp, name, uuid, driver_version, power.draw.instant [W]"]
        for i, watts in enumerate(rows):
            second, tenth = divmod(i, 10)
            minute, second = divmod(second, 60)
            lines.append(f"2026/05/07 22:{minute:02}:{second:02}.{tenth}00, NVIDIA A100-SXM4-40GB, GPU-1a, 535.54.03, {watts:.2f} W")
        Path(self.folder, name).write_text("\n".join(lines) + "\n")


class Hints(Case):
    def hint(self, name, text):
        Path(self.folder, name).write_bytes(text)
        done = self.run_joulecast("analyze", name)
        self.assertEqual(done.returncode, 1)
        return done.stderr.split("hint: ")[1]

    def test_of_csv_it_says_which_is_read(self):
        for text in (b"timestamp, power.draw [W]\n", b"time,power\n1,2\n"):
            self.assertIn("nvidia-smi --query-gpu", self.hint("log.csv", text))
        for other in (b"", b"no cells\n1,2\n", b"JCRUN,", b"\0,\n"):
            self.assertIn("joulecast measure -o", self.hint("log.csv", other))


class Sensors(Case):
    def warnings(self, run):
        return [doubt["warning"] for device in run["devices"] for doubt in device["doubts"]]

    def test_a_counter_has_no_doubts_of_class(self):
        self.record("a.jcrun", "--", "sleep", "1", scenario="a100")
        run = self.analyzed("a.jcrun")[0]
        device = run["devices"][0]
        self.assertEqual((device["energy_j"]["source"], device["energy_j"]["method"]), ("nvml-counter", "counter"))
        self.assertEqual(self.warnings(run), [])
        self.assertAlmostEqual(device["ed2p_js2"], device["edp_js"] * run["time_s"]["mean"], places=6)
        self.assertIn("counter difference (nvml-counter)", self.run_joulecast("analyze", "a.jcrun").stdout)

    def test_half_of_the_time_seen_is_said_with_advice(self):
        self.record("p.jcrun", "--", "sleep", "1", scenario="p100")
        run = self.analyzed("p.jcrun")[0]
        self.assertEqual(self.warnings(run), ["partly_seen"])
        doubt = run["devices"][0]["doubts"][0]
        self.assertEqual(doubt["sensor_class"], "D")
        self.assertIn("32 times", doubt["advice"])
        self.assertIn("class D", self.run_joulecast("analyze", "p.jcrun").stderr)

    def test_sampling_is_listed(self):
        self.record("p.jcrun", "--", "sleep", "2", scenario="p100")
        sources = {one["source"]: one for one in self.analyzed("p.jcrun")[0]["sampling"]}
        self.assertAlmostEqual(sources["nvml-buffer"]["rate_hz"], 50, delta=3)
        self.assertEqual(sources["nvml-buffer"]["lost"], 0)
        text = self.run_joulecast("analyze", "--sampling", "p.jcrun").stdout
        self.assertRegex(text, r"gpu0 +nvml-buffer +\d+\.?\d* Hz")
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)


class Parts(Case):
    def test_steady_says_what_was_cut(self):
        self.write("log.csv", [60 + i % 2 for i in range(20)] + [300 + i % 2 for i in range(100)] + [60 + i % 2 for i in range(30)])
        run = self.analyzed("--steady", "--idle-power", "60", "log.csv")[0]
        steady = run["steady"][0]
        self.assertAlmostEqual(steady["cut_head_s"], 2, delta=0.11)
        self.assertAlmostEqual(steady["cut_tail_s"], 3, delta=0.11)
        self.assertEqual((steady["cut_head_readings"], steady["cut_tail_readings"]), (20, 30))
        self.assertAlmostEqual(steady["idle_ratio"], 0.2, delta=0.002)
        self.assertEqual(steady["channel"]["outside"], 0)
        self.assertAlmostEqual(run["devices"][0]["idle_ratio"], 60 / run["devices"][0]["power_w"]["mean"], delta=1e-6)
        text = self.run_joulecast("analyze", "--steady", "log.csv").stdout
        self.assertIn("20+30", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)

    def test_iterations_have_energy_and_honest_errors(self):
        self.write("log.csv", [199 + 2 * (i % 2) for i in range(101)])
        one = self.analyzed("--iterations", "100", "log.csv")[0]["per_iteration"][0]
        self.assertAlmostEqual(one["time_s"], 0.1, places=6)
        self.assertAlmostEqual(one["energy_j"], 20, delta=0.01)
        self.assertAlmostEqual(one["energy_stddev_j"], 0.1, delta=0.002)
        self.assertAlmostEqual(one["energy_standard_error_j"], 0.01, delta=0.0005)
        self.assertIsNone(one["time_stddev_s"])
        text = self.run_joulecast("analyze", "--iterations", "100", "log.csv").stdout
        self.assertIn("(3.7), (3.9)", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)

    def test_iterations_answer_by_the_summarys_source(self):
        script = 'for i in 1 2 3 4; do echo "begin batch" >&$JOULECAST_MARKS_FD; sleep 0.3; echo "end batch" >&$JOULECAST_MARKS_FD; sleep 0.2; done'
        self.record("r.jcrun", "--", "bash", "-c", script, scenario="a100")
        run = self.analyzed("--per-iteration", "batch", "r.jcrun")[0]
        best = run["per_iteration"][0]["best_source"]
        batch = next(phase for phase in run["phases"] if phase["name"] == "batch")
        self.assertEqual(best["source"], "nvml-counter")
        self.assertAlmostEqual(best["energy_j"], batch["energy_j"]["gpu0"]["mean"], places=6)
        self.assertAlmostEqual(best["standard_error_j"], batch["energy_j"]["gpu0"]["standard_error"], places=6)
        text = self.run_joulecast("analyze", "--per-iteration", "batch", "r.jcrun").stdout
        self.assertRegex(text, r"batch +4 .* J +±[\d.]+ %")
        self.assertRegex(text, r"(?s)energy +[\d.]+ J  ± [^\n]* by nvml-counter.*from readings of power by nvml-buffer:\n")
        self.assertLessEqual(max(len(line) for line in text.splitlines()), 80)

    def test_what_tells_no_error_claims_none(self):
        self.write("log.csv", [200] * 101)
        one = self.analyzed("--iterations", "100", "log.csv")[0]["per_iteration"][0]
        self.assertAlmostEqual(one["best_source"]["energy_j"], 20, delta=0.01)
        for key in ("energy_stddev_j", "energy_standard_error_j", "total_energy_stddev_j"):
            self.assertIsNone(one[key], key)
        self.assertIsNone(one["best_source"]["standard_error_j"])
        text = self.run_joulecast("analyze", "--iterations", "100", "log.csv").stdout
        self.assertEqual(text.count("± ?"), 5, text)
        self.assertNotIn("± 0", text)

    def test_no_iterations_are_a_mistake(self):
        self.write("log.csv", [200] * 20)
        done = self.run_joulecast("analyze", "--iterations", "0", "log.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--iterations", done.stderr)

    def test_iterations_of_marked_phases(self):
        script = 'for i in 1 2 3 4 5 6; do echo "begin batch" >&$JOULECAST_MARKS_FD; sleep 0.2; echo "end batch" >&$JOULECAST_MARKS_FD; done'
        self.record("r.jcrun", "--", "bash", "-c", script, scenario="rtx3090")
        one = self.analyzed("--per-iteration", "batch", "r.jcrun")[0]["per_iteration"][0]
        self.assertEqual(one["iterations"], 6)
        self.assertGreaterEqual(one["time_s"], 0.2)
        self.assertLessEqual(6 * one["time_s"], self.analyzed("r.jcrun")[0]["time_s"]["mean"])
        wrong = self.run_joulecast("analyze", "--per-iteration", "epoch", "r.jcrun")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("it has batch", wrong.stderr)


class Curves(Case):
    def test_are_of_the_runs_that_reach_a_moment(self):
        self.write("a.csv", [100] * 41)
        self.write("b.csv", [120] * 21)
        done = self.run_joulecast("analyze", "a.csv", "b.csv", "--curves", "--rate", "2", "-o", "curves.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(Path(self.folder, "curves.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 9)
        self.assertEqual((rows[4]["runs"], rows[5]["runs"]), ("2", "1"))
        self.assertAlmostEqual(float(rows[4]["power_w"]), 110)
        self.assertAlmostEqual(float(rows[4]["energy_j"]), 220, places=4)
        self.assertAlmostEqual(float(rows[4]["power_high_w"]) - 110, 127.06, delta=0.01)
        self.assertEqual(rows[5]["power_high_w"], "")
        self.assertIn("fewer than three runs", done.stderr)

    def test_cubics_say_where_they_swing(self):
        self.write("a.csv", [100] * 20 + [300] * 20)
        arguments = ("analyze", "a.csv", "--curves", "--rate", "50", "--resample")
        self.assertIn("beyond the readings", self.run_joulecast(*arguments, "cubic").stderr)
        linear = self.run_joulecast(*arguments, "linear")
        self.assertNotIn("beyond the readings", linear.stderr)
        self.assertTrue(linear.stdout.startswith("device,time_s,"))

    def test_options_without_curves_are_refused(self):
        self.write("a.csv", [100] * 20)
        self.assertEqual(self.run_joulecast("analyze", "a.csv", "-o", "x.csv").returncode, 2)


class Places(Case):
    def test_the_same_file_twice_is_remarked(self):
        self.write("a.csv", [100] * 20)
        os.symlink("a.csv", f"{self.folder}/link.csv")
        self.write("b.csv", [100] * 20)
        done = self.run_joulecast("analyze", "--json", "a.csv", "b.csv", "link.csv")
        self.assertEqual(len(json.loads(done.stdout)["runs"]), 3)
        self.assertEqual(done.stderr, "joulecast: note: link.csv is a.csv once more, and counts as another run\n")
        self.assertNotIn("once more", self.run_joulecast("analyze", "a.csv", "b.csv").stderr)

    def test_a_folder_that_is_none_of_ours_is_said_to_be_one(self):
        Path(self.folder, "empty").mkdir()
        for folder in (f"{self.folder}/empty", self.folder):
            done = self.run_joulecast("analyze", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{folder}: is a folder, and holds no run of GPyJoules", done.stderr)
            self.assertIn("is a file (.jcrun)", done.stderr)
        Path(self.folder, "sweep.json").write_text("{}")
        self.assertIn("sweep --result", self.run_joulecast("analyze", self.folder).stderr)

    def test_a_tree_of_gpyjoules_is_all_of_its_runs(self):
        for watts in (150, 200):
            for repetition in range(3):
                folder = Path(self.folder, f"tree/pl/mnist/{watts}W/{repetition}")
                folder.mkdir(parents=True)
                rows = [f"{i},2026-05-08 00:00:{i // 10:02}.{i % 10}00000,{(watts - 10) * 1000 + repetition * watts * 5}\n" for i in range(101)]
                (folder / "gpu-power.csv").write_text(",timestamp,power\n" + "".join(rows))
        runs = self.analyzed("tree")
        self.assertEqual(len(runs), 6)
        self.assertEqual(runs[0]["file"], "tree/pl/mnist/150W/0")
        self.assertIn("tree/pl/mnist/150W/1 is tree/pl/mnist/150W/1 once more",
                      self.run_joulecast("analyze", "tree", "tree/pl/mnist/150W/1").stderr)
        done = self.run_joulecast("sweep", "--result", "--json", "tree")
        self.assertEqual(done.returncode, 0, done.stderr)
        group, = json.loads(done.stdout)["groups"]
        self.assertEqual([setting["setting"] for setting in group["settings"]], ["150 W", "200 W"])
        self.assertAlmostEqual(group["settings"][0]["energy_j"]["mean"], 1407.5, delta=1e-3)
        self.assertEqual(next(one["verdict"] for one in group["optima"] if one["goal"] == "energy_j"), "gain")
        done = self.run_joulecast("report", "--no-charts", "tree")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("The best settings", done.stdout)


class Calibration(Case):
    METER = """t=$(date +%s); [ -e start ] || echo $t >start
[ $((t - $(cat start))) -lt 12 ] && echo 322.5 || echo 72.5
"""

    def setUp(self):
        super().setUp()
        Path(self.folder, "meter.sh").write_text("echo 235\n")
        self.record("c.jcrun", "--meter", "gpu0-rail=sh meter.sh", "--", "sleep", "1", scenario="p100")

    def fitted(self, *more):
        return self.run_joulecast("analyze", "c.jcrun", "--fit-calibration", "gpu0=gpu0-rail", *more)

    def test_is_fitted_and_stored_by_card(self):
        """The rail draws 1.25 times what the sensor shows, and 10 W: the sensor reads 0.8 of it less 8 W."""
        text = Path(SCENARIOS, "p100.toml").read_text().replace(
            "{constant_w = 180}", "{high_w = 250, low_w = 50, period_ms = 60000, duty = 0.2}")
        Path(self.folder, "levels.toml").write_text(text)
        Path(self.folder, "meter.sh").write_text(self.METER)
        self.record("c.jcrun", "-f", "--meter", "gpu0-rail=sh meter.sh", "--", "sleep", "24",
                    scenario=os.path.join(self.folder, "levels"))
        done = self.fitted("--json", "--save")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line["source"]: line for line in json.loads(done.stdout)["lines"]}
        line = lines["nvml-buffer"]
        self.assertAlmostEqual(line["gain"], 0.8, delta=0.01)
        self.assertAlmostEqual(line["offset_w"], -8, delta=2)
        self.assertGreater(line["r2"], 0.999)
        self.assertIn(line["uuid"], Path(self.folder, "config/joulecast/calibration.toml").read_text())
        self.assertRegex(self.fitted().stdout, r"nvml-buffer +0\.[78]\d+ ± ")
        energy = self.analyzed("--calibrated", "c.jcrun")[0]["devices"][0]["energy_j"]
        # Uncorrected it would be a quarter less.
        self.assertAlmostEqual(energy["mean"], 12 * (322.5 + 72.5), delta=0.12 * 12 * 395)

    def test_of_one_level_is_refused(self):
        done = self.fitted()
        self.assertEqual(done.returncode, 1)
        self.assertIn("idleness and load", done.stderr)

    def test_words_without_a_meter_are_refused(self):
        self.assertEqual(self.run_joulecast("analyze", "c.jcrun", "--fit-calibration", "gpu0").returncode, 2)
        done = self.run_joulecast("analyze", "c.jcrun", "--fit-calibration", "gpu0=none")
        self.assertIn("'none' has no readings", done.stderr)

    def test_a_stored_line_is_applied_only_when_asked_for(self):
        plain = self.analyzed("c.jcrun")[0]["devices"][0]
        uuid = self.analyzed("c.jcrun")[0]["run"]["devices"][0]["details"]["uuid"]
        config = Path(self.folder, "config/joulecast")
        config.mkdir(parents=True)
        (config / "calibration.toml").write_text(
            f'schema = "joulecast.calibration/1"\n[[line]]\nuuid = "{uuid}"\nsource = "nvml-buffer"\ngain = 0.8\noffset_w = -8.0\n')
        again = self.analyzed("c.jcrun")[0]["devices"][0]
        self.assertEqual(again["energy_j"], plain["energy_j"])
        run = self.analyzed("--calibrated", "c.jcrun")[0]
        energy = run["devices"][0]["energy_j"]
        self.assertTrue(energy["calibrated"])
        expected = (plain["energy_j"]["mean"] + 8 * run["time_s"]["mean"]) / 0.8
        self.assertAlmostEqual(energy["mean"], expected, delta=1e-3 * expected)
        self.assertTrue(any("is corrected by the card's calibration line" in text for text in run["warnings"]))

    def test_not_asked_for_the_unknown_gain_is_said_once(self):
        def told(run):
            return len([text for text in run["warnings"] if "the gain of the card's own sensor" in text])

        self.assertEqual(told(self.analyzed("c.jcrun")[0]), 1)
        self.assertEqual(told(self.analyzed("--calibrated", "c.jcrun")[0]), 0)
        measured = self.run_joulecast("measure", "--", "sleep", "0.5", scenario="eight_h100")
        self.assertEqual(measured.stderr.count("the gain of the card's own sensor"), 1, measured.stderr)

    def test_asked_for_without_a_line_says_so(self):
        run = self.analyzed("--calibrated", "c.jcrun")[0]
        self.assertTrue(any("not calibrated" in text for text in run["warnings"]), run["warnings"])
        measured = self.run_joulecast("measure", "--calibrated", "--", "true", scenario="p100")
        self.assertIn("not calibrated", measured.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
