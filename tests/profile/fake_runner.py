#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A runner that runs nothing: time passes as it is told to, and it goes wrong where it is told to.

FAKE_RUNNER   words with spaces between: OPERATOR=slow, =die, =hang, =memory, =unsupported, =ahead (windows end far in the future),
              =still (no time passes), =cold (50 ms an iteration in the first four runs), =noisy (up to 1.8 times as long), =stuck
              (hangs in the third run), or all=...; anything else takes 0.2 ms;
              hello=hang; modules=ignored, runtimes=ignored: as a runner that does not know these words
FAKE_PROGRAMS a folder that takes the programs, a file each
FAKE_LOG      a file that takes the operators that were prepared, the GPUs that CUDA would show, and how memory is taken
"""
import os
import signal
import sys
import time
import uuid

BEHAVIOUR = dict(word.split("=") for word in os.environ.get("FAKE_RUNNER", "").split())


def now_us():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def prepare(line, lines):
    if "module=" in line and BEHAVIOUR.get("modules") != "ignored":
        return "error kind=unsupported text=this%20runner%20runs%20no%20modules", ""
    nodes = [line.split()[1] for line in lines if line.startswith("node ")] or ["nothing"]
    with open(os.environ["FAKE_LOG"], "a") as log:
        log.write(("network" if len(nodes) > 1 else nodes[0]) + "\n")
    if "FAKE_PROGRAMS" in os.environ:
        with open(os.path.join(os.environ["FAKE_PROGRAMS"], f"{uuid.uuid4()}.program"), "w") as file:
            file.writelines(lines)
    does = BEHAVIOUR.get("all", "" if len(nodes) > 1 else BEHAVIOUR.get(nodes[0], ""))
    if does == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if does == "hang":
        time.sleep(1000)
    if does == "memory":
        return "error kind=out_of_memory text=CUDA%20out%20of%20memory", does
    if does == "unsupported":
        return "error kind=unsupported text=not%20here", does
    return "ok copies=3 distinct_copies=3 weight_bytes=64" + (" kind=optimizer" if "kind=optimizer" in line else ""), does


def answer(line, does):
    words = dict(word.split("=", 1) for word in line.split()[1:])
    if line.startswith("hello"):
        if BEHAVIOUR.get("hello") == "hang":
            open(os.environ["FAKE_LOG"] + ".hello", "w").close()
            time.sleep(1000)
        if words.get("runtime", "pytorch-eager") != "pytorch-eager" and BEHAVIOUR.get("runtimes") != "ignored":
            return f"error kind=unsupported text=runtime%20{words['runtime']}:%20this%20runner%20has%20pytorch-eager"
        with open(os.environ["FAKE_LOG"] + ".gpus", "w") as log:
            log.write(os.environ.get("CUDA_VISIBLE_DEVICES", ""))
        with open(os.environ["FAKE_LOG"] + ".heap", "w") as log:
            log.write(" ".join(os.environ.get(name, "-") for name in ("MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_")))
        return "ok runner=fake runtime=pytorch-eager software=fake%201.0 threads=1"
    if line.startswith("run"):
        iterations = int(words["iterations"])
        begin = now_us()
        global runs
        runs += 1
        if does == "stuck" and runs == 3:
            time.sleep(1000)
        if does == "still":
            return f"ok iterations={iterations} begin_us={begin} end_us={begin} host_s=0"
        iteration_s = 0.5 if does == "slow" else 50e-3 if does == "cold" and runs <= 4 else 2e-4
        noise = 1 + 0.2 * (3 * runs % 5) if does == "noisy" else 1
        time.sleep(min(iterations * iteration_s * noise, 5))
        end = now_us() + (10**12 if does == "ahead" else 0)
        return f"ok iterations={iterations} begin_us={begin} end_us={end} host_s=0.001"
    if line.startswith("memory"):
        return "ok allocated_bytes=4096 reserved_bytes=8192"
    return "ok"


does = ""
for line in sys.stdin:
    if line.startswith("prepare"):
        program = []
        for more in sys.stdin:
            if more == "end\n":
                break
            program.append(more)
        reply, does = prepare(line, program)
        runs = 0
    else:
        reply = answer(line, does)
    print(reply, flush=True)
