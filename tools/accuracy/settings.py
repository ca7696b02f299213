#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `joulecast train-settings` says of the sweeps it left out: settings.py --joulecast PROGRAM --data DATA --out FILE

Standard library only.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys

from errors import write_json

TABLES = (
    "zeus_power_limit_sweep.csv",
    "perseus_powerlimit_pipeline.csv",
    "perseus_stage_clock_sweep.csv",
    "guerreiro_dvfs_microbench.csv",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, help="folder of published tables")
    parser.add_argument("--out", required=True, help="the JSON file to write")
    arguments = parser.parse_args()
    tables = [str(pathlib.Path(arguments.data) / "power" / table) for table in TABLES]
    command = [arguments.joulecast, "train-settings", *tables, "--json"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    kept = {key: report[key] for key in ("left_out",)}
    write_json(pathlib.Path(arguments.out), "joulecast.accuracy-settings/1", kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
