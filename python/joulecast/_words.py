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


# What the library says of the JSON object that arguments are handed to it in.
_OF_JSON = ((re.compile(r"'(\w+)' of the request"), r"\1"), (re.compile(r"^the request has no '"), "there is no argument '"),
            (re.compile(r"\bis no object of\b"), "is no dict of"), (re.compile(r"^joulecast gpus\b"), "joulecast.gpus()"))


def in_python(text):
    """A message or hint of the program; None stays None."""
    if text is None:
        return None
    text = _OPTION.sub(_argument, text)
    for pattern, words in _OF_JSON:
        text = pattern.sub(words, text)
    return text
