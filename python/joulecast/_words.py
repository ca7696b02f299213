# SPDX-License-Identifier: Apache-2.0
"""Sentences about options of the program as sentences about arguments here."""
from __future__ import annotations

import re

_ARGUMENTS = {"slowdown": "slowdown_percent", "within": "within_s", "sm-clock": "sm_clock", "power-limit": "power_limit", "b": "batch",
              "g": "gpu", **{name: name for name in ("batch", "shapes", "gpu", "framework", "mode", "precision", "runtime", "layout", "host",
                                                     "optimizer", "top", "breakdown", "measured", "best", "choose", "replay")}}
_EXTENT = r"(?:\d+|<[^>\s]+>)"
# An option and, of some, the value that is written behind it.
_OPTION = re.compile(rf"""(?<![\w-]) --?(?P<name>[a-z][a-z-]*)\b
    (?:[ ](?P<input>\S+):(?P<extents>{_EXTENT}(?:x{_EXTENT})*)
     | [ ](?P<numbers>\d[\d.]*(?:,\d[\d.]*)*)\b
     | (?:(?<=gpu)|(?<=mode))[ ](?P<words>all|training|[a-z]+\d+(?:,[a-z]+\d+)*)\b)?""", re.VERBOSE)


def _argument(match):
    name = _ARGUMENTS.get(match["name"])
    if name is None:
        return match[0]
    if match["extents"]:
        return f'{name}={{"{match["input"]}": [{", ".join(re.findall(_EXTENT, match["extents"]))}]}}'
    values = match["numbers"].split(",") if match["numbers"] else [f'"{word}"' for word in (match["words"] or "").split(",") if word]
    if not values:
        return name
    return f"{name}={values[0]}" if len(values) == 1 else f"{name}=[{', '.join(values)}]"


def in_python(text):
    """A message or hint of the program; None stays None."""
    return None if text is None else re.sub(r"^joulecast gpus\b", "joulecast.gpus()", _OPTION.sub(_argument, text))
