# SPDX-License-Identifier: Apache-2.0
"""Measuring from within a program."""
from __future__ import annotations

import atexit
import functools
import sys
import threading
import warnings

from . import _library
from ._predictor import _given
from ._words import in_python


def _synchronize():
    """Waits for the GPUs' work that was begun: what a window holds must be done when it ends, and not before it begins."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        for index in range(torch.cuda.device_count()):
            torch.cuda.synchronize(index)
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and tensorflow.config.list_physical_devices("GPU"):
        tensorflow.test.experimental.sync_devices()


def _levels_of_ours():
    """For warnings: how far up the caller is who is not of this package."""
    levels, frame = 0, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__package__") == __package__:
        levels, frame = levels + 1, frame.f_back
    return levels + 1


class Energy:
    """Joules of one device in a window. `standard_error` is None where nothing tells how far they may be off; `source` and
    `method` say where they come from."""

    __slots__ = ("device", "name", "value", "standard_error", "power_w", "source", "method")

    def __init__(self, device, name, value, standard_error, power_w, source, method):
        self.device, self.name, self.value, self.standard_error = device, name, value, standard_error
        self.power_w, self.source, self.method = power_w, source, method

    def __float__(self):
        return float(self.value)

    def __repr__(self):
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2g}"
        return f"{self.value:.5g}{error} J ({self.device}, {self.source})"

    def to_dict(self):
        return {name: getattr(self, name) for name in self.__slots__}


class Window:
    """What went on between begin and end. Figures are there once it has ended; asking for them waits until a quarter of a
    second after that, for what sensors say of its end."""

    def __init__(self, meter, name):
        self.name, self._meter, self._result = name, meter, None
        if meter.sync:
            _synchronize()
        self._handle = _library.begin_window(meter._address(), name)

    def end(self):
        """Ends it, once. Returns itself."""
        if self._handle is None:
            raise ValueError(f"window '{self.name}' has ended already")
        if self._meter.sync:
            _synchronize()
        _library.end_window(self._handle)
        return self

    def to_dict(self):
        """What `joulecast measure --json` says of a command (schema joulecast.measurement/1); windows within are its phases."""
        if self._result is None:
            self._result = _library.result_of_window(self._handle)
            self._handle = None  # its readings are no longer needed
            self._meter._warn_of_nothing(self._result)
        return self._result

    @property
    def time_s(self):
        return self.to_dict()["time_s"]["mean"]

    @property
    def devices(self):
        """Device -> Energy, of those whose energy is known: "gpu0", "cpu0", a meter's name."""
        out = {}
        for device in self.to_dict()["devices"]:
            energy = device["energy_j"]
            if energy is not None:
                out[device["device"]] = Energy(device["device"], device["name"], energy["mean"], energy["standard_error"],
                                               device["power_w"]["mean"], energy["source"], energy["method"])
        return out

    @property
    def energy_j(self):
        """Of all GPUs together; None where that of one is not known, or there is none."""
        gpus = [one["energy_j"] for one in self.to_dict()["devices"] if one["device"].startswith("gpu") and "-" not in one["device"]]
        return sum(one["mean"] for one in gpus) if gpus and None not in gpus else None

    @property
    def power_w(self):
        """Of all GPUs together, in the mean over the window; None where energy_j is."""
        return None if self.energy_j is None else self.energy_j / self.time_s

    @property
    def warnings(self):
        """Sentences about what these figures do not tell."""
        return [in_python(sentence) for sentence in self.to_dict()["warnings"]]

    def __repr__(self):
        if self._result is None:
            return f"<Window {self.name!r}>"
        energy = "energy not known" if self.energy_j is None else f"{self.energy_j:.5g} J"
        return f"<Window {self.name!r}: {self.time_s:.5g} s, {energy}>"

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.end()


class Meter:
    """Reads sensors, in threads that hold no lock of Python's, until it is closed.

    gpu: what `joulecast measure --gpu` takes: indices, UUIDs, "all"; None for those that this process sees. interval_ms: None for
    the pace of the sensor. meters: commands that print watts. output: a recording of everything, for `joulecast analyze`; force
    replaces one that is there. sync: wait for the GPUs at the edges of windows.

        with joulecast.Meter(gpu="0", output="train.jcrun") as meter:
            for epoch in range(90):
                with meter.window("epoch") as window:
                    ...
    """

    def __init__(self, gpu=None, *, interval_ms=None, meters=(), replay=None, output=None, force=False, sync=True):
        self.sync, self._closed, self._warned = sync, False, False
        self._open = _library.open_meter(_given(gpu=gpu, interval_ms=interval_ms, meters=list(meters), replay=None if replay is None else str(replay),
                                                output=None if output is None else str(output), force=force,
                                                command=list(sys.argv)))
        atexit.register(self.close)  # threads of the library must not outlive it

    def _address(self):
        if self._closed:
            raise _library.InvalidInputError("the meter is closed", "invalid-input")
        return self._open

    def _warn_of_nothing(self, result):
        """Once a meter, where no device tells its energy: None would else be all that is seen of that."""
        if not self._warned and all(device["energy_j"] is None for device in result["devices"]):
            self._warned = True
            warnings.warn("joulecast: nothing here tells energy, only time is measured; joulecast doctor says what sensors lack",
                          RuntimeWarning, stacklevel=_levels_of_ours())

    def begin(self, name="window"):
        """A Window that lasts until its end()."""
        return Window(self, name)

    window = begin

    def close(self):
        """Ends the recording. Raises Error where it is not whole."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            _library.close_meter(self._open)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()


_shared, _lock = None, threading.Lock()


def shared():
    """The meter of measure(): opened when it is first asked for, closed at the program's end."""
    global _shared
    with _lock:
        if _shared is None:
            _shared = Meter()
        return _shared


_COROUTINE, _GENERATORS = 0x80, 0x20 | 0x200  # inspect's CO_ flags; to import it takes longer than all of this package


def _flags(function):
    return getattr(getattr(function, "__code__", None), "co_flags", 0)


class measure:
    """Time and energy of a block, of the calls of a function, or of what lies between begin() and end().

        with joulecast.measure("epoch") as window:      window = joulecast.measure.begin("epoch")
            train()                                      train()
        print(window.energy_j)                           print(window.end().energy_j)

        @joulecast.measure
        def step(): ...                                  # step.windows has a Window of each call

    Of an `async def` the windows last until what is awaited is done. A generator does its work while somebody else loops over it:
    measure that loop.

    meter: one of your own; else one on the GPUs that this process sees, opened at the first use.
    """

    def __init__(self, name=None, *, meter=None):
        if name is not None and not isinstance(name, str) and not callable(name):
            raise TypeError(f"measure: a name or a function was expected, not {name!r}")
        self._function = name if callable(name) else None
        if _flags(self._function) & _GENERATORS:
            raise TypeError(f"measure: {self._function.__qualname__} is a generator, whose call does nothing yet; measure the loop "
                            "over it as a block")
        self._name, self._meter, self._open = (None if callable(name) else name), meter, []
        self.windows = []
        if self._function is not None:
            functools.update_wrapper(self, self._function)

    @staticmethod
    def begin(name="window", *, meter=None):
        return Window(meter or shared(), name)

    @staticmethod
    def end(window):
        return window.end()

    def __enter__(self):
        self._open.append(self.begin(self._name or "window", meter=self._meter))
        return self._open[-1]

    def __exit__(self, *failure):
        self._open.pop().end()

    def __call__(self, *arguments, **named):
        if self._function is None:
            return self._decorating(*arguments)
        if _flags(self._function) & _COROUTINE:
            return self._awaited(*arguments, **named)
        with self._begun():
            return self._function(*arguments, **named)

    async def _awaited(self, *arguments, **named):
        with self._begun():
            return await self._function(*arguments, **named)

    def _begun(self):
        self.windows.append(self.begin(self._name or self._function.__qualname__, meter=self._meter))
        return self.windows[-1]

    def _decorating(self, function):
        out = measure(function, meter=self._meter)
        out._name = self._name
        return out

    def __get__(self, instance, owner=None):
        """Methods are functions of their instance."""
        return self if instance is None or self._function is None else functools.partial(self, instance)
