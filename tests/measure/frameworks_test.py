#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unchanged trainings on data of MNIST's shape under `joulecast measure`, against a stand-in of NVML. Frameworks that are
not there are skipped; JOULECAST_HOOK_PYTHON names the Python of another environment to look for them in.

    frameworks_test.py joulecast folder-of-the-stand-in scenarios [unittest's arguments]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

JOULECAST, STANDIN, SCENARIOS = (os.path.abspath(word) for word in sys.argv[1:4])
PYTHON = os.environ.get("JOULECAST_HOOK_PYTHON", sys.executable)
EPOCHS = 3

KERAS = """
import keras, numpy
images = numpy.random.default_rng(1).random((512, 28, 28, 1), dtype="float32")
digits = numpy.arange(512) % 10
model = keras.Sequential([keras.layers.Conv2D(8, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(10)])
model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images, digits, batch_size=32, epochs=3, verbose=0)
print("trained")
"""

TORCH = """
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(1)
loader = DataLoader(TensorDataset(torch.rand(512, 1, 28, 28), torch.arange(512) % 10), batch_size=32, shuffle=True)
model = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 26 * 26, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(3):
    for images, digits in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), digits).backward()
        optimizer.step()
print("trained")
"""


def needs(*packages):
    probe = f"import importlib.util as u, sys; sys.exit(any(u.find_spec(p) is None for p in {packages!r}))"
    missing = subprocess.run([PYTHON, "-c", probe], stderr=subprocess.DEVNULL, check=False).returncode
    return unittest.skipIf(missing, f"{PYTHON} has not all of {', '.join(packages)}")


class Frameworks(unittest.TestCase):
    def measured(self, program):
        environment = {
            "PATH": f"{Path(JOULECAST).parent}:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8",
            "LD_LIBRARY_PATH": STANDIN, "JOULECAST_STANDIN": f"{SCENARIOS}/v100.toml",
            "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "2",
        }
        with tempfile.TemporaryDirectory() as folder:
            environment["KERAS_HOME"] = folder
            Path(folder, "train.py").write_text(program)
            done = subprocess.run([JOULECAST, "measure", "-o", "run.jcrun", "--", PYTHON, "train.py"], cwd=folder,
                                  env=environment, capture_output=True, text=True, timeout=500, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)
            self.assertNotIn("no longer marked", done.stderr)
            said = subprocess.run([JOULECAST, "analyze", "--json", "run.jcrun"], cwd=folder, env=environment,
                                  capture_output=True, text=True, timeout=60, check=True)
        return json.loads(said.stdout)["runs"][0]

    def check(self, program):
        run = self.measured(program)
        phases = {phase["name"]: phase for phase in run["phases"]}
        steps = 512 // 32
        counts = {name: phase["time_s"]["n"] for name, phase in phases.items()}
        self.assertEqual(counts, {"training": 1, "epoch": EPOCHS, "batch": EPOCHS * steps})
        self.assertFalse(any(phase["open"] for phase in phases.values()))
        epoch, training = phases["epoch"], phases["training"]
        self.assertLessEqual(epoch["time_s"]["mean"] * EPOCHS, training["time_s"]["mean"])
        # The stand-in draws 190 W in the mean, whatever the program does.
        self.assertEqual(epoch["energy_j"]["gpu0"]["n"], EPOCHS)
        self.assertAlmostEqual(epoch["energy_j"]["gpu0"]["mean"] / epoch["time_s"]["mean"], 190, delta=30)

    @needs("keras", "tensorflow")
    def test_keras(self):
        self.check(KERAS)

    @needs("torch")
    def test_pytorch(self):
        self.check(TORCH)


if __name__ == "__main__":
    program = unittest.main(argv=[sys.argv[0], *sys.argv[4:]], exit=False, verbosity=2)
    everything_skipped = len(program.result.skipped) == program.result.testsRun
    sys.exit(77 if everything_skipped else not program.result.wasSuccessful())
