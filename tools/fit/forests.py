#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scikit-learn's forests reach on the made-up rows of src/fit/random_trees_test.cpp: the figures that test holds."""

import math
import statistics

import sklearn
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.metrics import r2_score


def friedman():
    """The same 400 rows as the test's friedman(): x in single precision, the same generator."""
    state = 1
    rows, targets = [], []

    def draw():
        nonlocal state
        state = (state * 1664525 + 1013904223) % 2**32
        return (state >> 8) / 16777216.0

    for _ in range(400):
        x = [draw() for _ in range(10)]
        noise = 2.0 * (draw() - 0.5)
        y = 10 * math.sin(math.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]
        rows.append(x)
        targets.append(y + noise)
    return rows, targets


def main():
    rows, targets = friedman()
    print("scikit-learn", sklearn.__version__)
    models = {
        "random forest": lambda seed: RandomForestRegressor(100, random_state=seed),
        "extra trees": lambda seed: ExtraTreesRegressor(100, random_state=seed),
        "random forest, 0.3 of the columns, leaves of 5": lambda seed: RandomForestRegressor(
            100, max_features=0.3, min_samples_leaf=5, random_state=seed
        ),
        "random forest of one tree": lambda seed: RandomForestRegressor(1, random_state=seed),
    }
    for name, make in models.items():
        scores = []
        for seed in range(1, 11):
            model = make(seed).fit(rows[:200], targets[:200])
            scores.append(r2_score(targets[200:], model.predict(rows[200:])))
        print(f"{name}: R2 {statistics.mean(scores):.4f}, deviation {statistics.stdev(scores):.4f} over ten seeds")


if __name__ == "__main__":
    main()
