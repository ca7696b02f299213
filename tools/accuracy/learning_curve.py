#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Error against the number of rows that are learnt from, table by table: what the limits in src/fit/samples.cpp rest on.

    tools/accuracy/learning_curve.py --joulecast build/release/joulecast --data DATA --work /some/folder \\
        --rows 250,500,1000,2000,3000,4000,6000 --report docs/accuracy/learning_curve.json

Of each table that is thinned out a few lines are drawn; their operations are left out of all trainings, on every GPU and
in every table, and judged by each. A stratum is what was measured alike: a GPU and a precision of one table (of one
operator, of one framework where the table has several). DATA is the folder of published tables. Prints a Markdown table.
Packs in the work folder are used again. Standard library only. The same tables give the same file.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import zlib

TABLES = (
    "aic_gemm_bf16.csv",
    "aic_gemm_fp8.csv",
    "aic_prefill_attention.csv",
    "aic_decode_attention.csv",
    "aic_power_gemm_h200_sxm.csv",
    "aic_power_gemm_b200_sxm.csv",
    "aic_power_attention_h200_sxm.csv",
    "aic_power_attention_b200_sxm.csv",
    "neusight_conv.csv",
    "neusight_gemm.csv",
    "neusight_vec.csv",
)
TEST_LINES = 1500
SHORTEST_FOR_POWER_S = 50e-6  # as in src/fit/samples.cpp


def drawn(source: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
    """A table with those of its lines whose checksums are lowest: as good as drawn, and the same every time."""
    lines = source.read_text().splitlines()
    chosen = set(sorted(range(1, len(lines)), key=lambda i: (zlib.crc32(lines[i].encode()), i))[:TEST_LINES])
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join([lines[0]] + [lines[i] for i in sorted(chosen)]) + "\n")
    return target


def learnt_lines(table: pathlib.Path) -> set[str]:
    """Those that count in figures: block-scaled FP8 is learnt, but judged nowhere, other attention than BF16 is not learnt."""
    with table.open(newline="") as file:
        reader = csv.DictReader(file)
        return {
            str(reader.line_num)
            for row in reader
            if row.get("dtype") != "fp8_block" and row.get("attn_dtype", "bfloat16") == "bfloat16"
        }


def judged_rows(program: str, table: pathlib.Path, pack: list[str]) -> list[dict]:
    rows = table.with_suffix(".rows.csv")
    command = [program, "evaluate", str(table), *pack, "--rows", str(rows), "--json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with rows.open(newline="") as file:
        return list(csv.DictReader(file))


def errors(rows: list[dict], learnt: set[str]) -> dict[str, dict]:
    """Mean and median of |found - measured| / measured, by quantity. Power only where the sensor saw enough."""
    long = {r["line"] for r in rows if r["quantity"] == "time" and float(r["measured"]) >= SHORTEST_FOR_POWER_S}
    out = {}
    for quantity in ("time", "power"):
        found = sorted(
            abs(float(r["found"]) / float(r["measured"]) - 1.0)
            for r in rows
            if r["quantity"] == quantity and r["line"] in learnt and (quantity == "time" or r["line"] in long)
        )
        if found:
            mean = sum(found) / len(found)
            median = found[len(found) // 2]
            out[quantity] = {"n": len(found), "mape": round(mean, 5), "median_ape": round(median, 5)}
    return out


def trained(options: argparse.Namespace, limit: str, without: pathlib.Path) -> pathlib.Path:
    pack = options.work / f"rows_{limit}.jcpack"
    tables = [str(options.data / "operations" / table) for table in TABLES]
    command = [options.joulecast, "train", "--quick", "-q", "--without", str(without), "-o", str(pack), *tables]
    if limit != "own":
        command += ["--stratum-rows", limit]
    if not pack.exists():
        subprocess.run(command, check=True)
    return pack


def used_rows(program: str, pack: pathlib.Path) -> int:
    report = json.loads(subprocess.run([program, "pack", str(pack), "--json"], check=True, capture_output=True).stdout)
    return sum(group["rows"] for group in report["groups"].values())


def point(options: argparse.Namespace, limit: str, without: pathlib.Path, tests: list[pathlib.Path]) -> dict:
    pack = trained(options, limit, without)
    found = {
        table.stem: errors(judged_rows(options.joulecast, table, ["--pack", str(pack)]), learnt_lines(table))
        for table in tests
    }
    return {
        "rows_per_stratum": limit if limit == "own" else int(limit),
        "rows": used_rows(options.joulecast, pack),
        "tables": found,
    }


def markdown(points: list[dict]) -> str:
    lines = ["| rows a stratum | " + " | ".join(str(p["rows_per_stratum"]) for p in points) + " |"]
    lines.append("|---" * (len(points) + 1) + "|")
    lines.append("| rows in all | " + " | ".join(str(p["rows"]) for p in points) + " |")
    for quantity in ("time", "power"):
        for table in points[0]["tables"]:
            if quantity in points[0]["tables"][table]:
                cells = [f"{100 * p['tables'][table][quantity]['mape']:.1f}" for p in points]
                lines.append(f"| {table}: {quantity} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program, with joulecast-train beside it")
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--rows", default="250,500,1000,2000,3000,4000,6000,own")
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()

    tests = [drawn(options.data / "operations" / table, options.work / table) for table in TABLES]
    keys = {row["subject"] for table in tests for row in judged_rows(options.joulecast, table, [])}
    without = options.work / "without.txt"
    without.write_text("".join(f"{key}\n" for key in sorted(keys)))
    points = []
    for limit in options.rows.split(","):
        points.append(point(options, limit, without, tests))
        print(f"{limit}: {points[-1]['rows']} rows", file=sys.stderr)
        if options.report:
            options.report.parent.mkdir(parents=True, exist_ok=True)
            report = {"schema": "joulecast.learning-curve/1", "operations_left_out": len(keys), "points": points}
            options.report.write_text(json.dumps(report, indent=1) + "\n")
    print(markdown(points))
    return 0


if __name__ == "__main__":
    sys.exit(main())
