# SPDX-License-Identifier: Apache-2.0
"""Windows of work between two looks at the clock."""
import time
from dataclasses import dataclass
from typing import Optional


@dataclass
class Window:
    begin_us: int  # CLOCK_MONOTONIC; nothing runs on the device at either edge
    end_us: int
    host_s: float  # until the last call was issued
    device_s: Optional[float] = None  # between two events on the stream; None where the device has none

    def words(self, iterations):
        text = f"iterations={iterations} begin_us={self.begin_us} end_us={self.end_us} host_s={self.host_s:.6f}"
        return text if self.device_s is None else f"{text} device_s={self.device_s:.9f}"


def now_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def clocked(work, synchronize=lambda: None):
    """Runs the work; a device that has no events is waited for at both edges."""
    synchronize()
    begin = now_us()
    work()
    issued = now_us()
    synchronize()
    return Window(begin, now_us(), (issued - begin) / 1e6)


def copies_of(weight_bytes, options):
    """How often an operation is made: until its weights are that large together."""
    enough = -(-options.copies_bytes // weight_bytes) if weight_bytes else 1
    return min(max(enough, 1), max(options.copies_most, 1))


def distinct_copies(copies):
    """Copies whose memory no other copy's overlaps. Of each copy its ranges (begin, end) in memory."""
    ranges = sorted((begin, end, i) for i, copy in enumerate(copies) for begin, end in copy if end > begin)
    shared, reach, owner = set(), 0, None
    for begin, end, copy in ranges:
        if begin < reach and copy != owner:
            shared.add(copy)
        if end > reach:
            reach, owner = end, copy
    return max(len(copies) - len(shared), 1)
