# SPDX-License-Identifier: Apache-2.0
"""The arguments of what judges a pack against published sweeps."""
import argparse
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def of_command_line(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--joulecast", required=True, help="the program")
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of published tables")
    parser.add_argument("--pack", default=str(ROOT / "data/packs/joulecast.jcpack"))
    parser.add_argument("--out", required=True, help="the JSON file to write")
    return parser.parse_args()
