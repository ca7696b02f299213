#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the runners in Python share and what needs no library: words, programs, memory that overlaps, requests."""
import io
import sys
import unittest

import python_runners

sys.path.insert(0, str(python_runners.PACKAGE))

from joulecast_run import serve, timing, words  # noqa: E402
from joulecast_run.program import Program, uses_of_values  # noqa: E402


class Case:
    copies, distinct_copies, weight_bytes = 1, 1, 0

    def run(self, iterations):
        raise KeyError("odd")


class Backend:
    NAME, RUNTIMES, threads = "toy", ("pytorch-eager", "pytorch-compiled"), 1
    options = None

    def software(self):
        return "toy 1"

    def open(self, device, threads, runtime):
        return self

    def case(self, program, options):
        self.options = options
        return Case()

    def release(self):
        pass

    def kind_of(self, error):
        return "failed"


class Serve(unittest.TestCase):
    def setUp(self):
        self.backend = Backend()

    def replies(self, *lines):
        source, session = serve.Lines(io.BytesIO("".join(lines).encode("utf-8", "surrogateescape"))), serve.Session(self.backend)
        out = []
        while True:
            line = source.next()
            if line is None:
                return out
            out.append(serve._answer(session, self.backend, line, source))

    def test_options_of_a_case_are_read(self):
        self.replies("hello protocol=1\n", "prepare kind=network mode=training precision=tf32 input_gradient=0 copies_bytes=7 copies_most=9\nend\n")
        self.assertEqual(self.backend.options, serve.CaseOptions(True, True, "tf32", False, 7, 9))

    def test_the_runtime_is_the_first_where_none_is_asked_for(self):
        replies = self.replies("hello protocol=1\n", "hello protocol=1 runtime=pytorch-compiled\n", "hello protocol=1 runtime=tensorflow\n")
        self.assertEqual(replies[0], "ok runner=toy runtime=pytorch-eager software=toy%201 threads=1")
        self.assertIn("runtime=pytorch-compiled", replies[1])
        self.assertIn("this%20runner%20has%20pytorch-eager,%20pytorch-compiled", replies[2])

    def test_a_last_line_without_an_end_is_a_line(self):
        self.assertEqual(self.replies("hello protocol=1\n", "release"), [self.replies("hello protocol=1\n")[0], "ok"])

    def test_a_line_that_is_too_long_costs_itself_alone(self):
        long = "run " + "x" * serve.LONGEST_LINE
        replies = self.replies("hello protocol=1\n", long + "\n", "release\n")
        self.assertEqual(replies[1:], ["error kind=protocol text=a%20line%20is%20too%20long", "ok"])

    def test_a_program_without_an_end_is_read_to_its_end_and_refused(self):
        for line in ("value input f32 shape=1 contents=" + "1," * serve.LONGEST_LINE, "value input f32"):
            count = 1 if len(line) > 100 else serve.MOST_LINES + 1
            replies = self.replies("hello protocol=1\n", "prepare\n", f"{line}\n" * count, "end\n", "release\n")
            self.assertEqual(replies[1:], ["error kind=protocol text=a%20program%20is%20too%20long", "ok"])

    def test_errors_are_one_line_and_nothing_of_the_case_is_left(self):
        replies = self.replies("hello protocol=1\n", "prepare\nend\n", "run\n", "run\n")
        self.assertEqual(replies[2], "error kind=failed text=KeyError:%20'odd'")
        self.assertIn("nothing%20is%20prepared", replies[3])


class Words(unittest.TestCase):
    def test_escapes_read_back(self):
        odd = "a b%c\nd\u00e9"
        self.assertEqual(words.escaped(odd), "a%20b%25c%0Ad\u00e9")
        self.assertEqual([words.unescaped(text) for text in (words.escaped(odd), "%", "%2", "%zz")], [odd, "%", "%2", "%zz"])

    def test_numbers_are_what_they_say(self):
        self.assertEqual([words.to_number("9223372036854775807"), words.to_number("-2"), words.to_number("1.5e3")], [2**63 - 1, -2, 1500.0])
        for text in ("", "1_0", " 1", "0x10", "9223372036854775808", "--1"):
            with self.assertRaises(words.Refusal):
                words.to_integer(text)
        for text in ("", "1_0.5", "e5", "1e", "Infinity"):
            with self.assertRaises(words.Refusal):
                words.to_real(text)


class Programs(unittest.TestCase):
    def test_indices_stay_in_their_table_and_statistics_do_not_learn(self):
        program = Program()
        for line in ("value parameter f32 shape=9,4", "value input i64 shape=3", "value computed f32 shape=3,4",
                     "value parameter f32 shape=4", "value parameter f32 shape=4", "value computed f32 shape=3,4",
                     "node embedding in=0,1 out=2", "node batch_norm in=2,_,_,3,4 out=5", "output 5"):
            program.add_line(line)
        program.check()
        uses = uses_of_values(program)
        self.assertEqual(uses[1].below, 9)
        self.assertEqual([(uses[i].statistic, uses[i].variance) for i in (0, 3, 4)], [(False, False), (True, False), (True, True)])


class Copies(unittest.TestCase):
    def test_as_many_as_fill_what_is_asked_for(self):
        options = serve.CaseOptions(copies_bytes=1000, copies_most=50)
        self.assertEqual([timing.copies_of(size, options) for size in (0, 1, 100, 333, 5000)], [1, 50, 10, 4, 1])

    def test_overlapping_memory_is_not_distinct(self):
        apart = [[(0, 8), (8, 16)], [(16, 24), (24, 32)], [(32, 40)]]
        self.assertEqual(timing.distinct_copies(apart), 3)
        self.assertEqual(timing.distinct_copies([*apart, [(36, 44)]]), 3)
        self.assertEqual(timing.distinct_copies([*apart, [(0, 40)]]), 1)
        self.assertEqual(timing.distinct_copies([[(0, 8)], [(0, 8)]]), 1)
        self.assertEqual(timing.distinct_copies([[]]), 1)


if __name__ == "__main__":
    unittest.main()
