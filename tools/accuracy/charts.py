#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/accuracy/*.svg from docs/accuracy/*.json: charts.py [--png DIR]

The charts are Vega-Lite; drawing needs vl-convert (tools/accuracy/requirements.txt), making their specifications does not.
Each SVG carries the digest of its specification, figures included, so that a test finds stale ones without drawing.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
import sys

import tables

TITLES = {
    "predicted_time": "Predicted against measured time, by what was left out",
    "predicted_power": "Predicted against measured power, by what was left out",
    "distance": "Errors of operations by their distance from what was fitted on",
    "support": "Errors of networks by level of support",
    "coverage": "How many measurements lie inside their 90 % intervals, by group",
    "learning": "Errors on operations left out, by the number of rows learnt from",
    "clocks": "Predicted energy and energy-delay product of the thesis' networks over the clock of an A30",
}
BLUE, RED, GREY, BAND = "#2a6fbb", "#c0392b", "#8a8a8a", "#dcefdc"
CONFIG = {
    "background": "white",
    "font": "DejaVu Sans, Verdana, sans-serif",
    "aria": False,
    "axis": {"grid": True, "gridColor": "#eeeeee", "labelFontSize": 10, "titleFontSize": 10, "titleFontWeight": "normal"},
    "title": {"fontSize": 11, "fontWeight": "normal", "anchor": "start"},
    "view": {"stroke": "#cccccc"},
    "legend": {"labelFontSize": 10, "titleFontSize": 10, "labelLimit": 400},
}


def chart(name: str, **rest) -> dict:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": {"text": TITLES[name], "fontSize": 13},
        "config": CONFIG,
        **rest,
    }


def density_panel(panel: dict, unit: str) -> dict:
    """Cells of equal ratio, darker where more rows are; on the line the prediction is right."""
    def edge(index: int) -> float:
        return float(f"{10 ** (index / panel['bins_per_decade']):.4g}")

    cells = [
        {"m": edge(m), "m2": edge(m + 1), "p": edge(p), "p2": edge(p + 1), "n": n} for m, p, n in panel["cells"]
    ]
    low = min(min(c["m"], c["p"]) for c in cells)
    high = max(max(c["m2"], c["p2"]) for c in cells)
    scale = {"type": "log", "domain": [low, high], "nice": False}
    axis = {"format": "~s", "tickCount": 5}
    title = [panel["title"], f"{panel['n']} rows, median error {100 * panel['median_ape']:.1f} %"]
    line = {"data": {"values": [{"m": low, "p": low}, {"m": high, "p": high}]}, "mark": {"type": "line", "color": RED, "strokeWidth": 0.8}}
    return {
        "width": 210,
        "height": 210,
        "title": {"text": title[0], "subtitle": title[1], "subtitleFontSize": 10, "subtitleColor": GREY, "fontSize": 10},
        "layer": [
            {
                "data": {"values": cells},
                "mark": {"type": "rect", "stroke": None},
                "encoding": {
                    "x2": {"field": "m2"},
                    "y2": {"field": "p2"},
                    "color": {"field": "n", "type": "quantitative", "legend": None, "scale": {"type": "log", "scheme": "blues"}},
                },
            },
            line,
        ],
        "encoding": {
            "x": {"field": "m", "type": "quantitative", "scale": scale, "axis": {**axis, "title": f"measured, {unit}"}},
            "y": {"field": "p", "type": "quantitative", "scale": scale, "axis": {**axis, "title": f"predicted, {unit}"}},
        },
    }


def predicted(figures: dict, quantity: str, unit: str) -> dict:
    panels = [p for p in figures["predicted"]["panels"] if p["quantity"] == quantity]
    return chart(
        f"predicted_{quantity}",
        columns=3,
        concat=[density_panel(panel, unit) for panel in panels],
        resolve={"scale": {"color": "independent"}},
    )


def distance(figures: dict) -> dict:
    names = {"median": BLUE, "90th percentile": "#7fb2e5", "physical bound alone, median": GREY}

    def panel(group: str, quantity: str) -> dict:
        cells = figures["distance"]["operations"][group]
        keys = {"median_ape": "median", "p90_ape": "90th percentile"}
        keys |= {"baseline_median_ape": "physical bound alone, median"} if quantity == "time" else {}
        values = [
            {"distance": tables.distance_name(cell), "what": label, "error": round(100 * cell[quantity][key], 2)}
            for cell in cells
            for key, label in keys.items()
        ]
        return {
            "width": 270,
            "height": 150,
            "title": f"{tables.GROUPS[group]}: {quantity}",
            "data": {"values": values},
            "encoding": {
                "x": {"field": "distance", "type": "ordinal", "sort": [tables.distance_name(cell) for cell in cells],
                      "axis": {"labelAngle": -20, "title": None}},
                "y": {"field": "error", "type": "quantitative", "axis": {"title": "error, percent"}},
                "color": {"field": "what", "type": "nominal", "title": None, "legend": {"orient": "bottom"},
                          "scale": {"domain": list(names), "range": list(names.values())}},
            },
            "layer": [{"mark": {"type": "line", "strokeWidth": 1.5}}, {"mark": {"type": "point", "filled": True, "size": 40}}],
        }

    groups = list(figures["distance"]["operations"])
    text = {"text": TITLES["distance"], "fontSize": 13, "subtitleFontSize": 10, "subtitleColor": GREY,
            "subtitle": "by the factor between its extents and those of the nearest operation that was fitted on"}
    panels = [panel(group, quantity) for group in groups for quantity in ("time", "power")]
    return chart("distance", columns=2, concat=panels) | {"title": text}


def support(figures: dict) -> dict:
    values = []
    for name, cells in figures["distance"]["networks"].items():
        for quantity, cell in cells.items():
            values.append(
                {"class": f"{name} ({cell['n']})", "quantity": quantity}
                | {key.removesuffix("_ape"): round(100 * cell[key], 2) for key in ("p25_ape", "median_ape", "p75_ape", "p90_ape")}
                | ({"naive": round(100 * cell["baseline_median_ape"], 2)} if quantity == "time" else {})
            )
    def panel(quantity: str) -> dict:
        mine = [v for v in values if v["quantity"] == quantity]
        order = [v["class"] for v in mine]
        x = {"type": "quantitative", "axis": {"title": f"error of {quantity}, percent"}, "scale": {"domainMin": 0}}
        marks = [
            {"mark": {"type": "bar", "height": 10, "color": "#a9c9ea"}, "encoding": {"x": {"field": "p25", **x}, "x2": {"field": "p75"}}},
            {"mark": {"type": "tick", "thickness": 3, "height": 16, "color": BLUE}, "encoding": {"x": {"field": "median", **x}}},
            {"mark": {"type": "point", "shape": "circle", "color": BLUE, "filled": True}, "encoding": {"x": {"field": "p90", **x}}},
        ]
        if quantity == "time":
            marks.append({"mark": {"type": "point", "shape": "cross", "color": GREY, "filled": True, "size": 50},
                          "encoding": {"x": {"field": "naive", **x}}})
        return {
            "width": 420, "height": {"step": 24}, "data": {"values": mine},
            "encoding": {"y": {"field": "class", "type": "nominal", "sort": order, "axis": {"title": None, "labelLimit": 300}}},
            "layer": marks,
        }

    text = {"text": TITLES["support"], "fontSize": 13, "subtitleFontSize": 10, "subtitleColor": GREY,
            "subtitle": "bar: the middle half; tick: median; dot: 90th percentile; cross: roofline, median"}
    return chart("support", vconcat=[panel(q) for q in ("time", "power", "energy")]) | {"title": text}


def coverage(figures: dict) -> dict:
    """Calibrated groups by what their factor covers on units left out; below, tables that nothing was fitted on."""
    evidence = figures["families"]["calibration"]["evidence"]
    values = [
        {"what": key, "kind": "units left out", "share": round(100 * cell["covers_left_out"], 1)}
        for key, cell in evidence.items()
        if cell["covers_left_out"] is not None
    ] + [{"what": key, "kind": "all rows", "share": round(100 * cell["covers"], 1)} for key, cell in evidence.items()]
    for table in figures["tables"]["tables"]:
        if table["fitted_on"] or not table["table"].startswith("operations/"):
            continue
        name = table["table"].removesuffix(".csv")
        apart = name in figures["elsewhere"]["benchmarks"]  # had a part in the intervals: held against the others' factors
        share = round(100 * (tables.covered(figures, name) if apart else tables.covered_times(table)), 1)
        values.append({"what": f"not fitted on: {name.removeprefix('operations/')}", "kind": "all rows", "share": share})
    order = list(dict.fromkeys(v["what"] for v in values))
    x = {"type": "quantitative", "scale": {"domain": [30, 100]}, "axis": {"title": "inside the interval, percent"}}
    return chart(
        "coverage",
        width=440,
        height={"step": 15},
        layer=[
            {"data": {"values": [{"from": 87, "to": 93}]}, "mark": {"type": "rect", "color": BAND},
             "encoding": {"x": {"field": "from", **x}, "x2": {"field": "to"}}},
            {"data": {"values": values}, "mark": {"type": "point", "filled": True, "size": 45},
             "encoding": {
                 "x": {"field": "share", **x},
                 "y": {"field": "what", "type": "nominal", "sort": order, "axis": {"title": None, "labelLimit": 300}},
                 "color": {"field": "kind", "type": "nominal", "title": None,
                           "scale": {"domain": ["units left out", "all rows"], "range": [BLUE, GREY]}},
             }},
        ],
    )


def learning(figures: dict) -> dict:
    values = [
        {"rows": point["rows"], "table": f"{table}: {quantity}", "quantity": quantity, "error": round(100 * cell["mape"], 2)}
        for point in figures["learning_curve"]["points"]
        if point["rows_per_stratum"] != "own"  # limits that differ by table make no curve
        for table, cells in point["tables"].items()
        for quantity, cell in cells.items()
    ]
    return chart(
        "learning",
        width=520,
        height=300,
        data={"values": values},
        mark={"type": "line", "point": True, "strokeWidth": 1.5},
        encoding={
            "x": {"field": "rows", "type": "quantitative", "scale": {"type": "log"}, "axis": {"title": "rows learnt from"}},
            "y": {"field": "error", "type": "quantitative", "axis": {"title": "mean error, percent"}},
            "color": {"field": "table", "type": "nominal", "title": None, "scale": {"scheme": "tableau20"}},
            "strokeDash": {"field": "quantity", "type": "nominal", "title": None},
        },
    )


def clocks(figures: dict) -> dict:
    """A line a network; dashed where the thesis measured the optimum of all of them, dots where each is predicted."""
    found = figures["clocks"]
    def family(cell: dict) -> str:
        return re.split(r"[\d_ ]", cell["network"])[0]

    names = list(dict.fromkeys(family(cell) for cell in found["training"]))

    def panel(mode: str, key: str, what: str, measured: int) -> dict:
        values = [
            {"network": cell["network"], "family": family(cell), "clock": int(clock),
             "share": value, "least": value == min(cell[key])}
            for cell in found[mode]
            for clock, value in zip(found["clocks"], cell[key])
        ]
        x = {"field": "clock", "type": "quantitative", "scale": {"domain": [200, 1450]}, "axis": {"title": "SM clock, MHz"}}
        low, high = (pick(v["share"] for v in values) for pick in (min, max))
        y = {"field": "share", "type": "quantitative", "axis": {"title": f"share of that at {found['clocks'][-1]} MHz", "format": "~g"},
             "scale": {"type": "log", "nice": False, "domain": [round(0.95 * low, 3), round(1.05 * high, 3)]}}
        color = {"field": "family", "type": "nominal", "title": None, "legend": {"orient": "bottom", "columns": 8},
                 "scale": {"domain": names, "scheme": "category10"}}
        return {
            "width": 290,
            "height": 190,
            "title": f"{mode}: {what}",
            "layer": [
                {"data": {"values": [{"clock": measured}]}, "encoding": {"x": x},
                 "mark": {"type": "rule", "color": RED, "strokeDash": [4, 3]}},
                {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 1},
                 "encoding": {"x": x, "y": y, "color": color, "detail": {"field": "network"}}},
                {"data": {"values": [v for v in values if v["least"]]}, "mark": {"type": "point", "filled": True, "size": 25},
                 "encoding": {"x": x, "y": y, "color": color}},
            ],
        }

    text = {"text": TITLES["clocks"], "fontSize": 13, "subtitleFontSize": 10, "subtitleColor": GREY,
            "subtitle": "dots: predicted optima; dashed: where the thesis measured the optimum of all its networks"}
    panels = [
        panel(mode, key, what, measured)
        for mode in ("training", "inference")
        for key, what, measured in (("energy", "energy", 900), ("edp", "energy-delay product", 1200))
    ]
    return chart("clocks", columns=2, concat=panels) | {"title": text}


def specs(figures: dict) -> dict[str, dict]:
    """The specification of every chart, by the name of its file."""
    optional = {"learning": learning(figures)} if "learning_curve" in figures else {}
    return optional | {
        "predicted_time": predicted(figures, "time", "s"),
        "predicted_power": predicted(figures, "power", "W"),
        "distance": distance(figures),
        "support": support(figures),
        "coverage": coverage(figures),
        "clocks": clocks(figures),
    }


def stamp(spec: dict) -> str:
    return f"<!-- drawn from {hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()} -->"


def main() -> int:
    import page
    import vl_convert

    pictures = pathlib.Path(sys.argv[2]) if sys.argv[1:2] == ["--png"] else None
    for name, spec in specs(page.read_figures()).items():
        svg = vl_convert.vegalite_to_svg(spec)
        (page.FOLDER / f"{name}.svg").write_text(f"{svg}\n{stamp(spec)}\n")
        if pictures:
            (pictures / f"{name}.png").write_bytes(vl_convert.vegalite_to_png(spec, scale=1.5))
    return 0


if __name__ == "__main__":
    sys.exit(main())
