# SPDX-License-Identifier: Apache-2.0
"""What the fits of laws have in common: a copy of the program's law that is checked against it, constants that make the mean
absolute log error least, and the figures they print. Needs numpy and scipy."""

from __future__ import annotations

import pathlib
import random

import numpy as np
from scipy.optimize import least_squares, minimize


class LawFit:
    """A derived class has `program` (constants), `keys` (groups that count the same), `off` and `apart`."""

    program: dict[str, float]
    evaluations = 2500

    def keys(self) -> list:
        raise NotImplementedError

    def name(self, key) -> str:
        """How a group is printed."""
        raise NotImplementedError

    def off(self, key, constants: dict[str, float]) -> np.ndarray:
        """Of a group's rows, log of the bound by what was measured."""
        raise NotImplementedError

    def apart(self, key) -> float:
        """How far the copy of the law is from the program's bound at most, relative."""
        raise NotImplementedError

    def check(self) -> None:
        for key in self.keys():
            if (apart := self.apart(key)) > 1e-6:
                raise SystemExit(f"{key}: this copy of the law differs from the program's by up to {apart:.2g}")

    def fitted(self, keys: list) -> dict[str, float]:
        names, start = list(self.program), np.array(list(self.program.values()))
        at = lambda x: dict(zip(names, start * np.exp(x)))
        cost = lambda x: float(np.mean([np.mean(np.abs(self.off(k, at(x)))) for k in keys])) + 0.002 * float(np.mean(x**2))
        best = np.zeros(len(names))
        for _ in range(2):
            simplex = best + np.vstack([np.zeros(len(names)), 0.25 * np.eye(len(names))])
            how = {"maxfev": self.evaluations, "xatol": 0.003, "fatol": 1e-6, "initial_simplex": simplex, "adaptive": True}
            best = minimize(cost, best, method="Nelder-Mead", options=how).x
        return at(best)

    def show(self, label: str, constants: dict[str, float]) -> None:
        print(label, ", ".join(f"{n} {v:.3g}" for n, v in constants.items()), flush=True)
        for key in self.keys():
            off = self.off(key, constants)
            print(f"    {self.name(key):33} mean {100 * off.mean():6.1f} %, absolute {100 * np.abs(off).mean():5.1f} %", flush=True)


class KernelFit(LawFit):
    """One kernel of several GPUs. `law(rows, device, tile, constants)` is seconds; a row ends with those measured and the
    program's bound."""

    def __init__(self, title: str, law, tile: tuple, program: dict[str, float], rows: dict[str, np.ndarray], devices) -> None:
        self.title, self.law, self.tile, self.program = title, law, tile, program
        self.rows, self.devices = rows, devices

    def keys(self) -> list[str]:
        return sorted(self.rows)

    def name(self, key: str) -> str:
        return key

    def times(self, key: str, constants: dict[str, float]) -> np.ndarray:
        return self.law(self.rows[key], self.devices[key], self.tile, constants)

    def off(self, key: str, constants: dict[str, float]) -> np.ndarray:
        return np.log(self.times(key, constants) / self.rows[key][:, -2])

    def apart(self, key: str) -> float:
        return float(np.abs(self.times(key, self.program) / self.rows[key][:, -1] - 1.0).max())

    def fitted(self, keys: list) -> dict[str, float]:
        """Constants that are 0 stay so. Rounded absolute errors, by gradients: ten constants are many for a simplex."""
        names = [n for n, v in self.program.items() if v > 0]
        start = np.log([self.program[n] for n in names])
        at = lambda x: {**self.program, **dict(zip(names, np.exp(x)))}
        off = lambda x: np.concatenate([self.off(k, at(x)) / np.sqrt(len(self.rows[k])) for k in keys])
        # A hundredth of a row's weight holds what the rows say nothing of; nothing moves beyond a factor of ten.
        cost = lambda x: np.concatenate([off(x), 0.003 * (x - start)])
        scale = 0.05 / np.sqrt(len(self.rows[keys[0]]))
        box = (start - 2.3, start + 2.3)
        return at(least_squares(cost, start, loss="soft_l1", f_scale=scale, bounds=box).x)

    def show(self, label: str, constants: dict[str, float]) -> None:
        super().show(f"{self.title}, {label}:", constants)


def show_all(fits: list[KernelFit]) -> None:
    for fit in fits:
        fit.check()
        fit.show("the program", fit.program)
        fit.show("fitted", fit.fitted(fit.keys()))
        for gpu in fit.keys() if len(fit.keys()) > 1 else []:
            fit.show(f"without {gpu}", fit.fitted([key for key in fit.keys() if key != gpu]))


def sample(table: pathlib.Path, folder: pathlib.Path, lines_of: int) -> pathlib.Path:
    header, *lines = table.read_text().splitlines()
    out = folder / table.name
    out.write_text("\n".join([header, *random.Random(1).sample(lines, min(lines_of, len(lines)))]) + "\n")
    return out
