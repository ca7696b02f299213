# SPDX-License-Identifier: Apache-2.0
"""libjoulecast through its C interface (include/joulecast/c.h). Calls give up Python's lock while they run."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib

from ._words import in_python

_ABI = 1


class Error(RuntimeError):
    """What joulecast could not do. `code` is "not-found", "io", "device", "timeout", or that of a subclass; `hint` says what
    may help, or is None."""

    def __init__(self, message, code="io", hint=None):
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.code, self.hint = code, hint


class InvalidInputError(Error, ValueError):
    """A damaged model file, or an argument that makes no sense."""


class UnsupportedError(Error):
    """Well formed, but nothing joulecast can work with."""


def _error(text):
    failure = json.loads(text)["error"]
    kind = {"invalid-input": InvalidInputError, "unsupported": UnsupportedError}.get(failure["code"], Error)
    return kind(in_python(failure["message"]), failure["code"], in_python(failure["hint"]))


def _path():
    chosen = os.environ.get("JOULECAST_LIBRARY")
    return chosen or str(pathlib.Path(__file__).parent / "lib" / "libjoulecast.so.1")


def _load():
    try:
        library = ctypes.CDLL(_path())
    except OSError as error:
        raise ImportError(f"joulecast's library cannot be loaded: {error}") from None
    if library.joulecast_abi() != _ABI:
        raise ImportError(f"{_path()} is of another version: ABI {library.joulecast_abi()}, not {_ABI}")
    pointer, text, failure = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)
    for name, result, arguments in (
        ("version", text, []),
        ("model_open", pointer, [text, text, failure]),
        ("model_close", None, [pointer]),
        ("predictor_open", pointer, [text, ctypes.POINTER(text), ctypes.c_size_t, failure]),
        ("predictor_close", None, [pointer]),
        ("predict", pointer, [pointer, pointer, text, failure]),
        ("recommend", pointer, [pointer, pointer, text, failure]),
        ("inspect", pointer, [pointer, text, failure]),
        ("inputs", pointer, [pointer, failure]),
        ("gpus", pointer, [pointer, failure]),
        ("meter_open", pointer, [text, failure]),
        ("meter_close", ctypes.c_int, [pointer, failure]),
        ("window_begin", pointer, [pointer, text, failure]),
        ("window_end", ctypes.c_int, [pointer, failure]),
        ("window_result", pointer, [pointer, failure]),
        ("window_close", None, [pointer]),
        ("string_free", None, [pointer]),
    ):
        function = getattr(library, "joulecast_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_LIBRARY = _load()
__version__ = _LIBRARY.joulecast_version().decode()


def _taken(address):
    """The text at an address that the library has given away."""
    try:
        return ctypes.string_at(address).decode()
    finally:
        _LIBRARY.joulecast_string_free(address)


def _call(name, *arguments):
    failure = ctypes.c_void_p()
    result = getattr(_LIBRARY, "joulecast_" + name)(*arguments, ctypes.byref(failure))
    if failure.value is not None:
        raise _error(_taken(failure.value))
    return result


class _Handle:
    """Open until nobody refers to it any more."""

    def __init__(self, address, close):
        self.address, self._close = address, close

    def __del__(self):
        self._close(self.address)


def open_model(path, request):
    words = os.fsencode(path), json.dumps(request).encode()
    return _Handle(_call("model_open", *words), _LIBRARY.joulecast_model_close)


def open_predictor(pack=None, gpu_files=()):
    files = [os.fsencode(file) for file in gpu_files]
    words = os.fsencode(pack) if pack else None, (ctypes.c_char_p * len(files))(*files), len(files)
    return _Handle(_call("predictor_open", *words), _LIBRARY.joulecast_predictor_close)


def predict(predictor, model, request):
    return json.loads(_taken(_call("predict", predictor.address, model.address, json.dumps(request).encode())))


def recommend(predictor, model, request):
    return json.loads(_taken(_call("recommend", predictor.address, model.address, json.dumps(request).encode())))


def inspect(model, request):
    return json.loads(_taken(_call("inspect", model.address, json.dumps(request).encode())))


def inputs(model):
    return json.loads(_taken(_call("inputs", model.address)))["inputs"]


def open_meter(request):
    return _call("meter_open", json.dumps(request).encode())


def close_meter(meter):
    _call("meter_close", meter)


def begin_window(meter, name):
    return _Handle(_call("window_begin", meter, name.encode()), _LIBRARY.joulecast_window_close)


def end_window(window):
    _call("window_end", window.address)


def result_of_window(window):
    return json.loads(_taken(_call("window_result", window.address)))


def gpus(predictor):
    return json.loads(_taken(_call("gpus", predictor.address)))
