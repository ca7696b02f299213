#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C++ runner's project finds the torch wheel of the environment that is active, and says what to do where there is none.

torch_cmake_test.py <cmake> <folder of the runner>

Environments are real ones, wheels have what is looked for and nothing else: only configuring is tried.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CMAKE, RUNNER = sys.argv[1:3]


class Configure(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="torch_cmake_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def environment(self, name, version=None, libraries=True):
        """The PATH when it is active."""
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / name], check=True)
        if version:
            (packages,) = (self.folder / name).glob("lib/python3*/site-packages")
            for file in ("__init__.py", "include/ATen/ATen.h", *(["lib/libtorch.so"] if libraries else [])):
                (packages / "torch" / file).parent.mkdir(parents=True, exist_ok=True)
                (packages / "torch" / file).touch()
            (packages / "torch/version.py").write_text(f"__all__ = []\n__version__ = '{version}'\ndebug = False\n")
        return f"{self.folder / name / 'bin'}:{os.environ['PATH']}"

    def configure(self, path, *options, build="build"):
        done = subprocess.run([CMAKE, "-S", RUNNER, "-B", self.folder / build, *options], env=os.environ | {"PATH": path},
                              capture_output=True, text=True, timeout=120)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def test_the_active_environments_wheel_is_found_and_kept(self):
        code, said = self.configure(self.environment("with", "2.13.0+cpu"))
        self.assertEqual(code, 0, said)
        self.assertRegex(said, f"torch 2.13.0 in {self.folder}/with/lib/python[0-9.]+/site-packages/torch")
        code, said = self.configure(self.environment("other", "2.9.1"))
        self.assertIn(f"torch 2.13.0 in {self.folder}/with/", said)
        code, said = self.configure(self.environment("other", "2.9.1"), build="second")
        self.assertIn(f"torch 2.9.1 in {self.folder}/other/", said)

    def test_what_is_missing_is_said_with_what_to_do(self):
        advice = "activate the environment that has torch"
        for path, options, word in ((self.environment("bare"), (), "bare/bin/python3 has no torch"),
                                    (self.environment("old", "2.7.1"), (), "is torch 2.7.1, and 2.8 is needed"),
                                    (self.environment("half", "2.13.0", libraries=False), (), "has no headers and libraries"),
                                    (self.environment("bare"), ("-DJOULECAST_TORCH=/nowhere",), "/nowhere has no headers")):
            code, said = self.configure(path, *options, build=word.split()[0].replace("/", "_"))
            self.assertNotEqual(code, 0)
            self.assertIn(word, said)
            self.assertIn(advice, said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
