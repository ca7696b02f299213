# SPDX-License-Identifier: Apache-2.0
"""For tests of the runners in Python: where they are, and an interpreter that has what they need.

JOULECAST_PYTHON   the python3 of a virtual environment with torch, onnx and onnxruntime; else python3 of the PATH
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = HERE.parent.parent / "src" / "profile" / "runners" / "python"
SKIPPED = 77


def use_interpreter(*libraries):
    """Goes on in that interpreter, which the runners' first line then finds too; ends the test as skipped where it lacks one."""
    wanted = os.environ.get("JOULECAST_PYTHON") or shutil.which("python3") or sys.executable
    lacking = [name for name in libraries
               if subprocess.run([wanted, "-c", f"import {name}"], capture_output=True).returncode != 0]
    if lacking:
        print(f"skipped: {wanted} has no {', '.join(lacking)}: pip install them, or name another interpreter in JOULECAST_PYTHON")
        sys.exit(SKIPPED)
    if os.environ.get("JOULECAST_PYTHON_USED") != wanted:
        os.environ["JOULECAST_PYTHON_USED"] = wanted
        os.environ["PATH"] = f"{pathlib.Path(wanted).parent}:{os.environ['PATH']}"
        os.execv(wanted, [wanted, *sys.argv])
