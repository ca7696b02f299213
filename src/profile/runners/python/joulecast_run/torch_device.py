# SPDX-License-Identifier: Apache-2.0
"""What differs between processors and accelerators, by PyTorch's own interfaces."""
import torch

from .timing import Window, clocked, now_us
from .words import Refusal


class TorchDevice:
    def __init__(self, name):
        try:
            self.torch = torch.device(name)
            self._module = None if self.torch.type == "cpu" else torch.get_device_module(self.torch)
            if self._module is not None and self.torch.index is None:
                self.torch = torch.device(self.torch.type, 0)
            torch.empty(1, device=self.torch)  # makes the context
        except (RuntimeError, AssertionError, AttributeError) as error:
            raise Refusal("unsupported", f"device {name[:40]}: {str(error).splitlines()[0]}")
        if self._module is not None:
            self._module.set_device(self.torch)

    def timed(self, work):
        if self._module is None:
            return clocked(work)
        first, last = (self._module.Event(enable_timing=True) for _ in range(2))
        self.synchronize()
        begin = now_us()
        first.record()
        work()
        last.record()
        issued = now_us()
        self.synchronize()
        return Window(begin, now_us(), (issued - begin) / 1e6, first.elapsed_time(last) / 1e3)

    def synchronize(self):
        if self._module is not None:
            self._module.synchronize(self.torch)

    def reset_memory_peak(self):
        if self._module is not None:
            self._module.reset_peak_memory_stats(self.torch)

    def memory_peak(self):
        """Nothing on processors, whose allocator keeps no count."""
        if self._module is None:
            return {}
        return {"allocated_bytes": self._module.max_memory_allocated(self.torch),
                "reserved_bytes": self._module.max_memory_reserved(self.torch)}

    def empty_cache(self):
        if self._module is not None:
            self._module.empty_cache()
