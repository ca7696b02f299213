#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the thesis' way takes for one network: its forests from a file, its features, scikit-learn's predict.

    bench/thesis_way.py fit MODELS [heidelberg_operations.csv]   two forests, of time and of power; without a table on
                                                                 made-up rows, as many as the A30's
    bench/thesis_way.py predict MODELS                           ResNet-50; prints milliseconds: load prepare predict

Forests are scikit-learn's default of 100 trees; the thesis' own have up to 900, fitted on six times the rows."""

import csv
import pathlib
import pickle
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools" / "fit"))
from thesis_features import columns_of, matrix  # noqa: E402: its folder has to be known first

ROWS = 850


def conv(inputs, outputs, kernel, stride, extent):
    padding = f", padding=({kernel // 2}, {kernel // 2})" if kernel > 1 else ""
    text = f"Conv2d({inputs}, {outputs}, kernel_size=({kernel}, {kernel}), stride=({stride}, {stride}){padding}, bias=False)"
    return text, f"32x{inputs}x{extent}x{extent}"


def norm(channels, extent):
    text = f"BatchNorm2d({channels}, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)"
    return text, f"32x{channels}x{extent}x{extent}"


def relu(channels, extent):
    return "ReLU(inplace=True)", f"32x{channels}x{extent}x{extent}"


def resnet50():
    """The calls of its modules (He and others 2015, with the stride in the 3x3 convolution as torchvision has it)."""
    calls = [conv(3, 64, 7, 2, 224), norm(64, 112), relu(64, 112)]
    calls.append(("MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)", "32x64x112x112"))
    inputs, extent = 64, 56
    for stage, blocks in enumerate([3, 4, 6, 3]):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            after = extent // stride
            calls += [conv(inputs, width, 1, 1, extent), norm(width, extent), relu(width, extent),
                      conv(width, width, 3, stride, extent), norm(width, after), relu(width, after),
                      conv(width, 4 * width, 1, 1, after), norm(4 * width, after)]  # fmt: skip
            if block == 0:
                calls += [conv(inputs, 4 * width, 1, stride, extent), norm(4 * width, after)]
            calls.append(relu(4 * width, after))
            inputs, extent = 4 * width, after
    calls.append(("AdaptiveAvgPool2d(output_size=(1, 1))", "32x2048x7x7"))
    calls.append(("Linear(in_features=2048, out_features=1000, bias=True)", "32x2048"))
    return calls


def made_up():
    """Rows of convolutions whose time follows their work, with scatter."""
    draw = random.Random(1)
    rows, times, powers = [], [], []
    for _ in range(ROWS):
        inputs, outputs = draw.choice([16, 32, 64, 128, 256]), draw.choice([16, 32, 64, 128, 256])
        kernel, extent = draw.choice([1, 3, 5]), draw.choice([7, 14, 28, 56])
        rows.append(conv(inputs, outputs, kernel, 1, extent))
        times.append(1e-5 + inputs * outputs * kernel**2 * extent**2 * 1e-12 * draw.uniform(0.5, 2))
        powers.append(draw.uniform(60, 165))
    return rows, times, powers


def measured(path):
    with open(path, newline="") as file:
        own = [r for r in csv.DictReader(file) if (r["gpu"], r["mode"], r["primary"]) == ("a30", "inference", "1")]
    return ([(r["op_repr"], r["input_shape"]) for r in own], [float(r["time_s"]) for r in own],
            [float(r["power_w"]) for r in own])  # fmt: skip


def fit(models, table):
    from sklearn.ensemble import RandomForestRegressor

    rows, times, powers = measured(table) if table else made_up()
    columns = columns_of(rows)
    inputs = matrix(rows, columns)
    forests = [RandomForestRegressor(100, random_state=1).fit(inputs, target) for target in (times, powers)]
    with open(models, "wb") as file:
        pickle.dump((columns, forests), file)
    print(f"{len(rows)} {'measured' if table else 'made-up'} rows, {len(columns)} columns")


def predict(models):
    began = time.perf_counter()
    with open(models, "rb") as file:
        columns, (time_model, power_model) = pickle.load(file)  # brings scikit-learn along
    loaded = time.perf_counter()
    calls = resnet50()
    different = sorted(set(calls))
    inputs = matrix(different, columns)
    prepared = time.perf_counter()
    times, powers = time_model.predict(inputs), power_model.predict(inputs)
    seconds = sum(t * calls.count(c) for c, t in zip(different, times))
    joules = sum(t * p * calls.count(c) for c, t, p in zip(different, times, powers))
    done = time.perf_counter()
    steps = [(loaded - began), (prepared - loaded), (done - prepared)]
    print(*(f"{step * 1e3:.2f}" for step in steps), f"ResNet-50: {seconds * 1e3:.1f} ms, {joules:.2f} J", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("fit", "predict"):
        sys.exit(__doc__)
    if sys.argv[1] == "fit":
        fit(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
    else:
        predict(sys.argv[2])
