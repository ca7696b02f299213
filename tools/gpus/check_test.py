#!/usr/bin/env python3
"""The catalogue's checker must find each kind of fault, and none in the catalogue itself."""

import copy
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import check

GOOD = {
    "schema": "joulecast.gpu/1",
    "id": "made-up",
    "name": "NVIDIA Made Up",
    "vendor": "NVIDIA",
    "architecture": "Ampere",
    "aliases": ["madeup-40gb"],
    "unconfirmed": ["power_limit_w"],
    "figures": {
        "compute_capability": "8.0", "sm_count": 100, "cuda_core_count": 6400, "base_clock_mhz": 700,
        "boost_clock_mhz": 1500, "memory_gb": 40, "memory_total_mib": 40960, "memory_type": "HBM2",
        "memory_bandwidth_gb_per_s": 1500, "l2_cache_mib": 40, "shared_memory_per_sm_kib": 164,
        "power_limit_w": 400, "fp32_tflops": 19.2, "release_year": 2020,
    },
    "sources": {"default": "its data sheet"},  # the rest below
    "mig": [
        {"profile": "1g.5gb", "compute_slices": 1, "memory_slices": 1, "memory_mib": 4864, "sm_count": 14,
         "max_instances": 7, "source": "its guide"},
        {"profile": "7g.40gb", "compute_slices": 7, "memory_slices": 8, "max_instances": 1, "source": "its guide"},
    ],
}

GOOD["sources"] |= {key: "its data sheet, page 2" for key in GOOD["figures"] if key != "power_limit_w"}


def faults_after(change):
    gpu = copy.deepcopy(GOOD)
    change(gpu)
    return [key for key, _ in check.check_gpu(gpu, "made-up")]


class CheckTest(unittest.TestCase):
    def test_accepts_a_good_entry(self):
        self.assertEqual(faults_after(lambda gpu: None), [])

    def test_a_figure_needs_a_source(self):
        def change(gpu):
            gpu["sources"] = {"sm_count": "its data sheet"}
        self.assertIn("power_limit_w", faults_after(change))

    def test_a_confirmed_figure_needs_its_own_source(self):
        self.assertIn("power_limit_w", faults_after(lambda gpu: gpu.update(unconfirmed=[])))

    def test_a_figure_needs_a_known_unit(self):
        self.assertIn("power_limit", faults_after(lambda gpu: gpu["figures"].update(power_limit=400)))

    def test_zero_is_no_figure(self):
        self.assertIn("l2_cache_mib", faults_after(lambda gpu: gpu["figures"].update(l2_cache_mib=0)))

    def test_no_value_stops_the_checker(self):
        for key in GOOD["figures"]:
            for value in (0, -1, "many", True, [], 1e300):
                if isinstance(value, str) and isinstance(GOOD["figures"][key], str):
                    continue  # any text will do there
                self.assertIn(key, faults_after(lambda gpu: gpu["figures"].update({key: value})))

    def test_no_shape_stops_the_checker(self):
        for key in ("figures", "sources", "notes", "mig", "unconfirmed", "aliases"):
            self.assertIn(key, faults_after(lambda gpu: gpu.update({key: 7})))

    def test_text_is_no_number(self):
        self.assertIn("sm_count", faults_after(lambda gpu: gpu["figures"].update(sm_count="108")))

    def test_fp32_follows_from_cores_and_clock(self):
        self.assertIn("fp32_tflops", faults_after(lambda gpu: gpu["figures"].update(fp32_tflops=20.0)))

    def test_fp32_may_differ_with_a_note(self):
        def change(gpu):
            gpu["figures"]["fp32_tflops"] = 20.0
            gpu["notes"] = {"fp32_tflops": "dual issue"}
        self.assertEqual(faults_after(change), [])

    def test_unconfirmed_names_a_figure(self):
        self.assertIn("idle_power_w", faults_after(lambda gpu: gpu.update(unconfirmed=["idle_power_w"])))

    def test_id_is_the_file_name(self):
        self.assertIn("id", faults_after(lambda gpu: gpu.update(id="other")))

    def test_memory_instances_fit_the_gpu(self):
        self.assertIn("mig.1g.5gb.memory_mib", faults_after(lambda gpu: gpu["mig"][0].update(max_instances=9)))

    def test_multiprocessors_of_instances_fit_the_gpu(self):
        self.assertIn("mig.1g.5gb.sm_count", faults_after(lambda gpu: gpu["mig"][0].update(sm_count=15)))

    def test_slices_match_the_profile_name(self):
        self.assertIn("mig.1g.5gb.compute_slices", faults_after(lambda gpu: gpu["mig"][0].update(compute_slices=2)))

    def test_a_name_belongs_to_one_gpu(self):
        other = {**GOOD, "name": "NVIDIA Other", "aliases": ["Made_UP 40GB"]}
        faults = list(check.check_names({"made-up": GOOD, "other": other}))
        self.assertEqual([(stem, key) for stem, key, _ in faults], [("other", "aliases")])

    def test_the_vendor_in_front_does_not_count(self):
        self.assertEqual(check.normal_form("NVIDIA RTX 2080-Ti"), check.normal_form("rtx_2080ti"))

    def test_catalogue_is_clean(self):
        catalogue = Path(__file__).resolve().parents[2] / "data" / "gpus"
        self.assertEqual(check.check_folder(catalogue)[1], [])


if __name__ == "__main__":
    unittest.main()
