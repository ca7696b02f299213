#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One command makes the pack: the same bytes after SIGKILL, at any number of threads, and from any store.

    check_training.py joulecast kill|threads|sqlite|postgresql

The tables are made up. PostgreSQL: the empty database that JOULECAST_TEST_POSTGRESQL names."""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

PIECES = ("gemm-tensor", "pointwise", "reduction", "settings")


def write(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def tables(folder):
    """Products, elementwise and row-wise operations, and a sweep of limits: four pieces of a pack."""
    draw = random.Random(1)
    products = ["m,n,k,h100_sxm_s,a100_sxm_s"]
    for _ in range(100):
        m, n, k = (2 ** draw.randint(4, 13) for _ in range(3))
        seconds = 2.0 * m * n * k / 5e14 + 4e-6
        products.append(f"{m},{n},{k},{seconds * draw.uniform(0.9, 1.2):.6g},{3 * seconds * draw.uniform(0.9, 1.2):.6g}")
    vectors = ["gpu,op,split,dtype,rows,cols,latency_s,torch"]
    for op in ("add", "softmax"):
        for _ in range(180):
            rows, cols = draw.randint(1, 9999), draw.randint(1, 9999)
            vectors.append(f"Tesla T4,{op},test,fp32,{rows},{cols},{1e-5 + rows * cols * 12 / 3e11:.6g},p2.1.0")
    limits = ["gpu,dataset,network,batch_size,optimizer,power_limit_w,time_per_epoch_s,average_power_w,energy_per_epoch_j"]
    for network in ("one", "two"):
        for limit in (100, 125, 150, 175, 200, 225, 250):
            time_s, power = 10.0 * (1.0 + 30.0 / limit), 0.92 * limit
            limits.append(f"V100,set,{network},32,adam,{limit},{time_s:.5g},{power},{time_s * power:.6g}")
    # In the order in which a store gives them.
    return [write(folder / "bf16.csv", products), write(folder / "vec.csv", vectors), write(folder / "limits.csv", limits)]


def training(program, out, places, **more):
    command = [program, "train", *places, "-o", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)


def trained(program, out, places, **more):
    """The pack's bytes, and what was said."""
    running = training(program, out, places, **more)
    said = running.communicate()[1]
    if running.returncode != 0:
        sys.exit(f"train failed:\n{said}")
    if pathlib.Path(f"{out}.checkpoint").exists():
        sys.exit("the checkpoint outlived the training")
    return out.read_bytes(), said


def fitted(said):
    return {piece for piece in PIECES if re.search(rf"^{piece}: \d+ (rows|sweeps), ", said, re.MULTILINE)}


def pieces_in(folder):
    return {path.stem for path in folder.glob("*.piece")}


def kill(program, folder, places):
    whole, said = trained(program, folder / "whole.jcpack", places)
    if fitted(said) != set(PIECES):
        sys.exit(f"not all pieces were fitted:\n{said}")
    out = folder / "killed.jcpack"
    checkpoint = folder / "killed.jcpack.checkpoint"
    # Each time when one more piece is finished; and once before any is.
    for wanted in range(len(PIECES)):
        before = pieces_in(checkpoint)
        running = training(program, out, places)
        deadline = time.monotonic() + 120
        while len(pieces_in(checkpoint)) < wanted and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        running.kill()
        said = running.communicate()[1]
        if running.returncode != -9 or out.exists():
            sys.exit(f"the training ended before it was killed:\n{said}")
        if fitted(said) & before:
            sys.exit(f"{fitted(said) & before} was fitted again:\n{said}")
        if not before <= pieces_in(checkpoint):
            sys.exit("finished pieces are gone")
    kept = pieces_in(checkpoint)
    if len(kept) < len(PIECES) - 1:
        sys.exit(f"only {kept} were kept")
    # One that is damaged, and what a write left behind.
    damaged = sorted(kept)[0]
    piece = checkpoint / f"{damaged}.piece"
    piece.write_bytes(piece.read_bytes()[:-100])
    (checkpoint / f"{damaged}.piece.1-0").write_bytes(b"half")
    resumed, said = trained(program, out, places)
    if resumed != whole:
        sys.exit("the resumed training gave another pack")
    if fitted(said) != set(PIECES) - kept | {damaged}:
        sys.exit(f"fitted {fitted(said)} though {kept} were kept, {damaged} damaged:\n{said}")
    if f"{damaged}: checkpoint not used" not in said:
        sys.exit(f"nothing was said of the damaged piece:\n{said}")
    foreign(program, folder, places, whole)
    print(f"killed {len(PIECES)} times; resumed to the same {len(whole)} bytes")


def foreign(program, folder, places, whole):
    """What was kept of other rows or options is not used."""
    out = folder / "other.jcpack"
    running = training(program, out, places[:1])
    while not pieces_in(folder / "other.jcpack.checkpoint") and running.poll() is None:
        time.sleep(0.002)
    running.kill()
    running.communicate()
    lines = pathlib.Path(places[0]).read_text(encoding="utf-8").splitlines()
    fewer = write(folder / "fewer_bf16.csv", lines[:-1])
    found, said = trained(program, out, [fewer, *places[1:]])
    if found == whole or "gemm-tensor: checkpoint not used" not in said:
        sys.exit(f"a checkpoint of other rows was used:\n{said}")


def threads(program, folder, places):
    packs = set()
    for count in ("1", "2", "5"):
        environment = dict(os.environ, OMP_NUM_THREADS=count)
        packs.add(trained(program, folder / f"threads{count}.jcpack", places, env=environment)[0])
    if len(packs) != 1:
        sys.exit("the pack depends on the number of threads")


def store(program, folder, places, place):
    subprocess.run([program, "dataset", "import", place, *reversed(places)], check=True, capture_output=True)
    from_tables, _ = trained(program, folder / "tables.jcpack", places)
    from_store, said = trained(program, folder / "store.jcpack", [place])
    if from_store != from_tables:
        sys.exit(f"the store gave another pack than its tables:\n{said}")


def main(program, what):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        places = tables(folder)
        if what == "kill":
            kill(program, folder, places)
        elif what == "threads":
            threads(program, folder, places)
        elif what == "sqlite":
            store(program, folder, places, str(folder / "store.db"))
        else:
            store(program, folder, places, os.environ["JOULECAST_TEST_POSTGRESQL"])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
