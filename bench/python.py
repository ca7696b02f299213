#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs, in one run: a prediction beside that of the same library from C++, and the import beside
numpy's.

    JOULECAST_LIBRARY=build/release/libjoulecast.so.1 PYTHONPATH=python python3 bench/python.py build/release [MODEL]

Least times of several rounds, taken in turn. The import is that of a Python process with nothing else, less an empty one;
numpy's is left out where it is not installed.
"""
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROUNDS, CALLS = 5, 40


def in_cpp(build, model):
    program = [str(pathlib.Path(build) / "bench_predict_file"), model, str(ROOT / "data/packs/joulecast.jcpack"), str(CALLS)]
    return float(subprocess.run(program, capture_output=True, text=True, check=True).stdout)


def in_python(model):
    import joulecast

    least = float("inf")
    for _ in range(CALLS):
        begin = time.perf_counter()
        joulecast.predict(model, gpu="a30", batch=32).time_s.value
        least = min(least, time.perf_counter() - begin)
    return least * 1e3


def importing(what):
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", what], stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3 if done.returncode == 0 else None


def main(build, model=str(ROOT / "examples/resnet50.onnx")):
    cpp, python = zip(*[(in_cpp(build, model), in_python(model)) for _ in range(ROUNDS)])
    print(f"predict {pathlib.Path(model).name}: {min(cpp):.2f} ms from C++, {min(python):.2f} ms from Python, "
          f"{min(python) - min(cpp):.2f} ms more (goal: at most 1)")
    words = ("pass", "import joulecast", "import numpy")
    empty, ours, numpy = zip(*[[importing(what) for what in words] for _ in range(4 * ROUNDS)])
    print(f"import joulecast: {min(ours) - min(empty):.2f} ms")
    if None not in numpy:
        of_numpy = min(numpy) - min(empty)
        print(f"import numpy: {of_numpy:.2f} ms, {of_numpy / (min(ours) - min(empty)):.0f} times that (goal: at least 10)")


if __name__ == "__main__":
    main(*sys.argv[1:])
