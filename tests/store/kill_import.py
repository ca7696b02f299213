#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills imports at random moments: the store must be as it was, and a later import must not notice.

    kill_import.py joulecast sqlite|postgresql

PostgreSQL: the empty database that JOULECAST_TEST_POSTGRESQL names."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

KILLS = 8
ROWS = 40_000


def table(path, rows, seed):
    draw = random.Random(seed)
    with open(path, "w", encoding="utf-8") as out:
        out.write("gpu,op,split,dtype,rows,cols,latency_s,torch\n")
        for _ in range(rows):
            out.write(f"Tesla T4,add,test,fp32,{draw.randint(1, 9999)},{draw.randint(1, 9999)},{draw.uniform(1e-5, 1e-2):.7g},p2.1.0\n")


def call(program, *words):
    return subprocess.run([program, "dataset", *words], check=True, capture_output=True).stdout


def main(program, kind):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        store = str(folder / "store.db") if kind == "sqlite" else os.environ["JOULECAST_TEST_POSTGRESQL"]
        small, large = folder / "small.csv", folder / "large.csv"
        table(small, 50, 1)
        table(large, ROWS, 2)
        call(program, "import", store, str(small))
        before = call(program, "export", store)
        begin = time.monotonic()
        call(program, "import", str(folder / "timed.db"), str(large))
        whole_s = time.monotonic() - begin
        draw = random.Random(3)
        interrupted = 0
        # The earliest first: an import that ends before it is killed is the last one.
        for delay_s in sorted(draw.uniform(0.05, 0.9) * whole_s for _ in range(KILLS)):
            running = subprocess.Popen([program, "dataset", "import", store, str(large)],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(delay_s)
            running.kill()
            interrupted += running.wait() != 0
            if call(program, "export", store) != before and running.returncode != 0:
                sys.exit("an interrupted import has left rows behind")
            if running.returncode == 0:
                break
            call(program, "check", store)
        call(program, "import", store, str(large))
        call(program, "import", str(folder / "whole.db"), str(small), str(large))
        if call(program, "export", store) != call(program, "export", str(folder / "whole.db")):
            sys.exit("the import after the interrupted ones gave other rows")
        if interrupted == 0:
            sys.exit("no import was interrupted")
        print(f"{interrupted} imports of {whole_s:.2f} s interrupted")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
