# SPDX-License-Identifier: Apache-2.0
"""Phases as all frameworks mark them: training > epoch > batch, and validation. Times are CLOCK_MONOTONIC in ns, taken at
the edge; a line may be sent later, once it is known what the edge was."""
import time

from . import device, sender, software

now = time.monotonic_ns
MIN_APART_NS = 1000000  # batches come at 1 kHz at most: shorter ones go together,
SHARE = 200  # and as many as it takes that telling of them costs a 200th of their time,
MAX_COST_NS = 100000  # where a telling that took longer was interrupted


def begin(name, at, **keys):
    return _send("begin", name, at, True, keys)


def end(name, at, **keys):
    return _send("end", name, at, True, keys)


def _send(word, name, at, keep, keys):
    to = sender.get()
    if to is None:
        return False
    _tell_software(to)
    text = "".join(f"\t{key}={value}" for key, value in keys.items() if value is not None)
    return to.line(f"@{at} {word} {name}{text}", keep)


_told_software = False


def _tell_software(to):
    """Once, in front of the first phase: all frameworks that have to do with it are there by then."""
    global _told_software
    if not _told_software:
        _told_software = True
        text = "".join(f"\t{name}={version}" for name, version in software.versions().items())
        to.line(f"@{now()} mark software{text}", False)


class Batches:
    """The batches of one epoch. Those that follow each other too fast are one line with `count`."""

    def __init__(self):
        self.apart = MIN_APART_NS
        self.cost = MIN_APART_NS // SHARE
        self.restart()

    def restart(self):
        self.index = 0
        self.count = 0
        self.begun = 0
        self.ended = 0

    def add(self, begun, ended):
        if ended - begun >= self.apart and self.count:
            self.flush()  # a slow one stands alone
        if not self.count:
            self.begun = begun
        self.count += 1
        self.ended = ended
        if ended - self.begun >= self.apart:
            self.flush()

    def skip(self):
        """One that is not marked, but counted in the index."""
        self.flush()
        self.index += 1

    def flush(self):
        if not self.count:
            return
        start = now()
        keys = {"index": self.index, "count": self.count if self.count > 1 else None}
        # No end without its begin: if the first is lost the second is not sent, and if the first went the second is kept.
        if _send("begin", "batch", self.begun, False, keys):
            end("batch", self.ended)
        self.index += self.count
        self.count = 0
        self.cost = (3 * self.cost + min(now() - start, MAX_COST_NS)) // 4
        self.apart = max(MIN_APART_NS, SHARE * self.cost)


# Frameworks that run the loop themselves and say where they are. While one does, optimizer steps and loaders are its own.
_driving = []
_stop_others = []


def driven():
    return bool(_driving)


def when_driven(function):
    """Called when a framework takes over from a loop of the program's own."""
    _stop_others.append(function)


@sender.at_exit
def _close_all():
    for drive in list(_driving):
        drive.close()


class Drive:
    """One run of such a framework. Edges may be missing (an exception ended the run): the next outer edge closes what is
    open, and whatever is still open at exit ends there."""

    def __init__(self):
        self.open = []  # names, innermost last
        self.batch = None  # when the current batch began
        self.batches = Batches()

    def takes_over(self):
        if self not in _driving:
            for stop in _stop_others:
                stop()
            _driving.append(self)

    def lets_go(self):
        if self in _driving:
            _driving.remove(self)

    def begins(self, name, at=None, **keys):
        self.ends(name)  # of an earlier run that did not come to its end
        self.takes_over()
        self.batch_ends()
        if at is None:
            device.wait()
            at = now()
        if name == "epoch":
            self.batches.restart()
        self.open.append(name)
        begin(name, at, **keys)

    def ends(self, name):
        """Also ends what is open inside. No word if `name` is not open."""
        if name not in self.open:
            return
        device.wait()
        at = now()
        self.batch_ends(at)
        self.batches.flush()
        while self.open:
            inner = self.open.pop()
            end(inner, at)
            if inner == name:
                break
        if not self.open:
            self.lets_go()

    def batch_begins(self):
        at = now()
        self.batch_ends(at)
        self.batch = at

    def batch_ends(self, at=None):
        if self.batch is not None:
            self.batches.add(self.batch, at or now())
            self.batch = None

    def close(self):
        if self.open:
            self.ends(self.open[0])
        self.lets_go()
