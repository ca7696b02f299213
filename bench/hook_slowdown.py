#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python hook costs a program: tight loops of optimizer steps on the CPU with and without it, and Python's start.

    bench/hook_slowdown.py [PYTHON [TURNS]]    the Python of an environment with PyTorch (default: this one)

Every loop runs many times each way, turn and turn about. The time is the CPU's for the thread
of the loop, the system's included, and the shortest of each way counts: everything else on the machine only adds. Somebody
listens, as `measure` does. The steps are without forward and backward: a real step only makes the share smaller."""

import json
import os
import pathlib
import subprocess
import sys
import time

HOOK = pathlib.Path(__file__).resolve().parent.parent / "python" / "hook"
sys.path.insert(0, str(HOOK / "tests"))
from listener import Listener  # noqa: E402: its folder has to be known first

LOOPS = """
import json, time, torch
from torch.optim import optimizer as module
torch.set_num_threads(1)
hooks = [module._global_optimizer_pre_hooks, module._global_optimizer_post_hooks]
assert all(hooks), "the hook is not there"
ours = [dict(of) for of in hooks]

def put(hook):
    for of, own in zip(hooks, ours):
        of.clear()
        of.update(own if hook else {})

def times_of(width, steps, loader):
    network = torch.nn.Linear(width, width)
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-6)
    network(torch.randn(1, width)).sum().backward()
    data = torch.utils.data.DataLoader([torch.zeros(1)] * steps) if loader else range(steps)
    best = {True: float("inf"), False: float("inf")}
    for turn in range(TURNS):
        for hook in (turn % 2 == 0, turn % 2 == 1):
            put(hook)
            begin = time.thread_time()
            for item in data:
                optimizer.step()
            best[hook] = min(best[hook], (time.thread_time() - begin) / steps)
    return best[True], best[False]

print(json.dumps({"empty step, 4 x 4": times_of(4, 2000, False), "the same from a DataLoader": times_of(4, 1000, True),
                  "step of 2 million weights": times_of(1500, 40, False),
                  "step of 9 million weights": times_of(3000, 10, False)}))
"""


def run(python, program, name=None):
    environment = {key: value for key, value in os.environ.items() if key != "JOULECAST_MARKS"}
    if name:
        environment.update(PYTHONPATH=str(HOOK), JOULECAST_MARKS=name)
    begin = time.perf_counter()
    done = subprocess.run([python, "-c", program], env=environment, check=True, capture_output=True, text=True)
    return time.perf_counter() - begin, done.stdout


def main(python=sys.executable, turns="40"):
    listener = Listener()
    starts = {True: [], False: []}
    try:
        loops = json.loads(run(python, LOOPS.replace("TURNS", turns), listener.name)[1])
        for _ in range(40):
            for hook in (True, False):
                starts[hook].append(run(python, "pass", listener.name if hook else None)[0])
    finally:
        listener.close()
    print(f"{len(listener.heard)} lines heard, {sum(line.startswith('lost') for _, line in listener.heard)} of them of losses")
    for loop, (with_hook, without) in loops.items():
        print(f"{loop:28} {without * 1e6:9.2f} us a step, with the hook {with_hook * 1e6:9.2f} us: "
              f"ratio {with_hook / without:.4f}, {(with_hook - without) * 1e6:+.2f} us")
    with_hook, without = (min(starts[hook]) for hook in (True, False))
    print(f"{'start of Python':28} {without * 1e3:9.2f} ms, with the hook {with_hook * 1e3:9.2f} ms: "
          f"{(with_hook - without) * 1e3:+.2f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
