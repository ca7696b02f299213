#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the shipped pack to its error budgets: check_budgets.py JOULECAST BUDGETS SOURCE_DIR

Tables are read from $JOULECAST_SHARED_DATA, else from ../shared/data beside the sources; graphs of networks from
$JOULECAST_GRAPHS. What is absent is skipped and named; if all of it is, the exit status is 77.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

SKIPPED = 77


def report_of(pack: pathlib.Path) -> dict:
    """The held-out figures the pack carries."""
    text = pack.read_bytes()
    begin = text.index(b'{\n "schema": "joulecast.pack-report/1"')
    return json.JSONDecoder().raw_decode(text[begin:].decode("utf-8", "replace"))[0]


def evaluated(program: str, table: pathlib.Path, graphs: str | None) -> dict[str, dict] | None:
    """None where no row could be judged: the folder has none of its graphs."""
    command = [program, "evaluate", str(table), "--json"] + (["--graphs", graphs] if graphs else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0 and "no row could be judged" not in done.stderr:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    found = json.loads(done.stdout)
    if done.returncode != 0:
        return None
    return {"/".join(filter(None, map(group.get, ("gpu", "mode", "variant")))).replace(" ", "_"): group for group in found["groups"]}


def budgets(path: pathlib.Path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 6 or words[4] not in ("<=", ">="):
            sys.exit(f"{path}:{number}: expected SOURCE GROUP QUANTITY FIGURE <=|>= VALUE")
        yield (*words[:5], float(words[5]))


def main() -> int:
    program, budget_file, source = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    data = pathlib.Path(os.environ.get("JOULECAST_SHARED_DATA", source / ".." / "shared" / "data"))
    graphs = os.environ.get("JOULECAST_GRAPHS")
    report = report_of(source / "data" / "packs" / "joulecast.jcpack")
    tables: dict[str, dict | None] = {}
    broken = checked = skipped = from_tables = 0
    for where, group, quantity, figure, sense, limit in budgets(budget_file):
        if where.startswith("report:"):
            cells = report[where.removeprefix("report:")].items()
            cell = {name.replace(" ", "_"): found for name, found in cells}.get(group)
        else:
            if where not in tables:
                table = data / where
                needs_graphs = not where.startswith("operations/")
                there = table.is_file() and (graphs is not None or not needs_graphs)
                tables[where] = evaluated(program, table, graphs if needs_graphs else None) if there else None
                if tables[where] is None:
                    why = "no graph of it in JOULECAST_GRAPHS" if there else "JOULECAST_GRAPHS is not set"
                    print(f"SKIPPED {where}: " + (why if table.is_file() else "no table"))
            if tables[where] is None:
                skipped += 1
                continue
            from_tables += 1
            cell = tables[where].get(group)
        value = cell and cell[quantity].get(figure)
        good = value is not None and (value <= limit if sense == "<=" else value >= limit)
        checked += 1
        broken += not good
        print(f"{'ok      ' if good else 'BROKEN  '}{where} {group} {quantity} {figure} {value} {sense} {limit}")
    print(f"{checked} checked, {broken} broken, {skipped} skipped")
    if broken:
        return 1
    return SKIPPED if skipped and not from_tables else 0


if __name__ == "__main__":
    sys.exit(main())
