#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C library of marks, as programs in C have it.

    marks_test.py client example library hook-tests [unittest's arguments]
"""
import errno
import os
import socket
import subprocess
import sys
import time
import unittest

CLIENT, EXAMPLE, LIBRARY, HOOK_TESTS = (os.path.abspath(word) for word in sys.argv[1:5])
sys.path.insert(0, HOOK_TESTS)
from listener import Listener, spans  # noqa: E402


def run(*command, marks=None):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JOULECAST_MARKS")}
    if marks is not None:
        environment["JOULECAST_MARKS"] = marks
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True).stdout


class Deaf:
    """A listener that takes nothing until it is asked to: its buffer holds some ten lines."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(f"\0joulecast-deaf-{os.getpid()}-{id(self)}")
        self.name = "@" + self.socket.getsockname()[1:].decode()
        self.socket.setblocking(False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def take(self, most=1000):
        lines = []
        while len(lines) < most:
            try:
                lines.append(self.socket.recv(600).decode())
            except BlockingIOError:
                break
        return lines


class Marks(unittest.TestCase):
    def heard(self, *command):
        listener = Listener()
        try:
            self.out = run(*command, marks=listener.name)
        finally:
            time.sleep(0.2)
            listener.close()
        return listener.heard

    def test_say_the_verb_the_time_the_name_and_details(self):
        before = time.monotonic_ns()
        ((_, line),) = self.heard(CLIENT, "one")
        head, *details = line.split("\t")
        at, verb, name = head.split(" ")
        self.assertEqual((verb, name, details, self.out), ("mark", "point", ["a=1", "b=x y"], "1 0\n"))
        self.assertLess(before, int(at[1:]))
        self.assertLess(int(at[1:]), time.monotonic_ns())

    def test_of_the_example_are_its_phases(self):
        found = spans(self.heard(EXAMPLE))
        self.assertEqual([span.name for span in found], ["load", "training"] + ["epoch"] * 4)
        self.assertEqual([span.keys["index"] for span in found[2:]], list("0123"))
        self.assertEqual(run(EXAMPLE), self.out)

    def test_of_several_threads_all_arrive(self):
        found = spans(self.heard(CLIENT, "threads", "8"))
        self.assertEqual(sorted(span.name for span in found), sorted(["t0", "t1", "t2", "t3"] * 8))

    def test_without_room_are_kept_and_sent_later_in_order(self):
        with Deaf() as deaf:
            client = subprocess.Popen([CLIENT, "forked", "20"], env=dict(os.environ, JOULECAST_MARKS=deaf.name))
            lines = []
            while client.poll() is None:
                lines += deaf.take()
                time.sleep(0.0005)
            lines += deaf.take()
        self.assertEqual(len([line for line in lines if "child" in line]), 2, lines)
        times = [int(line[1:].split(" ")[0]) for line in lines if "parent" in line]
        self.assertEqual(len(times), 40, lines)
        self.assertEqual(times, sorted(times))

    def test_that_are_lost_are_counted_and_nothing_waits(self):
        with Deaf() as deaf:
            begun = time.monotonic()
            client = subprocess.Popen([CLIENT, "many", "1000"], env=dict(os.environ, JOULECAST_MARKS=deaf.name))
            lines = []
            while client.poll() is None:
                lines += deaf.take(1)
                time.sleep(0.0002)
            lines += deaf.take()
            self.assertLess(time.monotonic() - begun, 30)
        told = sum(int(line.split(" ")[1]) for line in lines if line.startswith("lost"))
        self.assertEqual(sum(not line.startswith("lost") for line in lines) + told, 2000, lines)

    def test_of_no_form_are_refused_and_errno_stays(self):
        heard = self.heard(CLIENT, "codes")
        refused = [str(errno.EINVAL)] * 5
        self.assertEqual(self.out.split(), [*refused, "0", str(errno.EMSGSIZE), "1234"])
        self.assertEqual(len(heard), 1)

    def test_leave_no_descriptor(self):
        self.heard(CLIENT, "leaks", "30")
        self.assertEqual(self.out, "3\n")

    def test_nobody_hears_are_no_failure(self):
        self.assertEqual(run(CLIENT, "one"), "0 0\n")
        self.assertEqual(run(CLIENT, "one", marks=""), "0 0\n")
        self.assertEqual(run(CLIENT, "one", marks="@joulecast-is-gone"), f"1 {errno.ECONNREFUSED}\n")
        self.assertEqual(run(CLIENT, "one", marks="/tmp/x"), f"0 {errno.EDESTADDRREQ}\n")
        self.assertEqual(run(CLIENT, "one", marks="@" + "x" * 300), f"0 {errno.EDESTADDRREQ}\n")

    def test_nobody_hears_cost_next_to_nothing(self):
        self.assertLess(float(run(CLIENT, "cost", "1000000")), 200)

    def test_need_no_runtime_of_another_language(self):
        names = subprocess.run(["nm", "-u", LIBRARY], capture_output=True, text=True, check=True).stdout.split()
        self.assertIn("sendto", names)
        foreign = [name for name in names if name.startswith(("_Z", "__cxa", "__gxx", "_Unwind", "pthread"))]
        self.assertEqual(foreign, [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
