# SPDX-License-Identifier: Apache-2.0
"""The project's goals beside what was reached: a table of docs/accuracy.md. Goals are typed here, once; everything else
comes from docs/accuracy/NAME.json, and what eight rows of a GPU are worth from the table in docs/howto/add-your-gpu.md."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Callable

from tables import Figures, covered, floors, markdown

HOWTO = pathlib.Path(__file__).resolve().parents[2] / "docs/howto/add-your-gpu.md"
BETWEEN_FRAMEWORKS = "1 to 7.5"  # medians: the same GEMM on the same GPU in two frameworks
REPEATS_OF_SWEEPS = "0.6, 1.2"  # time and power of one sweep run twice


@dataclasses.dataclass(frozen=True)
class Bar:
    """What a figure must not exceed, or reach, or both. `share`: shown in percent."""

    what: str
    most: float | None = None
    least: float | None = None
    share: bool = True

    def shown(self, value: float) -> str:
        return f"{100 * value:.1f}".removesuffix(".0") if self.share else f"{value:.3f}".rstrip("0").rstrip(".")

    def goal(self) -> str:
        if self.least is None:
            return f"<= {self.shown(self.most)}"
        return f">= {self.shown(self.least)}" if self.most is None else f"{self.shown(self.least)} to {self.shown(self.most)}"

    def met(self, value: float) -> bool:
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)


class OrMore(float):
    """The least that a value can be, where it is not known itself."""


Case = list[float | None]  # a value for each bar of its goal; None: nobody measured it


@dataclasses.dataclass
class Goal:
    subject: str
    bars: list[Bar]
    cases: list[Case]
    floor: str = "-"

    def reached(self, at: int) -> str:
        bar, values = self.bars[at], sorted(case[at] for case in self.cases if case[at] is not None)
        if not values:
            return "-"
        ends = [f"{'> ' * isinstance(value, OrMore)}{bar.shown(value)}" for value in (values[0], values[-1])]
        text = " to ".join(dict.fromkeys(ends))
        return text if all(map(bar.met, values)) else f"**{text}**"

    def verdict(self) -> str:
        judged = [[bar.met(value) for bar, value in zip(self.bars, case) if value is not None] for case in self.cases]
        if not any(judged):
            return "not measured"
        met = sum(bool(cell) and all(cell) for cell in judged)
        if len(self.cases) > 1:
            return "yes" if met == len(judged) else f"{met} of {len(judged)}"
        if not met:
            return "no"
        return "yes" if None not in self.cases[0] else "as far as measured"

    def row(self) -> list[str]:
        what = ", ".join(bar.what for bar in self.bars)
        wanted = ", ".join(bar.goal() for bar in self.bars)
        return [self.subject, what, wanted, ", ".join(map(self.reached, range(len(self.bars)))), self.floor, self.verdict()]


def spread(values: list[float]) -> str:
    """Of a floor, from the least to the most."""
    return " to ".join(dict.fromkeys(f"{100 * value:.1f}" for value in (min(values), max(values)))) if values else "-"


OPERATIONS = [
    Bar("time: MAPE", most=0.05),
    Bar("median", most=0.02),
    Bar("R2 of log", least=0.99, share=False),
    Bar("power: R2", least=0.985, share=False),
    Bar("energy: MAPE", most=0.07),
]


def operations(figures: Figures) -> list[Goal]:
    floor, out = floors(figures), []
    for key, cell in figures["operations"]["held_out_operations"].items():
        if key.startswith("heidelberg"):
            time, power, energy = (cell[quantity] for quantity in ("time", "power", "energy"))
            values = [time["mape"], time["median_ape"], time["r2_log"], power["r2"], energy["mape"]]
            name = key.partition("/")[2].replace("/", ", ")
            repeats = [floor[key]] if key in floor else []
            out.append(Goal(f"PyTorch operations held out, {name}", OPERATIONS, [values], spread(repeats)))
    return out


def families(figures: Figures) -> list[Goal]:
    cells = figures["families"]["family_operations"]
    repeats = [value for key, value in floors(figures).items() if key.startswith("heidelberg_operations")]
    subject = f"PyTorch operations of families left out, {len(cells)} GPUs and modes"
    return [Goal(subject, [Bar("time: MAPE", most=0.1)], [[cell["time"]["mape"]] for cell in cells.values()], spread(repeats))]


def captured(figures: Figures) -> list[Goal]:
    found = figures["operations"]["held_out_operations"]
    out = []
    for layout, name, most, floor in (
        ("aic_gemm/", "products", 0.04, BETWEEN_FRAMEWORKS),
        ("aic_attention/", "attention", 0.015, "-"),
    ):
        cases = [[cell["time"]["median_ape"]] for key, cell in found.items() if key.startswith(layout)]
        out.append(Goal(f"captured {name} held out, {len(cases)} GPUs", [Bar("time: median", most=most)], cases, floor))
    far = figures.get("octave", {"tables": {}})["tables"].values()
    cases = [[cell["time"]["median_ape"]] for table in far for cell in table.values()] or [[None]]
    subject = "captured products and attention an octave outside, by table and GPU"
    return [*out, Goal(subject, [Bar("time: median", most=0.08)], cases, BETWEEN_FRAMEWORKS)]


WORKSTATION = ("rtx_pro_6000_server", "rtx2080ti")
UNSEEN = {
    "tensor products": ("aic_gemm", "aic_power_gemm"),
    "FP32 products": ("neusight_gemm",),
    "attention": ("aic_attention", "aic_power_attention"),
    "convolutions": ("neusight_conv",),
    "elementwise, norms": ("neusight_vec",),
    "PyTorch operations": ("heidelberg_operations",),
}


def unseen_bars(most: float) -> list[Bar]:
    return [Bar("time: MAPE", most=most), Bar("bias", least=-0.05, most=0.05)]


def unseen_gpus(figures: Figures) -> list[Goal]:
    """By class and market, over tables and GPUs."""
    out, floor = [], floors(figures)
    for market, others in (("data-centre", 0.12), ("workstation and consumer", 0.15)):
        for name, layouts in UNSEEN.items():
            cells = {
                key: cell["time"]
                for key, cell in figures["operations"]["held_out_gpus"].items()
                if key.split("/")[0] in layouts
                and key.split("/")[1].startswith(WORKSTATION) == (market != "data-centre")
            }
            if cells:
                most = 0.08 if name.endswith("products") and market == "data-centre" else others
                repeats = [floor[key] for key in cells if key in floor]
                cases = [[cell["mape"], cell["bias"]] for cell in cells.values()]
                out.append(Goal(f"{name} of {market} GPUs left out", unseen_bars(most), cases, spread(repeats)))
    return [*out, amd(figures), eight_rows()]


def amd(figures: Figures) -> Goal:
    cells = [
        cell["time"]
        for table in figures["tables"]["tables"]
        if table["layout"] in ("neusight_gemm", "neusight_vec")
        for group, cell in table["groups"].items()
        if group.startswith("AMD")
    ]
    return Goal("AMD's MI100, on which its constants were found", unseen_bars(0.25), [[c["mape"], c["bias"]] for c in cells])


def eight_rows() -> Goal:
    """What is left of the mean error, by tables and modes; the floor is what a correction by all of the rows leaves."""
    cases, least = [], []
    for line in HOWTO.read_text().splitlines():
        cells = line.strip("|").split("|")
        errors = [re.match(r"[\d.]+", cell.strip()) for cell in cells[1:7]]
        if len(cells) == 10 and errors[0]:  # before, after and by all, of time, power and energy
            before, after, by_all, *power = (float(error[0]) if error else None for error in errors)
            cases.append([round(after / before, 2), round(power[1] / power[0], 2) if power[0] else None])
            least.append([by_all / before] + ([power[2] / power[0]] if power[0] else []))
    bars = [Bar("time: error after by before", most=0.5, share=False), Bar("power: the same", most=0.5, share=False)]
    of_power = [case[1] for case in least if len(case) > 1]
    floor = ", ".join(f"{min(of):.2f} to {max(of):.2f}" for of in ([case[0] for case in least], of_power))
    return Goal("eight rows of a GPU left out", bars, cases, floor)


WORST = 0.2
NETWORKS = [Bar("time: MAPE", most=0.05), Bar("energy: MAPE", most=0.06), Bar("time: worst", most=WORST)]


def worst(cell: dict) -> float | None:
    """Figures of former runs have the 90th percentile only, which tells no more than that the worst lies beyond."""
    if "worst_ape" in cell:
        return cell["worst_ape"]
    return OrMore(cell["p90_ape"]) if cell["p90_ape"] > WORST else None


def networks(figures: Figures) -> list[Goal]:
    out = []
    for key, cell in figures["families"]["family_networks"].items():
        time, energy = cell["time"], cell["energy"]
        case = [time["mape"], energy["mape"], worst(time)]
        runs = figures["families"]["earlier_runs"].get(key, {}).values()
        out.append(Goal(f"networks of families left out, {key}", NETWORKS, [case], spread([run["time"]["mape"] for run in runs])))
    repeats = [value for key, value in floors(figures).items() if key.startswith("timm")]
    levels = figures["levels"]["timm_benchmark"].items()
    cases = [[cell["all"]["median_ape"]] for label, cell in levels if "compiled" not in label and "channels" not in label]
    subject = f"timm's networks of families left out, eager, {len(cases)} GPUs and modes"
    out.append(Goal(subject, [Bar("time: median", most=0.1)], cases, spread(repeats)))
    ratio = figures["families"]["timm_3090_to_4090"]
    bar = Bar("time: median (goal: the constant ratio)", most=ratio["constant_median_ape"])
    return [*out, Goal("timm from RTX 3090 to RTX 4090", [bar], [[ratio["predicted_median_ape"]]]), *of_tables(figures)]


def of_tables(figures: Figures) -> list[Goal]:
    groups = {table["layout"]: table["groups"] for table in figures["tables"]["tables"]}
    out = []
    for mode, most in (("inference", 0.101), ("training", 0.098)):
        cells = [cell["time"] for key, cell in groups["neusight_e2e"].items() if key.endswith(mode)]
        mape = sum(cell["n"] * cell["mape"] for cell in cells) / sum(cell["n"] for cell in cells)
        out.append(Goal(f"transformers, {mode} (goal: NeuSight's own)", [Bar("time: MAPE", most=most)], [[mape]]))
    cells = [cell["time"] for cell in groups["profet_train"].values()]
    repeats = [cell["repeats"]["median"] for cell in cells if cell["repeats"]]
    bar = Bar("time: median", most=0.1)
    subject = f"TensorFlow's training steps, {len(cells)} GPUs, not held out"
    return [*out, Goal(subject, [bar], [[cell["median_ape"]] for cell in cells], spread(repeats))]


SETTINGS = {
    "swept": ("swept GPU, only the default known", 0.035, 0.035, 0.015, 0.8, 0.025),
    "swept, 50": ("swept GPU, one more limit measured", 0.018, 0.025, 0.006, 0.92, 0.015),
    "unswept": ("unswept GPU, only the default known", 0.04, 0.04, 0.03, None, 0.03),
}
NO_GAIN = 0.98


def settings(figures: Figures) -> list[Goal]:
    out = []
    for cell in figures["settings"]["left_out"]:
        if cell["scenario"] in SETTINGS:
            name, *wanted = SETTINGS[cell["scenario"]]
            energy = cell["energy_regret"]
            values = [cell["time_error"], cell["power_error"], energy["mean"], energy["within_1_percent"]]
            whats = ("time", "power", "energy lost", "within 1 %", "EDP lost")
            bars = [
                Bar(what, least=goal) if what == "within 1 %" else Bar(what, most=goal)
                for what, goal in zip(whats, wanted)
            ] + [Bar("no gain: right", least=NO_GAIN)]
            case = [*values, cell["edp_regret"]["mean"], cell["gain_right"] / cell["gain_judged"]]
            kept = [at for at, goal in enumerate([*wanted, NO_GAIN]) if goal is not None]
            out.append(Goal(f"limits, {name}", [bars[at] for at in kept], [[case[at] for at in kept]], REPEATS_OF_SWEEPS))
    return [*out, optimum(figures)]


def optimum(figures: Figures) -> Goal:
    found = [entry for mode in ("training", "inference") for entry in figures["clocks"][mode]]
    wanted = (("least_energy_at", 900), ("least_edp_at", 1200))
    shares = [sum(entry[key] == clock for entry in found) / len(found) for key, clock in wanted]
    bars = [Bar("networks with least energy at 900 MHz", least=1.0), Bar("least EDP at 1200 MHz", least=1.0)]
    return Goal("clocks of an A30, of which nobody published a sweep", bars, [shares])


COVERED = [Bar("covered", least=0.87, most=0.93)]
SUPPORTS = {
    "network/inside": "networks of families left out",
    "network/edge": "networks of GPUs left out",
    "operation/seen": "operations of families left out, by group",
    "operation/unseen-gpu": "operations of GPUs left out, by group",
}


def coverage(figures: Figures) -> list[Goal]:
    """Time, power and energy are cases."""
    cases: dict[str, list[Case]] = {}
    for key, cell in figures["families"]["calibration"]["evidence"].items():
        (support,) = {"inside", "edge", "outside", "seen", "unseen-gpu"} & set(key.split("/"))
        cases.setdefault(f"{key.split('/')[0]}/{support}", []).append([cell["covers_left_out"]])
    out = [Goal(f"intervals: {name}", COVERED, cases[key]) for key, name in SUPPORTS.items() if key in cases]
    for section, name in (
        ("held_out_operations", "captured kernels held out"),
        ("held_out_gpus", "captured kernels of GPUs left out"),
    ):
        cells = [cell["time"] for key, cell in figures["operations"][section].items() if key.startswith("aic")]
        out.append(Goal(f"intervals: {name}, by table", COVERED, [[cell["coverage"]] for cell in cells]))
    for name in figures.get("elsewhere", {"benchmarks": {}})["benchmarks"]:
        out.append(Goal(f"intervals: {name}, without a part in them", COVERED, [[covered(figures, name)]]))
    return [*out, outside(figures)]


def outside(figures: Figures) -> Goal:
    cells = figures["distance"]["networks"]
    errors = [cells[name]["time"]["p90_ape"] for name in ("inside: other machines", "outside: other machines")]
    bar = Bar("90th percentile of errors by that inside", least=1.0, share=False)
    return Goal("networks outside the support", [bar], [[round(errors[1] / errors[0], 2)]])


PARTS: tuple[Callable[[Figures], list[Goal]], ...] = (
    operations, families, captured, unseen_gpus, networks, settings, coverage,
)  # fmt: skip


def goals(figures: Figures) -> str:
    head = ["what", "measure", "goal", "reached", "floor", "met"]
    rows = [goal.row() for part in PARTS for goal in part(figures)]
    return markdown(head, rows).replace("---:", "---")


def goals_met(figures: Figures) -> str:
    verdicts = [goal.verdict() for part in PARTS for goal in part(figures)]
    return f"{verdicts.count('yes')} of {len(verdicts)}"
