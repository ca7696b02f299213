# SPDX-License-Identifier: Apache-2.0
from typing import Any, Optional

from . import Meter, Window

_Callback: Any  # of the framework

class _Windows:
    training: Optional[Window]
    epochs: list[Window]
    def __init__(self, meter: Optional[Meter] = None) -> None: ...

class Keras(_Windows, _Callback): ...
class Trainer(_Windows, _Callback): ...
class Lightning(_Windows, _Callback): ...
