# SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Iterable, Mapping, Sequence
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
