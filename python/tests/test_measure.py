# SPDX-License-Identifier: Apache-2.0
"""Measuring from within Python, on a stand-in of NVML (LD_LIBRARY_PATH): python3 test_measure.py PROGRAM"""
import asyncio
import importlib.util
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

PROGRAM = sys.argv[1]
WATTS = 250

FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="joulecast_"))
(FOLDER / "constant.toml").write_text(textwrap.dedent(f"""\
    [[gpu]]
    count = 2
    name = "NVIDIA H100 80GB HBM3"
    architecture = "hopper"
    memory_gib = 80
    default_limit_w = 700
    load = {{constant_w = {WATTS}}}
    """))
os.environ["JOULECAST_STANDIN"] = str(FOLDER / "constant.toml")

import joulecast  # noqa: E402


def in_a_child(queue):
    try:
        joulecast.measure.begin("there")
        queue.put("measured")
    except joulecast.UnsupportedError as error:
        queue.put(str(error))


class Measure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.meter = joulecast.Meter(gpu=0)

    @classmethod
    def tearDownClass(cls):
        cls.meter.close()

    def assert_watts(self, window, gpus=1):
        self.assertAlmostEqual(window.energy_j / window.time_s, gpus * WATTS, delta=0.1 * gpus * WATTS)

    def test_a_block(self):
        with joulecast.measure("sleep", meter=self.meter) as window:
            time.sleep(0.6)
        self.assertTrue(0.6 <= window.time_s < 2)
        self.assert_watts(window)
        self.assertEqual(list(window.devices), ["gpu0"])
        self.assertIn("nvml", window.devices["gpu0"].source)
        self.assertEqual(window.to_dict()["schema"], "joulecast.measurement/1")

    def test_a_function(self):
        @joulecast.measure("step", meter=self.meter)
        def step(seconds):
            """Sleeps."""
            time.sleep(seconds)
            return seconds

        self.assertEqual([step(0.3), step(0.4)], [0.3, 0.4])
        self.assertEqual((step.__name__, step.__doc__), ("step", "Sleeps."))
        self.assertEqual([window.name for window in step.windows], ["step", "step"])
        self.assertLess(step.windows[0].time_s, step.windows[1].time_s)

    def test_a_coroutine_lasts_until_what_it_awaits_is_done(self):
        @joulecast.measure(meter=self.meter)
        async def step():
            await asyncio.sleep(0.3)
            return 7

        self.assertEqual(asyncio.run(step()), 7)
        self.assertGreater(step.windows[0].time_s, 0.29)

    def test_what_does_nothing_when_it_is_called_is_refused(self):
        def generator():
            yield 1

        async def generator_of_awaited():
            yield 1

        for function in (generator, generator_of_awaited):
            with self.assertRaisesRegex(TypeError, "is a generator.*measure the loop"):
                joulecast.measure(function)
        with self.assertRaisesRegex(TypeError, "a name or a function was expected, not 3"):
            joulecast.measure(3)

    def test_a_function_that_raises_has_ended(self):
        class Thing:
            @joulecast.measure
            def fail(self):
                raise KeyError("own")

        with self.assertRaisesRegex(KeyError, "own"):
            Thing().fail()
        self.assertGreater(Thing.fail.windows[0].time_s, 0)

    def test_begin_and_end_with_windows_within(self):
        outer = joulecast.measure.begin("epoch", meter=self.meter)
        for _ in range(3):
            with self.meter.window("batch"):
                time.sleep(0.1)
        (batch,) = outer.end().to_dict()["phases"]
        self.assertEqual((batch["name"], batch["time_s"]["n"]), ("batch", 3))

    def test_threads_have_windows_of_their_own(self):
        windows = []

        def work():
            with self.meter.window("work") as window:
                time.sleep(0.4)
            windows.append(window)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for window in windows:
            self.assert_watts(window)

    def test_all_gpus_together(self):
        with joulecast.Meter(gpu=[0, 1]) as meter, meter.window() as window:
            time.sleep(0.5)
        self.assert_watts(window, gpus=2)

    def test_what_is_not_measured_is_none_and_not_zero(self):
        code = ("import joulecast\nwith joulecast.measure('all') as window: pass\n"
                "print(window.energy_j, window.power_w, window.time_s > 0)")
        out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True,
                             env={**os.environ, "CUDA_VISIBLE_DEVICES": ""}).stdout
        self.assertEqual(out.split(), ["None", "None", "True"])

    def test_where_nothing_tells_energy_a_warning_says_so_once(self):
        code = ("import joulecast\nfor name in 'ab':\n  with joulecast.measure(name) as window: pass\n  print(window.energy_j)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True,
                              env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.stdout.split(), ["None", "None"])
        self.assertEqual(done.stderr.count("RuntimeWarning: joulecast: nothing here tells energy, only time is measured"), 1)
        self.assertIn("<string>:4: ", done.stderr)

    def test_a_recording_is_one_of_the_program(self):
        path = FOLDER / "run.jcrun"
        with joulecast.Meter(gpu=0, output=path) as meter, meter.window("epoch"):
            time.sleep(0.5)
        told = json.loads(subprocess.run([PROGRAM, "analyze", "--json", path], stdout=subprocess.PIPE, check=True).stdout)
        self.assertEqual([phase["name"] for phase in told["runs"][0]["phases"]], ["epoch"])
        with self.assertRaisesRegex(joulecast.Error, "is there already"):
            joulecast.Meter(gpu=0, output=path)

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, "no GPU '7'"):
            joulecast.Meter(gpu=7)
        window = self.meter.begin("open")
        with self.assertRaisesRegex(ValueError, "window 'open' has not ended yet"):
            window.energy_j
        with self.assertRaisesRegex(ValueError, "window 'open' has ended already"):
            window.end().end()
        window.to_dict()
        with self.assertRaisesRegex(ValueError, "window 'open' has ended already"):
            window.end()
        with joulecast.Meter(gpu=0) as meter:
            pass
        with self.assertRaisesRegex(ValueError, "the meter is closed"):
            meter.begin()

    def test_a_process_forked_off_is_told_so_and_ends(self):
        joulecast.measure.begin("here")
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=in_a_child, args=(queue,))
        child.start()
        self.assertIn("in the process that opened it", queue.get(timeout=10))
        child.join(timeout=10)
        self.assertEqual(child.exitcode, 0)

    def test_a_program_that_forgets_it_ends_at_once(self):
        code = "import joulecast; window = joulecast.measure.begin('all'); meter = joulecast.Meter()"
        subprocess.run([sys.executable, "-c", code], check=True, timeout=20)


class Callbacks(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("keras"), "keras is not there")
    def test_keras_has_a_window_of_all_and_one_of_each_epoch(self):
        import keras
        import numpy

        from joulecast import callbacks

        model = keras.Sequential([keras.layers.Dense(4)])
        model.compile("sgd", "mse")
        data = numpy.ones((512, 8), dtype="float32")
        with joulecast.Meter(gpu=0) as meter:
            callback = callbacks.Keras(meter)
            model.fit(data, data[:, :4], epochs=3, verbose=0, callbacks=[callback])
        self.assert_three_epochs(callback)

    @unittest.skipUnless(importlib.util.find_spec("transformers") and importlib.util.find_spec("accelerate"), "transformers is not there")
    def test_transformers_has_them_too(self):
        import torch
        import transformers

        from joulecast import callbacks

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(8, 4)

            def forward(self, x, labels):
                out = self.layer(x)
                return {"loss": torch.nn.functional.mse_loss(out, labels), "logits": out}

        data = [{"x": torch.ones(8), "labels": torch.ones(4)}] * 64
        options = transformers.TrainingArguments(str(FOLDER / "trainer"), num_train_epochs=3, use_cpu=True, disable_tqdm=True,
                                                 report_to=[], save_strategy="no")
        with joulecast.Meter(gpu=0) as meter:
            callback = callbacks.Trainer(meter)
            transformers.Trainer(Net(), options, train_dataset=data, callbacks=[callback]).train()
        self.assert_three_epochs(callback)

    @unittest.skipUnless(importlib.util.find_spec("lightning"), "lightning is not there")
    def test_lightning_has_them_too(self):
        import lightning.pytorch as lightning
        import torch

        from joulecast import callbacks

        class Net(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(8, 4)

            def training_step(self, batch, index):
                return torch.nn.functional.mse_loss(self.layer(batch), torch.ones(len(batch), 4))

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        with joulecast.Meter(gpu=0) as meter:
            callback = callbacks.Lightning(meter)
            trainer = lightning.Trainer(accelerator="cpu", max_epochs=3, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                                        enable_model_summary=False, default_root_dir=FOLDER, callbacks=[callback])  # fmt: skip
            trainer.fit(Net(), torch.utils.data.DataLoader(torch.ones(64, 8), batch_size=8))
        self.assert_three_epochs(callback)

    def assert_three_epochs(self, callback):
        self.assertEqual(len(callback.epochs), 3)
        self.assertLess(sum(epoch.time_s for epoch in callback.epochs), callback.training.time_s)
        (epoch,) = callback.training.to_dict()["phases"]
        self.assertEqual((epoch["name"], epoch["time_s"]["n"]), ("epoch", 3))

    def test_of_a_framework_that_is_not_there_say_so(self):
        code = ("import sys; sys.modules['lightning'] = sys.modules['keras'] = None; import joulecast.callbacks as c\n"
                "for name in ('Keras', 'Lightning'):\n    try: getattr(c, name)\n    except ImportError as error: print(name)")
        out = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual(out.split(), ["Keras", "Lightning"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
