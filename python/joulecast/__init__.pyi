# SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Optional, Union

_Path = Union[str, "os.PathLike[str]"]
_Mode = Literal["inference", "training"]
_Precision = Literal["fp64", "fp32", "tf32", "tf32-all", "fp16", "bf16", "fp8", "amp"]
_Runtime = Literal["pytorch-eager", "pytorch-compiled", "cuda-graph", "tensorflow"]
_Shape = Sequence[int]

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
    layout: Literal["channels-first", "channels-last"]
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

class Predictor:
    def __init__(self, pack: Optional[_Path] = None, gpu_files: Iterable[_Path] = ()) -> None: ...
    def predict(
        self,
        model: Any,
        *,
        gpu: Union[str, Sequence[str]] = "all",
        batch: Union[int, Sequence[int], None] = None,
        input: Union[str, _Shape, None] = None,
        shapes: Optional[Mapping[str, _Shape]] = None,
        framework: Optional[str] = None,
        example: Any = None,
        mode: _Mode = "inference",
        precision: Optional[_Precision] = None,
        runtime: _Runtime = "pytorch-eager",
        **options: Any,
    ) -> Any: ...  # Prediction for one GPU and one batch, else Predictions
    def recommend(
        self,
        model: Any,
        *,
        gpu: Union[str, Sequence[str]] = "all",
        batch: Union[int, Sequence[int], None] = None,
        input: Union[str, _Shape, None] = None,
        shapes: Optional[Mapping[str, _Shape]] = None,
        framework: Optional[str] = None,
        example: Any = None,
        best: Literal["energy", "time", "edp"] = "energy",
        choose: Literal["limit", "clock", "both", "none"] = "limit",
        within_s: Optional[float] = None,
        slowdown_percent: Optional[float] = None,
        mode: _Mode = "inference",
        precision: Optional[_Precision] = None,
        runtime: _Runtime = "pytorch-eager",
        **options: Any,
    ) -> list[Recommendation]: ...
    def gpus(self) -> list[dict[str, Any]]: ...

def predict(
    model: Any,
    *,
    gpu: Union[str, Sequence[str]] = "all",
    batch: Union[int, Sequence[int], None] = None,
    input: Union[str, _Shape, None] = None,
    shapes: Optional[Mapping[str, _Shape]] = None,
    framework: Optional[str] = None,
    example: Any = None,
    mode: _Mode = "inference",
    precision: Optional[_Precision] = None,
    runtime: _Runtime = "pytorch-eager",
    **options: Any,
) -> Any: ...  # Prediction for one GPU and one batch, else Predictions
def recommend(
    model: Any,
    *,
    gpu: Union[str, Sequence[str]] = "all",
    batch: Union[int, Sequence[int], None] = None,
    input: Union[str, _Shape, None] = None,
    shapes: Optional[Mapping[str, _Shape]] = None,
    framework: Optional[str] = None,
    example: Any = None,
    best: Literal["energy", "time", "edp"] = "energy",
    choose: Literal["limit", "clock", "both", "none"] = "limit",
    within_s: Optional[float] = None,
    slowdown_percent: Optional[float] = None,
    mode: _Mode = "inference",
    precision: Optional[_Precision] = None,
    runtime: _Runtime = "pytorch-eager",
    **options: Any,
) -> list[Recommendation]: ...
def inspect(
    model: Any,
    *,
    batch: Optional[int] = None,
    input: Union[str, _Shape, None] = None,
    shapes: Optional[Mapping[str, _Shape]] = None,
    framework: Optional[str] = None,
    example: Any = None,
    top: Optional[int] = None,
    as_written: Optional[bool] = None,
) -> dict[str, Any]: ...
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
    time_s: float
    energy_j: Optional[float]
    power_w: Optional[float]
    devices: dict[str, Energy]
    warnings: list[str]
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
