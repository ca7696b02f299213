#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The thesis' tables 5.1 to 5.4 by scikit-learn and XGBoost themselves, from the table alone: what
`joulecast train --protocol thesis` is held against.

    tools/fit/thesis_tables.py heidelberg_operations.csv [--milliseconds]

Folds are drawn anew, so means agree within the spread over a few draws that is printed beside them."""

import argparse
import csv
import statistics

import numpy
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.model_selection import KFold, cross_val_score
from thesis_features import columns_of, matrix
from xgboost import XGBRegressor

TABLES = [("5.1", "a30", "training"), ("5.2", "a30", "inference"),
          ("5.3", "rtx2080ti", "training"), ("5.4", "rtx2080ti", "inference")]  # fmt: skip
def models():
    return {"random forest": RandomForestRegressor(100, n_jobs=2, random_state=1),
            "extra trees": ExtraTreesRegressor(100, n_jobs=2, random_state=1),
            "boosting": XGBRegressor(n_estimators=100, n_jobs=2, random_state=1)}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--milliseconds", action="store_true", help="learn times in ms, not in s")
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    with open(options.table, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["primary"] == "1"]
    for number, gpu, mode in TABLES:
        own = [row for row in rows if row["gpu"] == gpu and row["mode"] == mode]
        modules = [(row["op_repr"], row["input_shape"]) for row in own]
        inputs = numpy.array(matrix(modules, columns_of(modules)), float)
        scale = 1e3 if options.milliseconds else 1.0
        targets = {"time": numpy.array([float(r["time_s"]) * scale for r in own]),
                   "power": numpy.array([float(r["power_w"]) for r in own])}  # fmt: skip
        print(f"table {number}: {len(own)} rows, {inputs.shape[1]} columns")
        for name, model in models().items():
            for what, target in targets.items():
                means, spreads = [], []
                for draw in range(options.draws):
                    scores = cross_val_score(model, inputs, target, scoring="r2",
                                             cv=KFold(15, shuffle=True, random_state=draw))  # fmt: skip
                    means.append(scores.mean())
                    spreads.append(scores.std())
                spread = statistics.stdev(means) if len(means) > 1 else float("nan")
                print(f"  {name}, {what}: R2 {statistics.mean(means):.3f} ± {statistics.mean(spreads):.3f}"
                      f" (between draws {spread:.3f})", flush=True)


if __name__ == "__main__":
    main()
