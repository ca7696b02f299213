# SPDX-License-Identifier: Apache-2.0
"""What type checkers are told, by mypy --strict python3 test_types.py, skipped without it"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import joulecast

if importlib.util.find_spec("mypy") is None:
    print("skipped: mypy is not there; JOULECAST_PYTHON may name an interpreter that has it")
    sys.exit(0)

PACKAGE = pathlib.Path(joulecast.__file__).parents[1]
RIGHT = """\
from typing import Union
from typing_extensions import assert_type
import joulecast
from joulecast import callbacks
from joulecast.compat import dippm

assert_type(joulecast.predict("m", gpu="a30", batch=8, input=(3, 224, 224)), joulecast.Prediction)
assert_type(joulecast.Predictor().predict("m", gpu="a30").time_s.value, float)
assert_type(joulecast.predict("m"), joulecast.Predictions)
assert_type(joulecast.predict("m", gpu="all", batch=8), joulecast.Predictions)
assert_type(joulecast.predict("m", gpu=["a30", "h100"], mode="training"), joulecast.Predictions)
assert_type(joulecast.predict("m", gpu="a30", batch=[1, 8])[0], joulecast.Prediction)
assert_type(joulecast.predict("m", gpu="a30", sm_clock=[600, 900]), Union[joulecast.Prediction, joulecast.Predictions])
assert_type(joulecast.recommend("m", best="edp", within_s=0.1)[0].time_ratio, float)
assert_type(joulecast.recommend("m").notes, list[str])
assert_type(dippm.predict("onnx", "m", 8, "3,224,224"), tuple[float, float, float, str])
assert_type(joulecast.measure.begin().end().devices, dict[str, joulecast.Energy])
assert_type(callbacks.Keras().training, Union[joulecast.Window, None])
"""
WRONG = """\
import joulecast

joulecast.predict("m", gpu=3)
joulecast.predict("m", gpu="a30", bath=8)
joulecast.predict("m", gpu="a30", mode="test")
joulecast.recommend("m", best="power")
joulecast.inspect("m", batch=[1, 8])
joulecast.measure.begin().time_s = 3.0
"""


def said(program):
    """mypy's lines about a program, of each its number."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.py")
        path.write_text(program)
        words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--no-error-summary", path]
        out = subprocess.run(words, env={**os.environ, "MYPYPATH": str(PACKAGE)}, cwd=folder, stdout=subprocess.PIPE, text=True).stdout
    return [line for line in out.splitlines() if ": error:" in line]


class Types(unittest.TestCase):
    def test_of_all_that_may_be_asked(self):
        self.assertEqual(said(RIGHT), [])

    def test_name_nothing_that_is_not_there(self):
        told = (PACKAGE / "joulecast" / "__init__.pyi").read_text()
        for name in re.findall(r"^(?:class|def) ([A-Za-z]\w*)", told, re.MULTILINE):
            self.assertTrue(hasattr(joulecast, name), name)

    def test_refuse_what_is_no_argument(self):
        lines = {int(line.split(":")[1]) for line in said(WRONG)}
        self.assertEqual(lines, {3, 4, 5, 6, 7, 8})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
