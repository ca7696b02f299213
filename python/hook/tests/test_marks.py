# SPDX-License-Identifier: Apache-2.0
"""joulecast_marks: what programs say themselves."""
import pathlib
import subprocess
import sys
import unittest

from fakes import KERAS
from listener import HOOK, Run


class Marks(unittest.TestCase):
    def run_it(self, program, **more):
        run = Run("import joulecast_marks as marks\n" + program, **more)
        self.assertEqual((run.code, run.err), (0, ""))
        return run

    def names(self, run):
        return [span.name for span in run.spans()]

    def test_phases_nest_and_overlap(self):
        run = self.run_it("""
marks.begin("a", index=3, total=4)
marks.begin("b")
with marks.phase("c", file="x y"):
    marks.end("a")
    marks.mark("here", step=1)
marks.end("b")
""")
        a, b, c = run.spans()
        self.assertEqual((a.keys, b.keys, c.keys["file"]), ({"index": "3", "total": "4"}, {}, "x y"))
        self.assertTrue(a.begun < b.begun < c.begun < a.ended < c.ended < b.ended)
        self.assertIn("mark here\tstep=1", run.heard[4][1])

    def test_decorated_functions_say_each_call(self):
        run = self.run_it("""
import asyncio
@marks.phase("plain")
def plain(x): return x + 1
@marks.phase("task")
async def task(x):
    await asyncio.sleep(0.01)
    return x
@marks.phase("items")
def items():
    yield 1
    yield 2
print(plain(1), plain.__name__, asyncio.run(task(5)), list(items()))
""")
        self.assertEqual(run.out, "2 plain 5 [1, 2]\n")
        self.assertEqual(self.names(run), ["plain", "task", "items"])
        self.assertGreater(run.spans("task")[0].ended - run.spans("task")[0].begun, 9000000)

    def test_tasks_and_threads_end_their_own_begins(self):
        run = self.run_it("""
import asyncio, threading, time
async def one(seconds):
    async with marks.phase("request", seconds=seconds):
        await asyncio.sleep(seconds)
async def all(): await asyncio.gather(one(1.5), one(0.5), one(1))
asyncio.run(all())
@marks.phase("work")
def work(seconds): time.sleep(seconds)
threads = [threading.Thread(target=work, args=(seconds,)) for seconds in (0.2, 0.1)]
for thread in threads: thread.start()
for thread in threads: thread.join()
""")
        for span in run.spans("request"):
            self.assertAlmostEqual((span.ended - span.begun) / 1e9, float(span.keys["seconds"]), delta=0.4)
        self.assertEqual(len(run.spans("work")), 2)

    def test_an_exception_ends_its_phase_and_goes_on(self):
        run = self.run_it("""
try:
    with marks.phase("fails"):
        raise KeyError("x")
except KeyError:
    print("caught")
""")
        self.assertEqual((run.out, self.names(run)), ("caught\n", ["fails"]))

    def test_odd_names_and_details_neither_raise_nor_break_the_line(self):
        run = self.run_it("""
class Odd:
    def __str__(self): return "a\\tb\\nc"
with marks.phase("x\\ty" + "\u00e4" * 150, value=Odd(), long="y" * 600): pass
with marks.phase(""): pass
""")
        first, second = run.spans()
        self.assertTrue(first.name.startswith("x y\u00e4"))
        self.assertLessEqual(len(first.name.encode()), 200)
        self.assertEqual((first.keys["value"], second.name), ("a b c", "?"))

    def test_what_cannot_be_said_is_one_warning(self):
        run = Run("""
            import joulecast_marks as marks
            class Bad:
                def __str__(self): raise ArithmeticError("no name")
            marks.begin(Bad()); marks.begin(Bad())
            print("on")
            """)
        self.assertEqual((run.code, run.out, len(run.err.splitlines())), (0, "on\n", 1))
        self.assertIn("ArithmeticError: no name", run.err)

    def test_workers_and_forked_processes_speak_for_themselves(self):
        run = self.run_it("""
import multiprocessing, os
def work(name):
    with marks.phase(name): pass
if __name__ == "__main__":
    with marks.phase("parent"):
        for how in ("fork", "spawn"):
            process = multiprocessing.get_context(how).Process(target=work, args=(how,))
            process.start(); process.join()
""")
        self.assertEqual(self.names(run), ["parent", "fork", "spawn"])
        self.assertEqual(len({pid for pid, _ in run.heard}), 3)

    def test_beside_the_hook_one_sender(self):
        run = self.run_it("import keras\nwith marks.phase('mine'): keras.Model().fit(epochs=1)", files=KERAS)
        self.assertEqual(self.names(run), ["mine", "training", "epoch", "batch", "batch", "batch", "validation"])
        run = self.run_it("import keras\nwith marks.phase('mine'): keras.Model().fit(epochs=1)", files=KERAS, JOULECAST_HOOK="0")
        self.assertEqual(self.names(run), ["mine"])

    def test_is_found_without_the_path_and_gives_way_to_the_program_s_own(self):
        run = Run("import sys, joulecast_marks\nprint(any(entry.endswith('python/hook') for entry in sys.path))")
        self.assertEqual((run.out, run.err), ("False\n", ""))
        run = Run("import joulecast_marks\nprint(joulecast_marks.own)", files={"joulecast_marks.py": "own = 'yes'"})
        self.assertEqual((run.out, run.err), ("yes\n", ""))

    def test_where_nobody_listens_nothing_is_even_imported(self):
        program = (f"import sys; sys.path.insert(0, {str(HOOK)!r}); import joulecast_marks as marks\n"
                   "with marks.phase('x'): marks.mark('y')\nprint('joulecast_hook' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={}, check=True)
        self.assertEqual((done.stdout, done.stderr), ("False\n", ""))


if __name__ == "__main__":
    unittest.main()
