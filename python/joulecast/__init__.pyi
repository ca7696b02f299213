# SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Optional, TypedDict, Union, overload

from typing_extensions import Unpack  # type checkers know it; nothing imports it at run time

from . import callbacks as callbacks, compat as compat

_Path = Union[str, "os.PathLike[str]"]
_Mode = Literal["inference", "training"]
_Precision = Literal["fp64", "fp32", "tf32", "tf32-all", "fp16", "bf16", "fp8", "nvfp4", "amp", "amp-bf16"]
_Runtime = Literal["pytorch-eager", "pytorch-compiled", "cuda-graph", "tensorflow"]
_Layout = Literal["channels-first", "channels-last"]
_Optimizer = Literal["sgd", "sgd-momentum", "adam", "adagrad", "rmsprop", "adadelta"]
_Shape = Sequence[int]
_Listed = Union[list[str], tuple[str, ...]]
_Gpus = Union[str, _Listed]
_Batches = Union[int, Sequence[int], None]

__version__: str

class Error(RuntimeError):
    code: str
    hint: Optional[str]

class InvalidInputError(Error, ValueError): ...
class UnsupportedError(Error): ...

class Interval:
    value: float
    lo: float
    hi: float
    level: float
    def __float__(self) -> float: ...
    def to_dict(self) -> dict[str, float]: ...

class Prediction:
    model: str
    gpu: str
    batch: int
    mode: _Mode
    precision: _Precision
    runtime: _Runtime
    layout: _Layout
    optimizer: Optional[_Optimizer]
    setting: dict[str, Any]
    time_s: Interval
    power_w: Interval
    energy_j: Interval
    memory_bytes: Interval
    edp_js: Interval
    fits: bool
    mig_profile: Optional[str]
    support: Literal["inside", "edge", "outside"]
    host: Optional[str]
    gpu_busy_s: float
    host_busy_s: float
    host_bound: bool
    unknown_operators: list[dict[str, Any]]
    flops: int
    bytes: int
    parameters: int
    operations: list[dict[str, Any]]  # with top or breakdown
    notes: list[str]  # where there are any
    def to_dict(self) -> dict[str, Any]: ...
    def to_pandas(self) -> Any: ...  # a pandas.DataFrame

class Predictions(list[Prediction]):
    left_out: list[str]
    def to_dict(self) -> list[dict[str, Any]]: ...
    def to_pandas(self) -> Any: ...  # a pandas.DataFrame

class Recommendation:
    model: str
    gpu: str
    batch: int
    setting: Optional[dict[str, float]]
    time_s: Interval
    power_w: Interval
    energy_j: Interval
    memory_bytes: Interval
    edp_js: Interval
    support: Literal["inside", "edge", "outside"]
    default: dict[str, Any]
    time_ratio: float
    energy_ratio: float
    def to_dict(self) -> dict[str, Any]: ...

class Recommendations(list[Recommendation]):
    left_out: list[str]
    notes: list[str]
    def to_dict(self) -> list[dict[str, Any]]: ...
    def to_pandas(self) -> Any: ...  # a pandas.DataFrame

class _Model(TypedDict, total=False):
    input: Union[str, _Shape, None]
    shapes: Optional[Mapping[str, _Shape]]
    framework: Optional[str]
    example: Any

class _Work(_Model, total=False):
    mode: _Mode
    precision: Optional[_Precision]
    runtime: _Runtime
    layout: Optional[_Layout]
    host: Union[str, float, None]
    optimizer: Optional[_Optimizer]
    measured: Union[str, Sequence[str], None]

class _Prediction(_Work, total=False):
    top: Optional[int]
    breakdown: Optional[bool]

class _Setting(_Prediction, total=False):
    sm_clock: Union[str, float, Sequence[float], None]
    power_limit: Union[str, float, Sequence[float], None]

class _Recommendation(_Work, total=False):
    best: Literal["energy", "time", "edp"]
    choose: Literal["limit", "clock", "both", "none"]
    within_s: Optional[float]
    slowdown_percent: Optional[float]

class _Inspection(_Model, total=False):
    batch: Optional[int]
    top: Optional[int]
    as_written: Optional[bool]

# One GPU by its name and one batch give a Prediction, "all" GPUs or a list of either give Predictions; at settings it may be both.
class Predictor:
    def __init__(self, pack: Optional[_Path] = None, gpu_files: Iterable[_Path] = ()) -> None: ...
    @overload
    def predict(self, model: Any, *, gpu: Literal["all"] = "all", batch: _Batches = None, **options: Unpack[_Setting]) -> Predictions: ...
    @overload
    def predict(self, model: Any, *, gpu: str, batch: Optional[int] = None, **options: Unpack[_Prediction]) -> Prediction: ...
    @overload
    def predict(self, model: Any, *, gpu: _Listed, batch: _Batches = None, **options: Unpack[_Setting]) -> Predictions: ...
    @overload
    def predict(self, model: Any, *, gpu: str, batch: Sequence[int], **options: Unpack[_Setting]) -> Predictions: ...
    @overload
    def predict(self, model: Any, *, gpu: str, batch: Optional[int] = None, **options: Unpack[_Setting]) -> Union[Prediction, Predictions]: ...
    def recommend(
        self, model: Any, *, gpu: _Gpus = "all", batch: _Batches = None, **options: Unpack[_Recommendation]
    ) -> Recommendations: ...
    def gpus(self) -> list[dict[str, Any]]: ...

@overload
def predict(model: Any, *, gpu: Literal["all"] = "all", batch: _Batches = None, **options: Unpack[_Setting]) -> Predictions: ...
@overload
def predict(model: Any, *, gpu: str, batch: Optional[int] = None, **options: Unpack[_Prediction]) -> Prediction: ...
@overload
def predict(model: Any, *, gpu: _Listed, batch: _Batches = None, **options: Unpack[_Setting]) -> Predictions: ...
@overload
def predict(model: Any, *, gpu: str, batch: Sequence[int], **options: Unpack[_Setting]) -> Predictions: ...
@overload
def predict(model: Any, *, gpu: str, batch: Optional[int] = None, **options: Unpack[_Setting]) -> Union[Prediction, Predictions]: ...
def recommend(
    model: Any, *, gpu: _Gpus = "all", batch: _Batches = None, **options: Unpack[_Recommendation]
) -> Recommendations: ...
def inspect(model: Any, **options: Unpack[_Inspection]) -> dict[str, Any]: ...
def gpus() -> list[dict[str, Any]]: ...

class Energy:
    device: str
    name: str
    value: float
    standard_error: Optional[float]
    power_w: float
    source: str
    method: str
    def __float__(self) -> float: ...
    def to_dict(self) -> dict[str, Any]: ...

class Window:
    name: str
    @property
    def time_s(self) -> float: ...
    @property
    def energy_j(self) -> Optional[float]: ...
    @property
    def power_w(self) -> Optional[float]: ...
    @property
    def devices(self) -> dict[str, Energy]: ...
    @property
    def warnings(self) -> list[str]: ...
    def end(self) -> Window: ...
    def to_dict(self) -> dict[str, Any]: ...
    def __enter__(self) -> Window: ...
    def __exit__(self, *failure: Any) -> None: ...

class Meter:
    sync: bool
    def __init__(
        self,
        gpu: Union[str, int, Sequence[Union[str, int]], None] = None,
        *,
        interval_ms: Optional[float] = None,
        meters: Sequence[str] = (),
        replay: Optional[_Path] = None,
        output: Optional[_Path] = None,
        force: bool = False,
        sync: bool = True,
    ) -> None: ...
    def begin(self, name: str = "window") -> Window: ...
    def window(self, name: str = "window") -> Window: ...
    def close(self) -> None: ...
    def __enter__(self) -> Meter: ...
    def __exit__(self, *failure: Any) -> None: ...

class measure:
    windows: list[Window]
    def __init__(self, name: Union[str, Callable[..., Any], None] = None, *, meter: Optional[Meter] = None) -> None: ...
    @staticmethod
    def begin(name: str = "window", *, meter: Optional[Meter] = None) -> Window: ...
    @staticmethod
    def end(window: Window) -> Window: ...
    def __enter__(self) -> Window: ...
    def __exit__(self, *failure: Any) -> None: ...
    def __call__(self, *arguments: Any, **named: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any: ...
