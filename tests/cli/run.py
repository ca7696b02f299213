#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the program as the cases say and compares what it prints, byte for byte.

    run.py [--rewrite] program [case-folder...]

A case is a folder with `cmd` (a bash script that calls `joulecast`; it runs in the case's folder, with a scratch folder
in TMPDIR) and the expected `stdout`, `stderr` (absent: nothing) and `exit` (absent: 0). Without folders: all of cases/.
--rewrite writes what it prints now.
"""

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path


def run(case, program_folder):
    with tempfile.TemporaryDirectory() as scratch:
        return run_in(case, program_folder, scratch)


def run_in(case, program_folder, scratch):
    environment = {
        "TMPDIR": scratch,
        "PATH": f"{program_folder}:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        # Leaks are a matter of the unit tests; the report would stand in stderr.
        "ASAN_OPTIONS": "detect_leaks=0",
    }
    done = subprocess.run(["bash", "cmd"], cwd=case, env=environment, capture_output=True, timeout=60, check=False)
    return {"stdout": done.stdout, "stderr": done.stderr, "exit": f"{done.returncode}\n".encode()}


def expected(case, name):
    path = case / name
    if path.exists():
        return path.read_bytes()
    return b"0\n" if name == "exit" else b""


def rewrite(case, actual):
    for name, text in actual.items():
        path = case / name
        if text == (b"0\n" if name == "exit" else b""):
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(text)


def compare(case, actual):
    same = True
    for name, text in actual.items():
        want = expected(case, name)
        if text == want:
            continue
        same = False
        lines = difflib.unified_diff(
            want.decode(errors="backslashreplace").splitlines(True),
            text.decode(errors="backslashreplace").splitlines(True),
            f"{case.name}/{name} expected",
            f"{case.name}/{name} printed",
        )
        sys.stdout.writelines(lines)
        print()
    return same


def main(arguments):
    rewriting = arguments[:1] == ["--rewrite"]
    program, *cases = arguments[1:] if rewriting else arguments
    cases = cases or sorted(path.parent for path in Path(__file__).parent.glob("cases/*/cmd"))
    good = True
    for case in map(Path, cases):
        actual = run(case, Path(program).resolve().parent)
        if rewriting:
            rewrite(case, actual)
        else:
            good = compare(case, actual) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
