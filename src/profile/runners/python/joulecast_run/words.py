# SPDX-License-Identifier: Apache-2.0
"""The line protocol: words with a space between, `key=value` after the first; in values space, '%' and control characters
are written %XX."""
import re

_WHOLE = re.compile(r"-?[0-9]{1,19}\Z")
_REAL = re.compile(r"-?([0-9]+\.?[0-9]*([eE][-+]?[0-9]+)?|inf|nan)\Z")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
LARGEST, SMALLEST = 2**63 - 1, -(2**63)


class Refusal(Exception):
    """What the main program is told: a case that this runner cannot do ("unsupported"), a line that makes no sense
    ("protocol")."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def escaped(text):
    return "".join(c if c > " " and c not in "%\x7f" else f"%{ord(c):02X}" for c in text)


def unescaped(text):
    return _ESCAPE.sub(lambda found: chr(int(found.group(1), 16)), text)


def split(text, separator):
    return [word for word in text.split(separator) if word]


def to_integer(text):
    if not _WHOLE.match(text) or not SMALLEST <= int(text) <= LARGEST:
        raise Refusal("protocol", f"'{text[:40]}' is no whole number")
    return int(text)


def to_real(text):
    if not _REAL.match(text):
        raise Refusal("protocol", f"'{text[:40]}' is no number")
    return float(text)


def to_number(text):
    """Whole where it is written so: not every whole number is a double."""
    return to_integer(text) if _WHOLE.match(text) else to_real(text)


class Fields:
    """The words after the first of a line. Values that are not what is asked for are refused."""

    def __init__(self, words):
        self._values = {}
        for word in words:
            key, equals, value = word.partition("=")
            if equals:
                self._values.setdefault(key, unescaped(value))

    def has(self, key):
        return key in self._values

    def text(self, key, absent=""):
        return self._values.get(key, absent)

    def integer(self, key, absent=0):
        return to_integer(self._values[key]) if key in self._values else absent

    def real(self, key, absent=0.0):
        return to_real(self._values[key]) if key in self._values else absent

    def flag(self, key):
        return self.integer(key) != 0

    def integers(self, key):
        return [to_integer(word) for word in split(self.text(key), ",")]

    def choice(self, key, choices):
        """The first of the choices where the key is absent."""
        value = self.text(key, choices[0])
        if value not in choices:
            raise Refusal("protocol", f"{key}={value[:40]} is none of {', '.join(choices)}")
        return value
