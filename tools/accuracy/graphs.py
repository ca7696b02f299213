#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the folder of graphs that figures of networks want: graphs.py --python ZOO/bin/python --work DIR --out GRAPHS

Exports the networks of tools/zoo/lists/{torchvision,timm,neusight,profet}.txt without weights (some 470, in an hour or two; what
--work has from an earlier run stays) and links them under the names that the tables have: MODEL.onnx at the usual or a free size
of image, MODEL_SIZE.onnx at others. --list takes one list alone; all that --work has is linked anew, so the order of such runs
does not matter. --data DATA, the folder of published tables, adds networks of three search spaces, of which there are too many
for all: every 300th decoder of HW-GPT-Bench that has a row, which takes longest, every 32nd row of EC-NAS-Bench, and every
150th of NAS-Bench-201 in HELP; and those of PePR, whose memory is known, and which timm's table has too. Standard library only.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

TOOLS = pathlib.Path(__file__).resolve().parents[1]
# Of equal names the later one stays: networks that both libraries have are torchvision's in the tables.
LISTS = ("timm", "torchvision", "neusight", "profet")


def name_of(source: str, path: pathlib.Path) -> str:
    """As the tables call it, with the size of image, which is 32 at least. Lists say `as=` where that is the whole name."""
    name = path.stem.removeprefix(f"{source}_").removesuffix("_anysize")
    return re.sub(r"_s([3-9]\d|\d{3,})$", r"_\1", name) + path.suffix


def link(source: str, exported: pathlib.Path, out: pathlib.Path) -> int:
    """Of a network exported at its own size and at a free one the free one comes last, and stays."""
    files = sorted(exported.glob("*.onnx"), key=lambda path: (path.stem.endswith("_anysize"), path.stem))
    for path in files:
        target = out / name_of(source, path)
        target.unlink(missing_ok=True)
        os.link(path, target)
    return len(files)


def decoders(data: pathlib.Path, path: pathlib.Path) -> None:
    """Writes a list of HW-GPT-Bench's networks, as tools/zoo/sources/hwgpt.py names them."""
    with (data / "networks/hwgpt_architectures.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["arch_id"]) % 300 == 0 and int(row["arch_id"]) < 10000]
    with path.open("w") as out:
        for row in rows:
            layers = "_".join(row[key].replace(" ", ".") for key in ("n_head_per_layer", "mlp_ratio_per_layer"))
            bias = "_bias" if row["bias"] == "1" else ""
            out.write(f"hwgpt:{row['embed_dim']}_{layers}{bias} as=hwgpt-{row['scale']}_{row['arch_id']}\n")


def cells(data: pathlib.Path, path: pathlib.Path) -> None:
    """Writes a list of EC-NAS-Bench's networks, as tools/zoo/sources/nasbench101.py names them."""
    with (data / "networks/ecnas_nasbench101_energy.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[::32]
    with path.open("w") as out:
        for row in rows:
            edges = ".".join("".join(map(str, vertex)) for vertex in json.loads(row["adjacency"]))
            ops = "".join("31p"[int(op)] for op in row["node_ops"].split()[1:-1])
            out.write(f"nasbench101:{edges}_{ops} as=nasbench101-{row['arch_hash']}\n")


EDGES = {"none": "n", "skip_connect": "s", "nor_conv_1x1": "1", "nor_conv_3x3": "3", "avg_pool_3x3": "a"}


def edges(data: pathlib.Path, path: pathlib.Path) -> None:
    """Writes a list of HELP's networks of NAS-Bench-201, as tools/zoo/sources/nasbench201.py names them."""
    with (data / "networks/help_nasbench201.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[::150]
    with path.open("w") as out:
        for row in rows:
            nodes = (re.findall(r"(\w+)~", node) for node in row["arch"].split("+"))
            cell = ".".join("".join(EDGES[edge] for edge in node) for node in nodes)
            out.write(f"nasbench201:{cell} as=nasbench201-{row['arch_index']}\n")


def of_256_pixels(data: pathlib.Path, path: pathlib.Path) -> None:
    """Writes a list of timm's networks at the size that PePR trained them at."""
    with (data / "memory/pepr_131_models_train.csv").open(newline="") as file:
        models = sorted({row["model"] for row in csv.DictReader(file)})
    path.write_text("".join(f"timm:{model} image_size=256 as={model}_256\n" for model in models))


WRITTEN = {"pepr": of_256_pixels, "ecnas": cells, "help": edges, "hwgpt": decoders}


def link_all(work: pathlib.Path, out: pathlib.Path) -> None:
    counts = {source: link(source, work / source / "torchscript", out) for source in (*LISTS, *WRITTEN)}
    print("graphs: " + ", ".join(f"{count} of {source}" for source, count in counts.items() if count), flush=True)


def wanted_lists(arguments: argparse.Namespace) -> dict[str, pathlib.Path]:
    """Files of the lists to export; those that only tables name are written to --work."""
    names = arguments.list or (*LISTS, *(WRITTEN if arguments.data else ()))
    lists = {name: TOOLS / "zoo" / "lists" / f"{name}.txt" for name in LISTS if name in names}
    for name, write_list in WRITTEN.items():
        if name in names:
            arguments.work.mkdir(parents=True, exist_ok=True)
            lists[name] = arguments.work.resolve() / f"{name}.txt"
            write_list(arguments.data, lists[name])
    return lists


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="that of tools/zoo/make_venv.sh")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for the exports")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for MODEL.onnx, on the same file system")
    parser.add_argument("--list", action="append", choices=(*LISTS, *WRITTEN), help="one list alone (repeatable)")
    parser.add_argument("--data", type=pathlib.Path, help="folder of published tables: networks that only tables name, too")
    arguments = parser.parse_args()
    if not arguments.data and set(WRITTEN) & set(arguments.list or ()):
        parser.error("networks that only tables name want the folder of tables: --data DATA")
    arguments.out.mkdir(parents=True, exist_ok=True)
    for source, networks in wanted_lists(arguments).items():
        command = [arguments.python, "-m", "zoo", "export", "--list", str(networks)]
        work = arguments.work.resolve() / source
        done = subprocess.run([*command, "--weightless", "--no-references", "-o", str(work)], cwd=TOOLS, check=False)
        print(f"{source}: " + ("all of the list" if done.returncode == 0 else "not all of the list (summary.json says why)"), flush=True)
        link_all(arguments.work.resolve(), arguments.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
