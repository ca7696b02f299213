# SPDX-License-Identifier: Apache-2.0
"""What the fits of laws have in common: a copy of the program's law that is checked against it, constants that make the mean
absolute log error least, and the figures they print. Needs numpy and scipy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


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
