# SPDX-License-Identifier: Apache-2.0
"""What an operator becomes: a function of tensors, and which values they are."""
from dataclasses import dataclass
from typing import Callable, Tuple

import torch

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i64": torch.int64,
          "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
          "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "c64": torch.complex64}


@dataclass
class Kernel:
    function: Callable
    inputs: Tuple  # values; None where an optional one is absent
    many: bool = False  # it gives a list, one entry an output


def of(context, function, *required, optional=()):
    """function(required inputs..., optional ones or None...)."""
    ids = [context.in_id(i) for i in required]
    return Kernel(function, (*ids, *(context.in_id(i) if context.has(i) else None for i in optional)))
