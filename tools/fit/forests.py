#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scikit-learn's forests reach on the made-up rows of src/fit/friedman.h, and, where it is installed, what CatBoost
predicts there: the figures that the tests of src/fit/random_trees.cpp and symmetric_trees.cpp hold."""

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


def catboost_says(rows, targets):
    """The first four predictions of 100 symmetric trees, with nothing left to chance."""
    try:
        import catboost
    except ImportError:
        return "CatBoost is not installed"
    model = catboost.CatBoostRegressor(
        iterations=100,
        depth=4,
        learning_rate=0.1,
        l2_leaf_reg=3,
        bootstrap_type="No",
        random_strength=0,
        border_count=254,
        score_function="L2",
        leaf_estimation_iterations=1,
        boosting_type="Plain",
        verbose=0,
    )
    found = model.fit(rows[:200], targets[:200]).predict(rows[200:204])
    return f"CatBoost {catboost.__version__}: " + ", ".join(f"{value:.8f}" for value in found)


def main():
    rows, targets = friedman()
    print(catboost_says(rows, targets))
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
