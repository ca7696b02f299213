#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares docs/gpus.md with the catalogue that is compiled in, or rewrites it.

    gpu_page.py [--rewrite] joulecast docs/gpus.md
"""

import subprocess
import sys
from pathlib import Path

HEAD = """<!-- Generated from data/gpus by tests/cli/gpu_page.py --rewrite. Do not edit. -->
# GPUs

What `joulecast gpus` knows. Peaks are dense; fp16 is the tensor-core rate where there are tensor cores, on GeForce
boards with fp32 accumulation. `joulecast gpus NAME` shows every figure with its source; `-` is unknown. Any of the
names finds the GPU, and case, spaces, `_` and `-` make no difference. Your own: [formats/gpu.md](formats/gpu.md).

"""


def main(arguments):
    rewriting = arguments[:1] == ["--rewrite"]
    program, page = arguments[1:] if rewriting else arguments
    # Without a home there are no GPUs of the user's own.
    table = subprocess.run([program, "gpus", "--markdown"], env={"PATH": "/usr/bin:/bin"}, capture_output=True,
                           text=True, check=True).stdout
    text = HEAD + table
    if rewriting:
        Path(page).write_text(text, encoding="utf-8")
        return 0
    if Path(page).read_text(encoding="utf-8") == text:
        return 0
    print(f"{page} is stale: run the target 'golden'")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
