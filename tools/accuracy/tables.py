# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/accuracy.md, each a function from the figures (docs/accuracy/NAME.json by NAME) to Markdown."""

from __future__ import annotations

import collections
import math

Figures = dict[str, dict]


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def floors(figures: Figures) -> dict[str, float]:
    """By "layout/GPU/mode", the median distance of the table's own repeats."""
    found: dict[str, list] = {}
    for table in figures["tables"]["tables"]:
        for group, cells in table["groups"].items():
            if repeats := cells.get("time", {}).get("repeats"):
                found.setdefault("/".join([table["layout"], *group.rsplit(", ", 1)]), []).append(repeats["median"])
    return {key: max(values) for key, values in found.items()}


def of_pack(figures: Figures, section: str, wanted) -> str:
    head = ["table, GPU, mode", "n", "bound alone: MAPE", "time: MAPE", "median", "R2", "covered", "+-", "repeats"]
    head += ["power: MAPE", "R2", "covered", "+-", "energy: MAPE", "covered", "+-"]
    floor = floors(figures)
    rows = []
    for key, cell in figures["operations"][section].items():
        if not wanted(key):
            continue
        time, power, energy = cell["time"], cell["power"], cell["energy"]
        rows.append(
            [key.replace("/", ", ").removeprefix("heidelberg_operations, "), str(time["n"])]
            + [percent(cell["time_bound_alone"]["mape"]), percent(time["mape"]), percent(time["median_ape"])]
            + [number(time["r2"]), *interval(time), percent(floor.get(key))]
            + [percent(power["mape"]), number(power["r2"]), *interval(power), percent(energy["mape"]), *interval(energy)]
        )
    return markdown(head, rows)


def interval(cell: dict) -> list[str]:
    """How many measurements lie inside, and half the width of the middle one."""
    return [percent(cell.get("coverage")), percent(cell.get("interval"))]


def eager(key: str) -> bool:
    return key.startswith("heidelberg")


def held_out_operations(figures: Figures) -> str:
    return of_pack(figures, "held_out_operations", eager)


def held_out_captured(figures: Figures) -> str:
    return of_pack(figures, "held_out_operations", lambda key: not eager(key))


def octave(figures: Figures) -> str:
    head = ["table, GPU", "n", "bound: median", "time: median", "MAPE", "bias", "R2"]
    rows = []
    for table, cells in figures["octave"]["tables"].items():
        for gpu, cell in cells.items():
            time = cell["time"]
            row = [f"{table.removesuffix('.csv')}, {gpu}", str(time["n"]), percent(time["baseline_median_ape"])]
            rows.append(row + [*(percent(time[key]) for key in ("median_ape", "mape", "bias")), number(time["r2"])])
    return markdown(head, rows)


def own_measurements(figures: Figures) -> str:
    head = ["rows of", "n", "shipped pack", "bound, no trees", "fitted on the other families"]
    means = figures["measured"]["means"].items()
    return markdown(head, [[of, str(cell["n"]), *(percent(cell[by]) for by in ("shipped", "bound", "fit"))] for of, cell in means])


def held_out_gpus(figures: Figures) -> str:
    return of_pack(figures, "held_out_gpus", eager)


def held_out_gpus_captured(figures: Figures) -> str:
    return of_pack(figures, "held_out_gpus", lambda key: not eager(key))


def of_families(figures: Figures, section: str, first: str, baseline: str, floor_of: str = "") -> str:
    head = [first, "n", f"{baseline}: MAPE", "time: MAPE", "median", "bias", "R2"]
    head += (["repeats"] if floor_of else []) + ["power: MAPE", "R2", "energy: MAPE"]
    floor = floors(figures)
    rows = []
    for key, cell in figures["families"][section].items():
        time, power, energy = (cell.get(quantity, {}) for quantity in ("time", "power", "energy"))
        row = [key, str(time["n"]), percent(time.get("baseline_mape")), percent(time["mape"]), percent(time["median_ape"])]
        row += [percent(time["bias"]), number(time["r2"])]
        row += [percent(floor.get("/".join([floor_of, *key.rsplit(" ", 1)])))] if floor_of else []
        rows.append(row + [percent(power.get("mape")), number(power.get("r2")), percent(energy.get("mape"))])
    return markdown(head, rows)


def family_operations(figures: Figures) -> str:
    return of_families(figures, "family_operations", "operations", "bound", "heidelberg_operations")


def family_networks(figures: Figures) -> str:
    return of_families(figures, "family_networks", "networks", "roofline")


def earlier_runs(figures: Figures) -> str:
    head = ["networks", "run", "n", "time: MAPE", "median", "worst", "energy: MAPE", "worst"]
    rows = []
    for machine, runs in figures["families"]["earlier_runs"].items():
        for run, cell in runs.items():
            time, energy = cell["time"], cell["energy"]
            row = [machine, run, str(cell["n"]), *(percent(time[key]) for key in ("mape", "median_ape", "worst_ape"))]
            rows.append(row + [percent(energy["mape"]), percent(energy["worst_ape"])])
    return markdown(head, rows)


def family_networks_by_family(figures: Figures) -> str:
    return of_families(figures, "family_networks_by_family", "networks", "roofline")


def gpu_networks(figures: Figures) -> str:
    return of_families(figures, "gpu_networks", "networks", "roofline")


def outside_networks(figures: Figures) -> str:
    head = ["machine, mode, precision", "n", "roofline: MAPE", "time: MAPE", "median", "bias", "R2", "repeats"]
    floor = floors(figures)
    rows = []
    for key, cell in figures["families"]["outside_networks"].items():
        time = cell["time"]
        layout, rest = key.split(" ", 1)
        gpu, mode, _ = rest.rsplit(" ", 2)
        rows.append(
            [("timm, " if layout.startswith("timm") else "") + rest, str(time["n"]), percent(time["baseline_mape"])]
            + [percent(time["mape"]), percent(time["median_ape"]), percent(time["bias"]), number(time["r2"])]
            + [percent(floor.get(f"{layout}/{gpu}/{mode}"))]
        )
    return markdown(head, rows)


def levels(figures: Figures) -> str:
    head = ["GPU, mode, precision", "n", "uncorrected: median", "bias", "ten networks: median", "bias"]
    head += ["all others: median", "bias", "MAPE", "covered"]
    rows = []
    for table in ("timm_benchmark", "torchvision_gpu_benchmark"):
        for label, cell in figures["levels"][table].items():
            learnt = [percent(cell[key][what]) for key in ("uncorrected", "ten", "all") for what in ("median_ape", "bias")]
            final = cell["all"]
            rows.append([label, str(final["n"]), *learnt, percent(final["mape"]), percent(final["coverage"])])
    return markdown(head, rows)


def timm_ratio(figures: Figures) -> str:
    ratio = figures["families"]["timm_3090_to_4090"]
    keys = ("predicted_median_ape", "predicted_bias", "constant_median_ape")
    head = ["networks", "predicted ratio: median error", "bias", "constant ratio: median error"]
    return markdown(head, [[str(ratio["n"]), *(percent(ratio[key]) for key in keys)]])


def at_a_glance(figures: Figures) -> str:
    """The panels of the pictures, one line each."""
    head = ["what was left out", "rows", "naive", "time: median", "within 10 %", "within a factor of 2"]
    panels: dict[str, dict] = {}
    for panel in figures["predicted"]["panels"]:
        panels.setdefault(panel["title"], {})[panel["quantity"]] = panel
    rows = []
    for title, cells in panels.items():
        time = cells["time"]
        rows.append(
            [title, str(time["n"]), percent(time["baseline_median_ape"]), percent(time["median_ape"])]
            + [percent(time["within_10_percent"]), percent(time["within_a_factor_of_2"])]
            + [percent(cells.get(quantity, {}).get("median_ape")) for quantity in ("power", "energy")]
        )
    return markdown([*head, "power: median", "energy: median"], rows)


GROUPS = {
    "conv": "convolutions",
    "gemm-simt": "linear layers",
    "pointwise": "elementwise",
    "reduction": "norms and pooling",
}


def distance_name(cell: dict) -> str:
    if cell["from"] is None:
        return "nothing alike"
    if cell["from"] == 1.0:
        return f"up to {cell['to']:g}"
    return f"{cell['from']:g} to {cell['to']:g}" if cell["to"] else f"over {cell['from']:g}"


def distance(figures: Figures) -> str:
    head = ["operations", "factor to the nearest", "operations", "rows", "bound: median", "time: median", "90th percentile"]
    rows = []
    for group, cells in figures["distance"]["operations"].items():
        for cell in cells:
            time, power = cell["time"], cell["power"]
            rows.append(
                [GROUPS[group], distance_name(cell), str(time["subjects"]), str(time["n"])]
                + [percent(time[key]) for key in ("baseline_median_ape", "median_ape", "p90_ape", "coverage")]
                + [percent(power[key]) for key in ("median_ape", "p90_ape", "coverage")]
            )
    return markdown([*head, "covered", "power: median", "90th percentile", "covered"], rows)


def support(figures: Figures) -> str:
    head = ["networks", "quantity", "rows", "naive: median", "median", "90th percentile", "covered", "interval: +-"]
    rows = []
    for name, cells in figures["distance"]["networks"].items():
        for quantity, cell in cells.items():
            naive = cell.get("baseline_median_ape") if quantity == "time" else None
            keys = ("median_ape", "p90_ape", "coverage", "width")
            rows.append([name, quantity, str(cell["n"]), percent(naive), *(percent(cell[key]) for key in keys)])
    return markdown(head, rows)


def intervals(figures: Figures) -> str:
    head = ["group, support, quantity", "factor", "spread", "shipped", "rows", "units", "covers rows", "covers units"]
    calibration = figures["families"]["calibration"]
    shipped = (figures["operations"]["calibration"] or {}).get("intervals", {})
    rows = []
    for key, value in calibration["intervals"].items():
        evidence = calibration["evidence"].get(key, {})
        spread = evidence.get("spread", 1.0)
        rows.append(
            [key, f"{math.exp(value * spread):.2f}", f"{spread:.3f}"]
            + [f"{math.exp(shipped[key] * spread):.2f}" if key in shipped else "-"]
            + [str(evidence.get("n", "-")), str(evidence.get("units", "-"))]
            + [percent(evidence.get(name)) for name in ("covers", "covers_units", "covers_left_out")]
        )
    return markdown([*head, "units left out"], rows)


def covered(figures: Figures, benchmark: str) -> float:
    """Share of a benchmark's times inside bounds with the factors of the others."""
    cells = figures["elsewhere"]["benchmarks"][benchmark].values()
    return sum(cell["n"] * cell["covered"] for cell in cells) / sum(cell["n"] for cell in cells)


def covered_times(table: dict) -> float:
    """Share of a table's times inside their bounds."""
    cells = [group["time"] for group in table["groups"].values() if "time" in group]
    return sum(cell["n"] * cell["coverage"] for cell in cells) / sum(cell["n"] for cell in cells)


def elsewhere(figures: Figures) -> str:
    head = ["benchmark, group", "rows", "covered as GPUs left out", "by the others' factor", "factor of all"]
    factors = figures["elsewhere"]["intervals"]
    rows = [
        [f"{name.partition('/')[2]}, {group}", str(cell["n"]), percent(cell["without"]), percent(cell["covered"])]
        + [f"{factors.get(f'operation/{group}/elsewhere/time', 1.0):.2f}"]
        for name, groups in figures["elsewhere"]["benchmarks"].items()
        for group, cell in groups.items()
    ]
    return markdown(head, rows)


def every_table(figures: Figures) -> str:
    head = ["table, GPU, mode", "n", "naive: median", "time: median", "MAPE", "bias", "covered", "repeats"]
    rows = []
    for table in figures["tables"]["tables"]:
        name = table["table"].removesuffix(".csv") + (" *" if table["fitted_on"] else "")
        for group, cells in table["groups"].items():
            told = [cells[quantity] for quantity in ("time", "power") if quantity in cells]
            if not told:  # of its memory alone anything is told
                continue
            time = cells.get("time", {})
            rows.append(
                [f"{name}, {group}", str(told[0]["n"]), percent(time.get("baseline_median_ape"))]
                + [percent(time.get(key)) for key in ("median_ape", "mape", "bias", "coverage")]
                + [percent((time.get("repeats") or {}).get("median"))]
                + [percent(cells.get(quantity, {}).get("median_ape")) for quantity in ("power", "energy")]
            )
    return markdown([*head, "power: median", "energy: median"], rows)


def peaks(figures: Figures) -> str:
    """Memory, of the tables that tell what networks take at most."""
    rows = [
        [f"{table['table'].removesuffix('.csv')}, {group}", str(cells["memory"]["n"])]
        + [percent(cells["memory"][key]) for key in ("median_ape", "mape", "bias", "coverage")]
        + [percent((cells["memory"]["repeats"] or {}).get("median"))]
        for table in figures["tables"]["tables"]
        for group, cells in table["groups"].items()
        if "memory" in cells
    ]
    return markdown(["table, GPU, mode", "n", "median", "MAPE", "bias", "covered", "repeats"], rows)


def not_predicted(figures: Figures) -> str:
    rows = [
        [f"{table['table']}", str(table["not_predicted"]), "; ".join(f"{r['reason']} ({r['rows']})" for r in table["because"])]
        for table in figures["tables"]["tables"]
        if table["not_predicted"]
    ]
    return markdown(["table", "rows", "why, the most frequent reasons"], rows).replace("---:|\n", "---|\n", 1)


def not_judged(figures: Figures) -> str:
    rows = [[t["table"], str(t["rows"]), t["reason"]] for t in figures["tables"]["not_judged"]]
    return markdown(["table", "rows", "why"], rows).replace("---:|\n", "---|\n", 1)


SCENARIOS = {
    "swept": "swept GPU",
    "swept, 50": "swept GPU, 50",
    "swept, 50+70": "swept GPU, 50 and 70",
    "unswept": "unswept GPU",
    "unswept, 50": "unswept GPU, 50",
    "unswept, 50+70": "unswept GPU, 50 and 70",
    "rule: half TDP": "rule: half of the default limit",
    "parabola, 50+75": "rule: parabola through 50, 75, 100",
    "swept, 50+75": "swept GPU, the same three",
}


def settings(figures: Figures) -> str:
    head = ["known", "T", "P", "no gain", "E", "<=1 / 3 %", "smooth", "<=1 / 3 %", "EDP", "<=1 / 3 %", "smooth", "<=1 / 3 %"]
    rows = []
    for cell in figures["settings"]["left_out"]:
        row = [SCENARIOS[cell["scenario"]], percent(cell.get("time_error")), percent(cell.get("power_error"))]
        row.append(f"{cell['gain_right']}/{cell['gain_judged']}" if cell.get("gain_judged") else "-")
        for name in ("energy_regret", "energy_regret_smooth", "edp_regret", "edp_regret_smooth"):
            shares = [round(100 * cell[name][key]) for key in ("within_1_percent", "within_3_percent")]
            row += [percent(cell[name]["mean"]), f"{shares[0]} / {shares[1]}"]
        rows.append(row)
    return markdown(head, rows)


def limits(figures: Figures) -> str:
    head = ["sweeps", "n", "known", "T", "P", "n that fit", "E", "EDP"]
    rows = [
        [cell["sweeps"], str(cell["n"]), cell["known"], percent(cell["time"]), percent(cell["power"])]
        + [str(cell["n_recommended"]), percent(cell["energy_lost"]), percent(cell["edp_lost"])]
        for cell in figures["limits"]["rows"]
    ]
    return markdown(head, rows)


def maxq(figures: Figures) -> str:
    head = ["benchmark", "limit", "stands in", "throughput kept: measured", "predicted", "cube root"]
    rows = [
        [cell["benchmark"], f"{cell['limit_w']:g} of {cell['default_w']:g} W", cell["stands_in"]]
        + [percent(cell[key]) for key in ("measured", "predicted", "cube_root")]
        for cell in figures["maxq"]["rows"]
    ]
    found = figures["maxq"]
    errors = [f"{percent(found[f'{key}_mape'])} ({100 * found[f'{key}_bias']:+.1f})" for key in ("predicted", "cube_root")]
    return markdown(head, [*rows, ["mean error (bias)", "", "", "", *errors]])


def laptop(figures: Figures) -> str:
    head = ["operations", "n", "known", "T, upper half", "P", "T, lower half", "P", "least E at", "E saved"]
    keys = ("time_upper", "power_upper", "time_lower", "power_lower")
    rows = [
        [cell["kind"], str(cell["n"]), cell["known"], *(percent(cell[key]) for key in keys)]
        + [f"{cell['least_energy_mhz']:.0f} MHz", percent(cell["saved_at_best"])]
        + [f"{cell['predicted_mhz']:.0f} MHz", percent(cell["saved_at_predicted"])]
        for cell in figures["laptop"]["rows"]
    ]
    return markdown([*head, "predicted at", "E saved there"], rows)


def clocks(figures: Figures) -> str:
    found = figures["clocks"]
    head = ["network (training)", *(f"{clock} MHz" for clock in found["clocks"]), "least EDP at"]
    rows = []
    for cell in found["training"]:
        cells = [f"{energy:.2f}" for energy in cell["energy"]]
        best = cell["energy"].index(min(cell["energy"]))
        cells[best] = f"**{cells[best]}**"
        rows.append([cell["network"], *cells, f"{cell['least_edp_at']} MHz"])
    return markdown(head, rows)


def optima(figures: Figures) -> str:
    """At which clocks the thesis' networks and others have their optima."""
    found = figures["clocks"]
    rows = [
        [f"{what}, {mode}", *(counted(entry[key] for entry in networks[mode]) for networks in (found, found["others"]))]
        for what, key in (("energy", "least_energy_at"), ("EDP", "least_edp_at"))
        for mode in ("training", "inference")
    ]
    return markdown(["least", "its networks", "others"], rows)


def counted(clocks_of) -> str:
    counts = collections.Counter(clocks_of)
    return ", ".join(f"{n} at {clock} MHz" for clock, n in counts.most_common())


def thesis_rows(figures: Figures) -> str:
    """R2 of time and of power by folds of rows, as the thesis has them."""
    found = figures["thesis"]["tables"]
    names = [name for name, cell in found[0]["estimators"].items() if "folds_of_rows" in cell]
    rows = []
    for table in found:
        cells = [table["estimators"][name]["folds_of_rows"] for name in names]
        shown = [f"{cell['time']['r2_mean']:.3f} / {cell['power']['r2_mean']:.3f}" for cell in cells]
        rows.append([f"table {table['table']}, {table['gpu']} {table['mode']}", *shown])
    return markdown(["here, folds of rows", *names], rows)


def thesis_operations(figures: Figures) -> str:
    """R2 and MAPE with no operation on both sides."""
    found = figures["thesis"]["tables"]
    names = list(found[0]["estimators"])
    rows = []
    for table in found:
        for quantity in ("time", "power", "energy"):
            cells = [table["estimators"][name]["folds_of_operations"][quantity] for name in names]
            rows.append([f"{table['table']} {quantity}", *(f"{number(c['r2'])}, {percent(c['mape'])}" for c in cells)])
    return markdown(["here, folds of operations", *names], rows)


def learning(figures: Figures) -> str:
    """Errors by the number of rows learnt from."""
    points = figures["learning_curve"]["points"]
    rows = [["rows in all", *(str(point["rows"]) for point in points)]]
    for quantity in ("time", "power"):
        for table in points[0]["tables"]:
            if quantity in points[0]["tables"][table]:
                cells = [percent(point["tables"][table][quantity]["mape"]) for point in points]
                rows.append([f"{table}: {quantity}, MAPE", *cells])
    return markdown(["rows a stratum", *(str(point["rows_per_stratum"]) for point in points)], rows)
