#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the MAELSTROM networks as their frameworks do: export.py NAME... -o FOLDER

ap1, ap3 and ap5 become SavedModels (needs tensorflow and keras), ap4 a program of torch.export (needs torch).
"""
from __future__ import annotations

import argparse
import pathlib

import networks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=[*networks.KERAS, *networks.TORCH], metavar="NAME")
    parser.add_argument("-o", dest="folder", type=pathlib.Path, required=True)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    for name in asked.names:
        if name in networks.KERAS:
            model = networks.KERAS[name]()
            model.export(str(asked.folder / name), verbose=False)
            parameters = model.count_params()
        else:
            import torch

            make, shape = networks.TORCH[name]
            model = make()
            sizes = {0: torch.export.Dim("batch")}
            program = torch.export.export(model, (torch.zeros(2, *shape),), dynamic_shapes=(sizes,))
            torch.export.save(program, str(asked.folder / f"{name}.pt2"))
            parameters = sum(tensor.numel() for tensor in model.parameters())
        print(f"{name}: {parameters} parameters")


if __name__ == "__main__":
    main()
