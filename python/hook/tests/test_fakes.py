# SPDX-License-Identifier: Apache-2.0
"""The hook with frameworks of a few lines: runs everywhere, and can do what a real framework hardly does."""
import os
import subprocess
import sys
import textwrap
import unittest

from fakes import KERAS, OLD_TORCH, TORCH
from listener import HOOK, Run

LOOP = """
    import time
    import torch
    train, test = torch.utils.data.DataLoader([1, 2, 3]), torch.utils.data.DataLoader([4, 5])
    optimizer = torch.optim.Optimizer()
    for epoch in range(2):
        for item in train:
            time.sleep(0.022)  # none go together
            optimizer.step()
        for item in test:
            time.sleep(0.001)
    """


def names(run):
    return [span.name for span in run.spans()]


class PyTorch(unittest.TestCase):
    def test_loop_of_its_own(self):
        run = Run(LOOP, files=TORCH)
        self.assertEqual((run.code, run.out, run.err), (0, "", ""))
        self.assertEqual(names(run), ["training"] + ["epoch", "batch", "batch", "batch", "validation"] * 2)
        training, epochs = run.spans("training")[0], run.spans("epoch")
        self.assertTrue(all(training.holds(epoch) for epoch in epochs))
        self.assertEqual([epoch.keys for epoch in epochs], [{"index": "0"}, {"index": "1"}])
        for place, batch in enumerate(run.spans("batch")):
            self.assertTrue(epochs[place // 3].holds(batch))
            self.assertEqual(batch.keys, {"index": str(place % 3)})
            self.assertGreaterEqual(batch.ended - batch.begun, 2000000)
        for validation in run.spans("validation"):
            self.assertFalse(any(epoch.holds(validation) for epoch in epochs))
            self.assertGreaterEqual(validation.ended - validation.begun, 2000000)

    def test_versions_are_told_once_in_front_of_the_first_phase(self):
        files = dict(TORCH, **{"torch/__init__.py": TORCH["torch/__init__.py"] + "__version__ = '2.9.1+cpu'\n",
                               "jax.py": "def __getattr__(name): raise RuntimeError(name)\n",
                               "tensorflow.py": "__version__ = '2.0\\n'\n"})
        run = Run("import jax, tensorflow\n" + textwrap.dedent(LOOP), files=files)
        self.assertEqual((run.code, run.err), (0, ""))
        told = [place for place, (_, line) in enumerate(run.heard) if " mark software" in line]
        self.assertEqual(told, [0], run.heard)
        self.assertEqual(run.heard[0][1].split("\t")[1:], [f"python={sys.version.split()[0]}", "torch=2.9.1+cpu"])
        self.assertEqual(len(run.spans("epoch")), 2)

    def test_steps_without_a_loader(self):
        run = Run("""
            import time, torch
            optimizer = torch.optim.Optimizer()
            time.sleep(1)
            for step in range(4):
                optimizer.step()
                time.sleep(0.022)
            time.sleep(1)
            """, files=TORCH)
        # The first step has nothing before it that shows where its batch began.
        self.assertEqual(names(run).count("batch"), 4, run.heard)
        training = run.spans("training")[0]
        self.assertLess(training.ended - training.begun, 900000000)

    def test_fast_steps_are_counted_together(self):
        run = Run("""
            import time, torch
            optimizer = torch.optim.Optimizer()
            until = time.monotonic() + 0.5
            steps = 0
            while time.monotonic() < until:
                optimizer.step()
                steps += 1
            print(steps)
            """, files=TORCH)
        batches = run.spans("batch")
        self.assertLessEqual(len(batches), 502)
        self.assertGreater(len(batches), 3)
        self.assertGreater(sum(batch.ended - batch.begun for batch in batches), 300000000)  # nothing between them is left out
        self.assertEqual(sum(int(batch.keys.get("count", 1)) for batch in batches), int(run.out))
        self.assertEqual([int(batch.keys["index"]) for batch in batches],
                         [sum(int(b.keys.get("count", 1)) for b in batches[:i]) for i in range(len(batches))])

    def test_two_optimizers_are_one_batch(self):
        run = Run("""
            import time, torch
            one, two = torch.optim.Optimizer(), torch.optim.Optimizer()
            for item in torch.utils.data.DataLoader([1, 2, 3]):
                one.step(); time.sleep(0.022); two.step()
            """, files=TORCH)
        self.assertEqual(names(run).count("batch"), 3, run.heard)

    def test_each_training_has_an_optimizer_of_its_own(self):
        run = Run("""
            import time, torch
            for training in range(3):
                optimizer = torch.optim.Optimizer()
                for step in range(4):
                    optimizer.step(); time.sleep(0.022)
                del optimizer
                keep = [torch.optim.Optimizer() for other in range(3)]  # the next is another object
            """, files=TORCH)
        self.assertEqual(names(run).count("batch"), 12, run.heard)

    def test_another_optimizer_leads_another_epoch(self):
        run = Run("""
            import time, torch
            both = torch.optim.Optimizer(), torch.optim.Optimizer()
            for epoch in range(4):
                for item in torch.utils.data.DataLoader([1, 2, 3]):
                    time.sleep(0.022)
                    both[epoch % 2].step()
            """, files=TORCH)
        self.assertEqual((names(run).count("epoch"), names(run).count("batch")), (4, 12), run.heard)

    def test_looking_at_one_item_is_no_validation(self):
        run = Run("import torch\nnext(iter(torch.utils.data.DataLoader([1, 2])))", files=TORCH)
        self.assertEqual(run.heard, [])

    def test_validation_within_an_epoch(self):
        run = Run("""
            import torch
            optimizer, test = torch.optim.Optimizer(), torch.utils.data.DataLoader([1, 2])
            for item in torch.utils.data.DataLoader([1, 2, 3]):
                optimizer.step()
                for other in test: pass
            """, files=TORCH)
        self.assertEqual((names(run).count("epoch"), names(run).count("validation")), (1, 3))

    def test_before_2_0(self):
        run = Run(LOOP + "\n    print(optimizer.step())", files=OLD_TORCH)
        self.assertEqual((run.out, run.err), ("stepped\n", ""))
        self.assertEqual(names(run).count("epoch"), 2)
        self.assertEqual(names(run).count("batch"), 7)


class Keras(unittest.TestCase):
    def test_fit(self):
        run = Run("import keras\nkeras.Model().fit(epochs=2)", files=KERAS)
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(names(run), ["training"] + ["epoch", "batch", "batch", "batch", "validation"] * 2)
        self.assertEqual([epoch.keys for epoch in run.spans("epoch")],
                         [{"index": "0", "total": "2"}, {"index": "1", "total": "2"}])
        self.assertTrue(all(any(epoch.holds(v) for epoch in run.spans("epoch")) for v in run.spans("validation")))

    def test_the_program_s_callbacks_stay(self):
        run = Run("""
            import keras
            from keras.src.callbacks import Callback
            class Mine(Callback):
                def on_epoch_end(self, epoch): print("mine", epoch)
            keras.Model().fit(callbacks=[Mine()])
            """, files=KERAS)
        self.assertEqual(run.out, "mine 0\n")
        self.assertEqual(names(run).count("epoch"), 1)

    def test_its_own_steps_and_loaders_do_not_count_twice(self):
        run = Run("""
            import keras, torch
            class Steps(keras.src.callbacks.Callback):
                def on_train_batch_end(self, batch):
                    for item in torch.utils.data.DataLoader([1, 2]): torch.optim.Optimizer().step()
                    for item in torch.utils.data.DataLoader([1, 2]): pass
            keras.Model().fit(callbacks=[Steps()])
            """, files=dict(KERAS, **TORCH))
        self.assertEqual(names(run), ["training", "epoch", "batch", "batch", "batch", "validation"])

    def test_a_fit_that_failed_is_closed_and_steps_count_again(self):
        run = Run("""
            import keras, torch
            try:
                keras.Model().fit(fail=True)
            except ArithmeticError:
                pass
            optimizer = torch.optim.Optimizer()
            for item in torch.utils.data.DataLoader([1, 2]): optimizer.step()
            """, files=dict(KERAS, **TORCH))
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(names(run).count("training"), 2, run.heard)
        self.assertEqual(names(run).count("epoch"), 2)


class Device(unittest.TestCase):
    """How often a loop of two epochs waits for the GPU."""

    CUDA = """
        class cuda:
            waits, fails, initialised, capturing = 0, False, True, False
            is_initialized = staticmethod(lambda: cuda.initialised)
            is_current_stream_capturing = staticmethod(lambda: cuda.capturing)
            def synchronize():
                if cuda.fails: raise RuntimeError("device lost")
                cuda.waits += 1
        """

    def waits(self, change="", **environment):
        files = dict(TORCH)
        files["torch/__init__.py"] += textwrap.dedent(self.CUDA) + change
        run = Run(LOOP + "print(torch.cuda.waits)", files=files, **environment)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(names(run).count("epoch"), 2)
        return int(run.out), run.err

    def test_edges_wait(self):
        waits, err = self.waits()
        self.assertTrue(3 <= waits <= 8, waits)  # those that follow each other within 20 ms are one
        self.assertEqual(err, "")

    def test_not_where_it_must_not(self):
        self.assertEqual(self.waits("cuda.initialised = False"), (0, ""))
        self.assertEqual(self.waits("cuda.capturing = True"), (0, ""))
        self.assertEqual(self.waits(JOULECAST_SYNC="0"), (0, ""))

    def test_a_device_that_fails_costs_only_the_waiting(self):
        waits, err = self.waits("cuda.fails = True")
        self.assertEqual((waits, err), (0, "joulecast: phases end without waiting for the GPU: RuntimeError: device lost\n"))


class Promise(unittest.TestCase):
    def one_warning(self, run, *words):
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(len(run.err.splitlines()), 1, run.err)
        self.assertTrue(run.err.startswith("joulecast: "), run.err)
        for word in words:
            self.assertIn(word, run.err)

    def test_framework_without_the_names(self):
        files = dict(TORCH, **{"torch/utils/data/dataloader.py": "class DataLoader: pass\n"})
        run = Run("import torch\nfor i in range(9): torch.optim.Optimizer().step()\nprint('done')", files=files)
        self.one_warning(run, "pytorch", "_SingleProcessDataLoaderIter")
        self.assertEqual(run.out, "done\n")

    def test_framework_that_fails_when_asked(self):
        files = dict(TORCH)
        files["torch/optim/optimizer.py"] = files["torch/optim/optimizer.py"].replace(
            "handle = Handle(after); after[id(handle)] = hook; return handle", 'raise TypeError("no hooks\\ntoday")')
        self.one_warning(Run(LOOP, files=files), "pytorch", "no hooks today")

    def test_framework_that_fails_later(self):
        files = dict(KERAS)
        files["keras/src/callbacks/callback_list.py"] = files["keras/src/callbacks/callback_list.py"].replace(
            "self.params = params", "self.params = 3")
        run = Run("import keras\nkeras.Model().fit(epochs=3)\nprint('done')", files=files)
        self.one_warning(run, "keras")
        self.assertEqual(run.out, "done\n")

    def test_nobody_listens(self):
        self.one_warning(Run(LOOP, files=dict(KERAS, **TORCH), gone=True), "nobody listens")

    def test_listener_that_goes_away(self):
        run = Run("""
            import os, socket
            name = "joulecast-gone-%d" % os.getpid()
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            listener.bind("\\0" + name)
            os.environ["JOULECAST_MARKS"] = "@" + name
            import torch
            optimizer = torch.optim.Optimizer()
            for epoch in range(3):
                for item in torch.utils.data.DataLoader([1, 2]): optimizer.step()
                listener.close()
            print("done")
            """, files=TORCH)
        self.one_warning(run, "nobody listens any more")
        self.assertEqual(run.out, "done\n")

    def test_name_that_is_none(self):
        done = subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=str(HOOK), JOULECAST_MARKS="wrong"))
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertEqual(done.stderr, "joulecast: phases are not found: ValueError: JOULECAST_MARKS=wrong is not @NAME\n")

    def test_switched_off(self):
        run = Run(LOOP, files=TORCH, JOULECAST_HOOK="0")
        self.assertEqual((run.heard, run.err), ([], ""))
        run = Run("import sys\nprint('joulecast_hook' in sys.modules)", JOULECAST_HOOK="0")
        self.assertEqual(run.out, "False\n")

    def test_python_without_site(self):
        for option in ("-I", "-S", "-E"):
            run = Run("print('fine')", options=[option])
            self.assertEqual((run.out, run.err, run.heard), ("fine\n", "", []), option)

    def test_listener_that_does_not_read(self):
        run = Run("""
            import os, socket, sys, threading
            name = "joulecast-full-%d" % os.getpid()
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            listener.bind("\\0" + name)
            os.environ["JOULECAST_MARKS"] = "@" + name
            from joulecast_hook import phases, sender
            for i in range(5000):
                phases.begin("epoch", 1, index=i)
            at_exit = sender.get()
            lines = [""]
            def read():
                while not lines[-1].startswith("lost"): lines.append(listener.recv(512).decode())
            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            at_exit.finish()
            reader.join(5)
            print(int(lines[-1].split()[1]) + len(lines) - 2, lines[-2].split()[-1])
            """)
        said, last = run.out.split()
        self.assertEqual((int(said), run.err), (5001, ""))  # one tells the versions
        self.assertRegex(last, "index=\\d+")

    def test_descriptors_that_the_program_closes(self):
        run = Run(LOOP + """
    import os, tempfile
    os.closerange(3, 200)
    own = [os.open(f"file{i}", os.O_CREAT | os.O_RDWR) for i in range(50)]
    for item in train: optimizer.step()
    print(sum(os.fstat(f).st_size for f in own))
    """, files=TORCH)
        self.assertEqual((run.out, run.err), ("0\n", ""))
        self.assertEqual(names(run).count("epoch"), 3)

    def test_no_framework_is_imported_and_the_path_is_as_without_us(self):
        program = "import sys\nprint([m for m in sys.modules if 'joulecast' in m])\nprint(sys.path)"
        with_hook, without = Run(program), Run(program, hook=False)
        self.assertIn("'joulecast_hook'", with_hook.out)
        self.assertNotIn("pytorch", with_hook.out)
        self.assertNotIn("hook'", with_hook.out.splitlines()[1].replace(str(with_hook.folder), ""))
        self.assertEqual(with_hook.out.splitlines()[1].count(","), without.out.splitlines()[1].count(","))


class SameProgram(unittest.TestCase):
    """Exit code, output and tracebacks are what they are without the hook."""

    def same(self, program, files=(), **more):
        with_hook, without = (Run(program, files=files, hook=hook, **more) for hook in (True, False))
        texts = [(run.code, run.out, run.err.replace(str(run.folder), "")) for run in (with_hook, without)]
        self.assertEqual(*texts)
        return with_hook

    def test_exit_codes(self):
        for program in ("import sys; sys.exit(7)", "import os; os._exit(3)", "import os; os.kill(os.getpid(), 9)", "1 / 0"):
            self.same(program)

    def test_traceback_of_a_dataset(self):
        self.same("""
            import torch
            class Data(list):
                def __getitem__(self, i): raise KeyError("broken")
            optimizer = torch.optim.Optimizer()
            for item in torch.utils.data.DataLoader(Data([1, 2])): optimizer.step()
            """, files=TORCH)

    def test_traceback_of_a_fit(self):
        self.same("import keras\nkeras.Model().fit(fail=True)", files=KERAS)

    @unittest.skipIf(sys.version_info < (3, 11), "Python writes the frame of whoever raises again")
    def test_traceback_of_an_import(self):
        files = dict(TORCH, **{"torch/optim/optimizer.py": "import no_such_module\n"})
        self.same("import torch", files=files)
        files = dict(TORCH)
        files["torch/utils/data/dataloader.py"] = files["torch/utils/data/dataloader.py"].replace(
            "self.loader, self._num_yielded = loader, 0", "raise RuntimeError('no workers')")
        self.same("import torch\nfor item in torch.utils.data.DataLoader([1]): pass", files=files)

    def test_module_keeps_its_loader(self):
        self.same("""
            import torch, inspect
            module = torch.optim.optimizer
            print(type(module.__loader__), vars(module.__loader__).keys(), module.__spec__.loader is module.__loader__)
            print(len(inspect.getsource(module)))
            """, files=TORCH)


class OtherSitecustomize(unittest.TestCase):
    def test_it_is_imported(self):
        files = {"own/sitecustomize.py": "import builtins\nbuiltins.own = __name__\n"}
        run = Run("import sitecustomize\nprint(own, sitecustomize.__file__)", files=files, path=["own"])
        self.assertEqual(run.out.split()[0], "sitecustomize")
        self.assertIn("own/sitecustomize.py", run.out)

    def test_its_error_is_its_own(self):
        texts = ["raise ValueError('theirs')", "import not_there"]
        if sys.version_info >= (3, 11):
            texts.append("import sys; sys.exit(5)")  # with a traceback
        for text in texts:
            files = {"own/sitecustomize.py": text}
            with_hook, without = (Run("print(1)", files=files, path=["own"], hook=hook) for hook in (True, False))
            texts = [(run.code, run.out, run.err.replace(str(run.folder), "")) for run in (with_hook, without)]
            self.assertEqual(*texts)

    def test_phases_are_found_beside_it(self):
        files = dict(TORCH, **{"own/sitecustomize.py": "print('theirs')"})
        run = Run(LOOP, files=files, path=["own"])
        self.assertEqual(run.out, "theirs\n")
        self.assertEqual(names(run).count("epoch"), 2)


class Children(unittest.TestCase):
    STEPS = """
        import multiprocessing, os, subprocess, sys
        import torch
        def work(*_):
            optimizer = torch.optim.Optimizer()
            for item in torch.utils.data.DataLoader([1, 2]): optimizer.step()
            return 0
        """

    def test_workers_say_nothing(self):
        for method in ("fork", "spawn", "forkserver"):
            run = Run(self.STEPS + f"""
        if __name__ == "__main__":
            context = multiprocessing.get_context("{method}")
            work()
            child = context.Process(target=work); child.start(); child.join()
            with context.Pool(1) as pool: pool.map(work, [1])
            work()
            sys.exit(child.exitcode)
            """, files=TORCH)
            self.assertEqual((run.code, run.err), (0, ""), method)
            self.assertEqual({pid for pid, _ in run.heard}, {run.pid}, method)
            self.assertEqual(names(run).count("epoch"), 2)

    def test_workers_of_a_parent_without_steps(self):
        run = Run(self.STEPS + """
        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                child = multiprocessing.get_context(method).Process(target=work); child.start(); child.join()
            """, files=TORCH)
        self.assertEqual((run.code, run.err, run.heard), (0, "", []))

    def test_plain_fork(self):
        run = Run(self.STEPS + """
        work()
        pid = os.fork()
        if pid == 0:
            work()
            sys.exit(0)
        os.waitpid(pid, 0)
            """, files=TORCH)
        self.assertEqual({pid for pid, _ in run.heard}, {run.pid})
        self.assertEqual(names(run).count("training"), 1)

    def test_fork_before_there_is_a_framework(self):
        run = Run("""
        import os
        child = os.fork()
        if child: os.waitpid(child, 0)
        import torch
        torch.optim.Optimizer().step()
            """, files=TORCH)
        self.assertEqual({pid for pid, _ in run.heard}, {run.pid})

    def test_programs_that_the_program_starts_are_their_own(self):
        run = Run(self.STEPS + """
        work()
        if len(sys.argv) < 2:
            sys.exit(subprocess.call([sys.executable, "program.py", "child"]))
            """, files=TORCH)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(len({pid for pid, _ in run.heard}), 2)
        self.assertEqual(names(run).count("training"), 2)


if __name__ == "__main__":
    unittest.main()
