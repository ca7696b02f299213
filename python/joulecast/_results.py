# SPDX-License-Identifier: Apache-2.0
"""What a prediction says, as objects."""
from __future__ import annotations

import html

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
# Attribute -> (heading, unit)
_QUANTITIES = {"time_s": ("time", "s"), "power_w": ("power", "W"), "energy_j": ("energy", "J"), "memory_bytes": ("memory", "B")}


def _text(value, unit):
    size, prefix = next((entry for entry in _PREFIXES if abs(value) >= entry[0]), _PREFIXES[-1])
    return f"{value / size:.3g} {prefix}{unit}"


class Interval:
    """A value with the bounds that hold it in `level` of all cases."""

    __slots__ = ("value", "lo", "hi", "level")

    def __init__(self, value, lo, hi, level):
        self.value, self.lo, self.hi, self.level = value, lo, hi, level

    def __float__(self):
        return float(self.value)

    def __eq__(self, other):
        return isinstance(other, Interval) and self.to_dict() == other.to_dict()

    def __repr__(self):
        return f"{self.value:.4g} [{self.lo:.4g}, {self.hi:.4g}]"

    def to_dict(self):
        return {name: getattr(self, name) for name in self.__slots__}


class _Values:
    """The keys of a JSON object as attributes, those with bounds as Intervals."""

    def __init__(self, values, model=None):
        self._values, self.model = values, model
        for key, value in values.items():
            interval = isinstance(value, dict) and "lo" in value
            setattr(self, key, Interval(**value) if interval else value)

    def __eq__(self, other):
        return type(self) is type(other) and (self._values, self.model) == (other._values, other.model)

    def to_dict(self):
        return {"model": self.model, **self._values}


def _setting_text(setting):
    return "{power_limit_w:g} W, {sm_clock_mhz:g} MHz".format(**setting)


class Prediction(_Values):
    """One network on one GPU at one batch. Attributes are the keys of `joulecast predict --json`: `gpu`, `batch`, `time_s`,
    `power_w`, `energy_j`, `memory_bytes` and `edp_js` (each an Interval), `support`, `fits`, `mig_profile`, ..."""

    def __repr__(self):
        amounts = ", ".join(_text(getattr(self, key).value, unit) for key, (_, unit) in _QUANTITIES.items())
        return f"<Prediction {self.gpu} batch {self.batch} at {_setting_text(self.setting)}: {amounts}, {self.support}>"

    def to_pandas(self):
        return Predictions([self]).to_pandas()

    def _repr_html_(self):
        return Predictions([self])._repr_html_()


class Recommendation(_Values):
    """A GPU with a batch, at the setting that does best there. Attributes are the keys of `joulecast recommend --json`: `gpu`,
    `batch`, `setting` (None: the default one), `time_s`, `power_w`, `energy_j`, `memory_bytes` and `edp_js` (each an Interval),
    `default`, `time_ratio` and `energy_ratio` (over the default setting), `support`."""

    def __repr__(self):
        setting = "the default setting" if self.setting is None else _setting_text(self.setting)
        return (f"<Recommendation {self.gpu} batch {self.batch} at {setting}: time {self.time_ratio - 1:+.1%}, "
                f"energy {self.energy_ratio - 1:+.1%}>")


class _Results(list):
    """Several of them. `left_out`: sentences about what cannot be."""

    def __init__(self, found=(), left_out=()):
        super().__init__(found)
        self.left_out = list(left_out)

    def to_dict(self):
        return [one.to_dict() for one in self]

    def to_pandas(self):
        """A pandas.DataFrame, a row each; intervals as columns `time_s`, `time_s_lo`, `time_s_hi`."""
        import pandas

        return pandas.DataFrame([_flat({**one.to_dict(), "setting": _setting_of(one)}) for one in self])

    def _repr_html_(self):
        head = "".join(f"<th>{word}</th>"
                       for word in ("model", "GPU", "batch", "setting", *(h for h, _ in _QUANTITIES.values()), "support"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_html_row, self))}</tbody></table>"


class Recommendations(_Results):
    """Several of them, best first. `left_out`: sentences about GPUs and batches that cannot be, or not within the bounds.
    `notes`: what was assumed, and where nothing like it was measured or swept."""

    def __init__(self, found=(), left_out=(), notes=()):
        super().__init__(found, left_out)
        self.notes = list(notes)


class Predictions(_Results):
    """Several of them, in the order of batches, then GPUs, then settings. `left_out`: sentences about GPUs that lack what
    was asked for."""


# As numbers, also where it is the default one.
def _setting_of(one):
    return one.setting or one.default["setting"]


def _flat(values, before=""):
    row = {}
    for key, value in values.items():
        name = before + key
        if isinstance(value, dict) and "lo" in value:
            row |= {name: value["value"], f"{name}_lo": value["lo"], f"{name}_hi": value["hi"]}
        elif isinstance(value, dict):
            row |= _flat(value, f"{name}_")
        elif not isinstance(value, list):
            row[name] = value
    return row


def _html_row(one):
    cells = [one.model, one.gpu, one.batch, _setting_text(_setting_of(one))]
    for key, (_, unit) in _QUANTITIES.items():
        interval = getattr(one, key)
        cells.append(f"{_text(interval.value, unit)} ({_text(interval.lo, unit)} – {_text(interval.hi, unit)})")
    cells.append(one.support)
    return "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>"
