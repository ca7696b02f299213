#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures, factors and distances against values worked out by hand."""

from __future__ import annotations

import math
import pathlib
import tempfile
import unittest

import calibration
import charts
import clocks
import elsewhere
import errors
import goals
import graphs
import hosts
import laptop
import limits
import maxq
import octave
import page
import runs
import shapes
import tables


def row(measured: float, found: float, unit: str = "a", **more) -> dict:
    return {
        "subject": "x 1", "gpu": "g", "campaign": "", "mode": "m", "precision": "p", "batch": "1", "quantity": "time", "held_out": unit,
        "measured": measured, "found": found, "lo": found / 1.1, "hi": found * 1.1, "spread": 1.0, "baseline": None, **more,
    }


class Errors(unittest.TestCase):
    def test_figures(self) -> None:
        """Relative errors +0.1, -0.1, +0.25 of measured 1, 2, 4."""
        found = errors.figures([row(1, 1.1), row(2, 1.8), row(4, 5)])
        self.assertAlmostEqual(found["mape"], 0.15)
        self.assertAlmostEqual(found["median_ape"], 0.1)
        self.assertAlmostEqual(found["p90_ape"], 0.1 + 0.8 * 0.15)
        self.assertAlmostEqual(found["worst_ape"], 0.25)
        self.assertAlmostEqual(found["bias"], 0.25 / 3)
        self.assertAlmostEqual(found["r2"], 1 - 1.05 / (42 / 9))
        self.assertAlmostEqual(found["coverage"], 1 / 3)  # 1 is on the bound of 1.1, 2 and 4 are outside

    def test_graphs_have_the_names_of_the_tables(self) -> None:
        named = {
            ("torchvision", "torchvision_resnet18.onnx"): "resnet18.onnx",
            ("torchvision", "torchvision_resnet18_s32.onnx"): "resnet18_32.onnx",
            ("torchvision", "torchvision_resnet18_anysize.onnx"): "resnet18.onnx",
            ("timm", "timm_tnt_s_patch16_224.onnx"): "tnt_s_patch16_224.onnx",
            ("timm", "timm_poolformer_s12.onnx"): "poolformer_s12.onnx",  # no image is so small
            ("profet", "AlexNet_32.onnx"): "AlexNet_32.onnx",
        }
        for (source, file), name in named.items():
            self.assertEqual(graphs.name_of(source, pathlib.Path(file)), name)

    def test_networks_that_only_tables_name(self) -> None:
        tables = {
            "networks/hwgpt_architectures.csv": "scale,arch_id,embed_dim,n_head_per_layer,mlp_ratio_per_layer,bias\n"
            "s,0,768,12 4,4 2,1\ns,1,768,12 4,4 2,1\nl,300,1280,20,3,0\nm,10200,256,8,2,0\n",
            "networks/ecnas_nasbench101_energy.csv": "arch_hash,adjacency,node_ops\n"
            'abc,"[[0,1,0],[0,0,1],[0,0,0]]",-1 2 -2\n' + 'no,"[[0,1],[0,0]]",-1 -2\n' * 31 + 'def,"[[0,1],[0,0]]",-1 -2\n',
            "networks/help_nasbench201.csv": "arch_index,arch\n"
            "7,|avg_pool_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|none~0|nor_conv_3x3~1|skip_connect~2|\n"
            + "8,|none~0|\n" * 149
            + "9,|none~0|+|none~0|none~1|+|none~0|none~1|none~2|\n",
            "memory/pepr_131_models_train.csv": "model,dataset\nvgg11,a\nvgg11,b\n",
        }
        wanted = {
            "hwgpt": ["hwgpt:768_12.4_4.2_bias as=hwgpt-s_0", "hwgpt:1280_20_3 as=hwgpt-l_300"],
            "ecnas": ["nasbench101:010.001.000_p as=nasbench101-abc", "nasbench101:01.00_ as=nasbench101-def"],
            "help": ["nasbench201:a.1s.n3s as=nasbench201-7", "nasbench201:n.nn.nnn as=nasbench201-9"],
            "pepr": ["timm:vgg11 image_size=256 as=vgg11_256"],
        }
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            for name, text in tables.items():
                (data / name).parent.mkdir(exist_ok=True)
                (data / name).write_text(text)
            for name, write in graphs.WRITTEN.items():
                write(data, data / "list.txt")
                self.assertEqual((data / "list.txt").read_text().splitlines(), wanted[name])

    def test_graphs_of_a_free_size_come_before_those_of_one(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            exported, out = pathlib.Path(folder, "exported"), pathlib.Path(folder, "out")
            exported.mkdir()
            out.mkdir()
            for name in ("a", "a_anysize", "a_s32"):
                (exported / f"torchvision_{name}.onnx").write_text(name)
            self.assertEqual(graphs.link("torchvision", exported, out), 3)
            self.assertEqual({path.name: path.read_text() for path in out.iterdir()}, {"a.onnx": "a_anysize", "a_32.onnx": "a_s32"})

    def test_repeats_are_of_one_thing(self) -> None:
        self.assertIsNone(errors.repeats([row(1, 1), row(2, 2, subject="y 1")]))
        self.assertIsNone(errors.repeats([row(1, 1), row(2, 2, campaign="another machine")]))
        found = errors.repeats([row(0.9, 1), row(1.1, 1), row(5, 5, subject="y 1")])
        self.assertEqual(found["n"], 2)
        self.assertAlmostEqual(found["median"], 0.1)

    def test_earlier_runs_are_held_against_the_one_that_is_judged(self) -> None:
        table = (
            "gpu,mode,model_name,input_shape,generation,primary,time_s,energy_j\n"
            "g,training,a,1x3,new,1,2.0,10\ng,training,a,1x3,old,0,2.2,\ng,training,b,1x3,new,1,1.0,4\n"
            "g,training,b,1x3,old,0,0.7,5\ng,training,a,1x3,old-low-power,0,9,9\ng,inference,a,1x3,old,0,9,9\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "networks.csv")
            path.write_text(table)
            found = runs.earlier_runs(path)
        self.assertEqual(list(found), ["g training"])
        (cell,) = found["g training"].values()
        self.assertEqual(cell["n"], 2)
        self.assertAlmostEqual(cell["time"]["mape"], 0.2)
        self.assertAlmostEqual(cell["time"]["worst_ape"], 0.3)
        self.assertAlmostEqual(cell["energy"]["mape"], 0.25)

    def test_power_of_short_windows_is_no_measurement(self) -> None:
        self.assertFalse(errors.trusted({"quantity": "power", "cautions": "other,power-window-short"}))
        self.assertTrue(errors.trusted({"quantity": "time", "cautions": "power-window-short"}))
        self.assertTrue(errors.trusted({"quantity": "power", "cautions": "coarse-clock"}))


class Limits(unittest.TestCase):
    def test_ratios_to_the_default_and_what_is_lost(self) -> None:
        """Energies 120, 105, 100, 90 J at 40 to 100 W: the least is at 100 W; at 50 W it is a sixth more. The EDP at 75 W:
        100 * 1.25 against 90."""
        sweep = {40.0: (3.0, 40.0), 50.0: (1.5, 70.0), 75.0: (1.25, 80.0), 100.0: (1.0, 90.0)}
        found = {40.0: (6.0, 40.0), 50.0: (3.3, 35.0), 75.0: (2.5, 80.0), 100.0: (2.0, 90.0)}
        cell = limits.judged(sweep, found, [100.0], 50.0, 75.0)
        self.assertAlmostEqual(cell["time"], 0.5 * 0.1)  # 1.65 for 1.5 at 50 W, right at 75 W
        self.assertAlmostEqual(cell["power"], 0.5 * 0.5)
        self.assertAlmostEqual(cell["energy_lost"], 105 / 90 - 1)
        self.assertAlmostEqual(cell["edp_lost"], 125 / 90 - 1)
        self.assertAlmostEqual(limits.judged(sweep, found, [100.0, 50.0], 100.0, 100.0)["time"], 0.0)

    def test_batches_that_do_not_fit_have_no_recommendation(self) -> None:
        sweep = {50.0: (1.5, 70.0), 75.0: (1.25, 80.0), 100.0: (1.0, 90.0)}
        cells = [limits.judged(sweep, sweep, [100.0], limit, limit) for limit in (50.0, None)]
        mean = limits.row("sweeps", "default", cells)
        self.assertEqual((mean["n"], mean["n_recommended"]), (2, 1))
        self.assertAlmostEqual(mean["energy_lost"], 105 / 90 - 1)
        self.assertIsNone(limits.row("sweeps", "default", cells[1:])["energy_lost"])


class Sweeps(unittest.TestCase):
    def test_a_run_submitted_twice_counts_once(self) -> None:
        head = "gpu_power_limit_w,benchmark,scenario,valid,samples_per_s"
        lines = [
            "350,x-99,Offline,VALID,3", "700,x-99,Offline,VALID,4", "350,x-99.9,Offline,VALID,3", "700,x-99.9,Offline,VALID,4",
            "350,y,Server,VALID,1", "700,y,Server,VALID,2", "350,z,Offline,INVALID,1", "700,z,Offline,VALID,2",
        ]  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "power").mkdir()
            (pathlib.Path(folder) / "power/mlperf_inference_v41_h200.csv").write_text("\n".join([head, *lines]))
            self.assertEqual(maxq.offline(pathlib.Path(folder)), {"x-99": {350.0: 3.0, 700.0: 4.0}})
        self.assertEqual(maxq.family("x-99.9"), "x")

    def test_throughput_is_kept_as_times_grow(self) -> None:
        cell = maxq.judged("x", {350.0: 3.0, 700.0: 4.0}, {350.0: (2.0, 1.0), 700.0: (1.0, 1.0)}, "it")
        self.assertAlmostEqual(cell["measured"], 0.75)
        self.assertAlmostEqual(cell["predicted"], 0.5)
        self.assertAlmostEqual(maxq.summed_up([cell])["predicted_bias"], -1 / 3)

    def test_networks_of_the_clocks_are_those_in_training_on_the_gpu(self) -> None:
        rows = ["a30,training,net,32x3x56x48", "a30,training,net,32x3x56x48", "a30,training,net,8x3x224x224",
                "a30,inference,other,32x3x56x56", "rtx2080ti,training,other,32x3x56x56"]
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder)
            (data / "networks").mkdir()
            table = "\n".join(["gpu,mode,model_name,input_shape", *rows])
            (data / "networks/heidelberg_networks.csv").write_text(table + "\n")
            self.assertEqual(clocks.published(data, "a30"), [("net", 8, "3x224x224"), ("net", 32, "3x56x48")])
            self.assertEqual(clocks.published(data, "h100"), [])
            self.assertEqual(clocks.graph_of(data, "net", "3x56x48").name, "net.onnx")
            (data / "net_48.onnx").touch()
            self.assertEqual(clocks.graph_of(data, "net", "3x56x48").name, "net_48.onnx")

    def test_clocks_are_judged_as_ratios_to_the_free_run(self) -> None:
        """At 2000 MHz times are right and power is 25 % too high; at 1000 MHz the time is 10 % too long. Energies: 100, 90, 60;
        predicted: 100, 112.5, 132."""
        measured = {2000.0: (1.0, 90.0), 1000.0: (2.0, 30.0)}
        found = {laptop.HIGHEST_MHZ: (5.0, 50.0), 2000.0: (5.0, 56.25), 1000.0: (11.0, 30.0)}
        cell = laptop.judged(measured, (1.0, 100.0), found)
        self.assertAlmostEqual(cell["time_upper"], 0.0)
        self.assertAlmostEqual(cell["power_upper"], 0.25)
        self.assertAlmostEqual(cell["time_lower"], 0.1)
        self.assertEqual((cell["least_energy_mhz"], cell["predicted_mhz"]), (1000.0, 2000.0))
        self.assertAlmostEqual(cell["saved_at_best"], 0.4)
        self.assertAlmostEqual(cell["saved_at_predicted"], 0.1)

    def test_what_stands_in(self) -> None:
        found = [laptop.stand_in(name) for name in ("01_sgemm_nn", "19_ReLU", "05_conv3d_forward", "11_ConvTranspose2d_Tanh")]
        self.assertEqual([kind and kind[0] for kind in found], ["products", "elementwise", None, None])


class Octave(unittest.TestCase):
    def test_rows_beyond_a_limit_by_twice_at_most(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "t.csv").write_text("a,b\n7,1\n8,1\n15,1\n1,3\n17,1\n15,9\n")
            octave.parted(folder / "t.csv", {"a": 7, "b": 1}, folder / "in/t.csv", folder / "out/t.csv")
            self.assertEqual((folder / "in/t.csv").read_text(), "a,b\n7,1\n")
            self.assertEqual((folder / "out/t.csv").read_text(), "a,b\n8,1\n15,1\n1,3\n")


class Goals(unittest.TestCase):
    BARS = [goals.Bar("error", most=0.05), goals.Bar("R2", least=0.99, share=False)]

    def test_a_goal_is_met_where_every_measure_is(self) -> None:
        self.assertEqual(goals.Goal("x", self.BARS, [[0.05, 0.99]]).row()[2:], ["<= 5, >= 0.99", "5, 0.99", "-", "yes"])
        self.assertEqual(goals.Goal("x", self.BARS, [[0.05, 0.98]]).row()[2:], ["<= 5, >= 0.99", "5, **0.98**", "-", "no"])
        between = [goals.Bar("covered", least=0.87, most=0.93)]
        self.assertEqual([goals.Goal("x", between, [[v]]).verdict() for v in (0.86, 0.9, 0.94)], ["no", "yes", "no"])

    def test_ranges_count_the_cases_that_meet_it(self) -> None:
        goal = goals.Goal("x", self.BARS, [[0.01, 1.0], [0.09, 1.0], [0.02, 0.5]])
        self.assertEqual(goal.row()[3:], ["**1 to 9**, **0.5 to 1**", "-", "1 of 3"])

    def test_what_nobody_measured_is_neither_met_nor_missed(self) -> None:
        self.assertEqual(goals.Goal("x", self.BARS, [[None, None]]).verdict(), "not measured")
        self.assertEqual(goals.Goal("x", self.BARS, [[0.01, None]]).verdict(), "as far as measured")
        self.assertEqual(goals.Goal("x", self.BARS, [[0.06, None]]).verdict(), "no")

    def test_the_worst_lies_beyond_the_90th_percentile(self) -> None:
        self.assertEqual(goals.worst({"p90_ape": 0.1, "worst_ape": 0.3}), 0.3)
        self.assertIsNone(goals.worst({"p90_ape": 0.1}))
        goal = goals.Goal("x", [goals.Bar("worst", most=goals.WORST)], [[goals.worst({"p90_ape": 0.25})]])
        self.assertEqual(goal.row()[3:], ["**> 25**", "-", "no"])

    def test_goals_follow_the_figures(self) -> None:
        """Every part has rows, and better figures meet what worse ones missed."""
        figures = page.read_figures()
        for part in goals.PARTS:
            self.assertTrue(part(figures), part.__name__)
        for part, path, of in (
            (goals.operations, "operations/held_out_operations", "heidelberg"),
            (goals.networks, "families/family_networks", "a30"),
        ):
            cells = page.single(figures, path)
            key = next(key for key in cells if key.startswith(of))
            for quantity in ("time", "power", "energy"):
                cells[key][quantity] |= {"mape": 0.01, "median_ape": 0.01, "r2": 0.999, "r2_log": 0.999, "worst_ape": 0.1}
            self.assertEqual(part(figures)[0].verdict(), "yes")
            cells[key]["energy"]["mape"] = 0.2
            self.assertEqual(part(figures)[0].verdict(), "no")


class Calibration(unittest.TestCase):
    def test_units_count_alike_however_many_rows_they_have(self) -> None:
        units = [[0.1] * 90, [0.2], [0.3], [0.4]]
        self.assertEqual(calibration.weighted_quantile(units, 0.5, calibration.alike), 0.2)
        self.assertEqual(calibration.weighted_quantile(units, 0.75, calibration.alike), 0.3)
        # As rows count alike, the large unit decides.
        self.assertEqual(calibration.weighted_quantile(units, 0.9, float), 0.1)

    def test_the_level_rises_to_where_units_left_out_are_covered(self) -> None:
        """Ten units of ten rows: unit k has errors up to k / 10 in its worst row. At 90 % the factor of the others
        leaves more than a tenth of the last ones uncovered, so the level must rise."""
        rows = [
            row(1, math.exp(0.1 if i < 8 else 0.01 * unit * i), str(unit)) for unit in range(10) for i in range(10)
        ]
        found = calibration.Calibrated(rows, calibration.alike)
        plain = calibration.weighted_quantile(found.units.values(), calibration.LEVEL, calibration.alike)
        self.assertGreaterEqual(found.evidence(found.factor)["covers_left_out"], calibration.LEVEL)
        self.assertGreaterEqual(found.factor, round(plain, 6))

    def test_the_level_stays_where_a_rise_would_cover_far_too_much(self) -> None:
        """Of ten rows each. By the others' nine in ten, 0.1 for c and 0.2 for a and b, 0.87 are covered in the mean; by
        what 19 in 20 of the others are within, 0.3, it would be 0.97."""
        errors = {"a": [0.1] * 9 + [0.3], "b": [0.1] * 9 + [0.3], "c": [0.1] * 8 + [0.2, 0.4]}
        found = calibration.Calibrated([row(1, math.exp(e), unit) for unit in errors for e in errors[unit]], calibration.alike)
        self.assertAlmostEqual(found.level, calibration.LEVEL)
        self.assertAlmostEqual(found.evidence(found.factor)["covers_left_out"], 0.8667)

    def test_bounds_of_a_unit_are_by_the_others(self) -> None:
        rows = [row(1, math.exp(0.1), "a"), row(1, math.exp(0.1), "a"), row(1, math.exp(0.5), "b")]
        calibration.Factors().add("k", rows, calibration.alike)
        self.assertAlmostEqual(math.log(rows[2]["hi"] / rows[2]["found"]), 0.1)  # b by a
        self.assertAlmostEqual(math.log(rows[0]["hi"] / rows[0]["found"]), 0.5)  # a by b

    def test_networks_judged_alone_have_the_factors_they_have_beside_operations(self) -> None:
        def rows(kind: str, error: float, **more) -> list[dict]:
            cells = [row(1, math.exp(error * i), f"{kind}{i}") for i in range(1, 5)]
            common = {"subject": "net", "precision": "fp32", "support": "edge", "group": kind, **more}
            return [{**cell, **common, "quantity": quantity} for cell in cells for quantity in calibration.QUANTITIES]

        def held(operations: bool) -> calibration.Held:
            seen, unseen = ([r for group in calibration.GROUPS for r in rows(group, e)] if operations else [] for e in (0.01, 0.1))
            return calibration.Held(seen, rows("", 0.02), unseen, rows("", 0.03), rows("", 0.04) + rows("", 0.09, support="outside"))

        whole = calibration.calibrate(held(operations=True))
        self.assertEqual(calibration.calibrate_networks(held(operations=False), whole), whole)
        earlier = {key: {**part} for key, part in whole.items()}
        earlier["intervals"]["operation/conv/unseen-gpu/power"] = 9.0
        alone = calibration.calibrate_networks(held(operations=False), earlier)["intervals"]
        self.assertEqual(alone["operation/conv/unseen-gpu/power"], 9.0)
        self.assertEqual(alone["network/power/outside"], 9.0)  # no better known than an operation of an unseen GPU

    def test_factors_are_in_units_of_the_spread(self) -> None:
        hard = [row(1, math.exp(0.4), unit, spread=0.2) for unit in "ab"]
        easy = [row(1, math.exp(0.04), unit, spread=0.02) for unit in "ab"]
        self.assertAlmostEqual(calibration.Factors().add("k", hard + easy, calibration.alike), 2.0)
        self.assertAlmostEqual(math.log(easy[0]["hi"] / easy[0]["found"]), 0.04)


class Elsewhere(unittest.TestCase):
    @staticmethod
    def cell(group: str, benchmark: str, error: float) -> list[dict]:
        found = [row(1, math.exp(error), benchmark, spread=0.2, group=group) for _ in range(10)]
        for one in found:
            calibration.bound(one, 1.0)
        return found

    def test_every_benchmark_is_judged_by_the_others(self) -> None:
        ours, theirs = self.cell("conv", "a", 0.4), self.cell("conv", "b", 0.6)
        found = elsewhere.factors_of(ours + theirs)
        self.assertEqual(found.intervals, {"operation/conv/elsewhere/time": 3.0})
        self.assertAlmostEqual(math.log(ours[0]["hi"] / ours[0]["found"]), 0.6)
        self.assertAlmostEqual(math.log(theirs[0]["hi"] / theirs[0]["found"]), 0.4)
        self.assertEqual(elsewhere.coverages(ours), {"n": 10, "without": 0.0, "covered": 1.0})
        self.assertEqual(elsewhere.coverages(theirs), {"n": 10, "without": 0.0, "covered": 0.0})

    def test_bounds_are_never_narrower_than_of_gpus_left_out(self) -> None:
        near = self.cell("conv", "a", 0.1) + self.cell("conv", "b", 0.1)
        self.assertEqual(elsewhere.factors_of(near).intervals, {"operation/conv/elsewhere/time": 1.0})
        self.assertAlmostEqual(math.log(near[0]["hi"] / near[0]["found"]), 0.2)

    def test_what_one_benchmark_alone_has_is_no_factor(self) -> None:
        alone = self.cell("conv", "a", 0.4)
        self.assertEqual(elsewhere.factors_of(alone).intervals, {})
        self.assertEqual(elsewhere.coverages(alone), {"n": 10, "without": 0.0, "covered": 0.0})


class Hosts(unittest.TestCase):
    """Rows whose calls cost 1.5 and 0.8 of what was taken, and whose copies take twice as long."""

    def rows(self, calls: float, copies: float, copied: float = 2e-3) -> list[hosts.Row]:
        made = []
        for gpu in (1e-3, 5e-3, 20e-3):
            for host in (2e-3, 6e-3, 30e-3):
                made.append((hosts.joined(gpu, calls * host) + copies * copied, gpu, host, copied))
        return made

    def test_finds_what_calls_and_copies_cost(self) -> None:
        modes = {"inference": self.rows(1.5, 2.0), "training": self.rows(0.8, 2.0)}
        copies = hosts.best_copies(modes)
        self.assertAlmostEqual(copies, 2.0, delta=0.06)
        self.assertAlmostEqual(hosts.best_calls(modes["inference"], copies), 1.5, delta=0.05)
        self.assertAlmostEqual(hosts.best_calls(modes["training"], copies), 0.8, delta=0.05)

    def test_sees_that_nothing_is_copied(self) -> None:
        self.assertEqual(hosts.best_copies({"inference": self.rows(1.0, 0.0)}), 0.0)
        self.assertEqual(hosts.best_copies({"inference": self.rows(1.0, 1.0, copied=0.0)}), 1.0)

    def test_tells_machines_apart_and_leaves_fp64_out(self) -> None:
        columns = ("quantity", "precision", "gpu", "campaign", "mode", "measured", "found", "gpu_busy_s", "host_busy_s")
        lines = [("time", "fp32", "g", "a", "training", 3, 3, 2, 1), ("time", "fp64", "g", "a", "training", 3, 3, 2, 1),
                 ("power", "fp32", "g", "a", "training", 3, 3, 2, 1), ("time", "fp32", "g", "b", "inference", 3, 2, 2, 1)]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.csv"
            file.write_text("\n".join(",".join(map(str, line)) for line in [columns, *lines]) + "\n")
            found = hosts.read(str(file))
        self.assertEqual({machine: sorted(modes) for machine, modes in found.items()}, {("g", "a"): ["training"], ("g", "b"): ["inference"]})
        (measured, gpu, host, beside), = found["g", "a"]["training"]
        self.assertEqual((measured, gpu, host), (3, 2, 1))
        self.assertAlmostEqual(beside, 3 - hosts.joined(2, 1))
        self.assertEqual(found["g", "b"]["inference"], [(3, 2, 1, 0.0)])


class Shapes(unittest.TestCase):
    def test_density_counts_in_bins_and_forgets_the_rows(self) -> None:
        found = shapes.density("t", [row(1.0, 1.0), row(1.01, 1.02), row(10, 1)])
        self.assertEqual(found["cells"], [[0, 0, 2], [shapes.BINS_PER_DECADE["time"], 0, 1]])
        self.assertAlmostEqual(found["within_10_percent"], 2 / 3)

    def test_distance_is_to_the_nearest_of_the_same_form(self) -> None:
        near = shapes.Neighbours({"Conv2d(3, 7) 31x3", "Conv2d(3, 63) 31x3", "ReLU() 1x1"})
        self.assertAlmostEqual(near.factor("Conv2d(3, 7) 31x3"), 1.0)
        self.assertAlmostEqual(near.factor("Conv2d(3, 15) 31x3"), 2.0)  # 16 / 8, not 64 / 16
        self.assertIsNone(near.factor("GELU() 1x1"))


class Page(unittest.TestCase):
    def test_optional_parts_stand_where_their_figures_do(self) -> None:
        text = "a\n{{if some}}\nb\n{{end}}\nc\n"
        self.assertEqual(page.without_absent(text, {}), "a\nc\n")
        self.assertEqual(page.without_absent(text, {"some": {}}), "a\nb\nc\n")

    def test_a_change_of_figures_is_seen_in_page_and_charts(self) -> None:
        figures = page.read_figures()
        self.assertEqual(page.check(figures), [])
        panel = figures["predicted"]["panels"][0]
        panel["median_ape"] += 0.1
        panel["cells"][0][2] += 1
        stale = page.check(figures)
        self.assertTrue(any("accuracy.md" in line for line in stale))
        self.assertTrue(any("predicted_time.svg" in line for line in stale))
        self.assertFalse(any("coverage.svg" in line for line in stale))

    def test_memory_alone_is_in_its_own_table(self) -> None:
        errors = {"n": 3, "median_ape": 0.125, "mape": 0.25, "bias": -0.5, "coverage": 0.75, "repeats": None}
        time = {**errors, "baseline_median_ape": 0.5}
        tables_of = {"a.csv": {"x, training": {"memory": errors}}, "b.csv": {"y, inference": {"time": time}}}
        figures = {"tables": {"tables": [{"table": t, "fitted_on": False, "groups": g} for t, g in tables_of.items()]}}
        self.assertEqual(tables.peaks(figures).count("\n"), 2)
        self.assertIn("| a, x, training | 3 | 12.5 | 25.0 | -50.0 | 75.0 | - |", tables.peaks(figures))
        self.assertNotIn("a, x", tables.every_table(figures))
        self.assertIn("b, y", tables.every_table(figures))

    def test_curves_and_thesis_tables(self) -> None:
        cell = {"mape": 0.125, "r2": 0.5}
        points = [{"rows_per_stratum": n, "rows": 10 * n, "tables": {"t": {"time": cell}}} for n in (1, 2)]
        figures = {"learning_curve": {"points": points}}
        self.assertIn("| t: time, MAPE | 12.5 | 12.5 |", tables.learning(figures))
        self.assertEqual(len(charts.learning(figures)["data"]["values"]), 2)
        scores = {"time": {"r2_mean": 0.5}, "power": {"r2_mean": 0.25}}
        folds = {quantity: cell for quantity in ("time", "power", "energy")}
        estimators = {"forest": {"folds_of_rows": scores, "folds_of_operations": folds}, "ours": {"folds_of_operations": folds}}
        figures = {"thesis": {"tables": [{"table": "5.1", "gpu": "A30", "mode": "training", "estimators": estimators}]}}
        self.assertIn("| table 5.1, A30 training | 0.500 / 0.250 |", tables.thesis_rows(figures))
        self.assertIn("| 5.1 energy | 0.500, 12.5 | 0.500, 12.5 |", tables.thesis_operations(figures))


if __name__ == "__main__":
    unittest.main()
