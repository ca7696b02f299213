# SPDX-License-Identifier: Apache-2.0
"""The hook with the real frameworks, as far as this Python has them. Tiny networks, made-up data, no downloads.
JOULECAST_HOOK_PYTHON names the Python of a virtual environment to test with instead."""
import os
import subprocess
import sys
import unittest

from listener import Run

PYTHON = os.environ.get("JOULECAST_HOOK_PYTHON", sys.executable)
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1",
         "TF_ENABLE_ONEDNN_OPTS": "0", "TOKENIZERS_PARALLELISM": "false", "WANDB_DISABLED": "true"}
_there = {}


def needs(*packages):
    """Without importing them here: TensorFlow alone takes seconds."""
    for package in packages:
        if package not in _there:
            probe = f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
            _there[package] = subprocess.run([PYTHON, "-c", probe], stderr=subprocess.DEVNULL).returncode == 0
    missing = [package for package in packages if not _there[package]]
    return unittest.skipIf(missing, f"{PYTHON} has no {', '.join(missing)}")


class Case(unittest.TestCase):
    def run_it(self, program, **more):
        run = Run(program, python=PYTHON, **dict(QUIET, **more))
        self.assertEqual(run.code, 0, run.err)
        self.assertNotIn("joulecast", run.err)
        return run

    def check(self, run, epochs, batches, validations, trainings=1, total=None):
        """Counts, nesting and order, as every framework has them."""
        found = {name: run.spans(name) for name in ("training", "epoch", "batch", "validation")}
        self.assertEqual({name: len(spans) for name, spans in found.items() if name != "batch"},
                         {"training": trainings, "epoch": epochs, "validation": validations}, run.heard)
        self.assertEqual(sum(int(batch.keys.get("count", 1)) for batch in found["batch"]), batches, found["batch"])
        for epoch in found["epoch"]:
            self.assertTrue(any(training.holds(epoch) for training in found["training"]), run.heard)
        for batch in found["batch"]:
            self.assertTrue(any(epoch.holds(batch) for epoch in found["epoch"]) or not epochs, (batch, found))
            self.assertFalse(any(batch.holds(validation) for validation in found["validation"]), (batch, found))
        for first, second in zip(found["epoch"], found["epoch"][1:]):
            self.assertLessEqual(first.ended, second.begun)
        for first, second in zip(found["batch"], found["batch"][1:]):
            self.assertLessEqual(first.ended, second.begun)
        if trainings == 1:
            self.assertEqual([int(epoch.keys["index"]) for epoch in found["epoch"]], list(range(epochs)))
        self.assertEqual({epoch.keys.get("total") for epoch in found["epoch"]}, {total} if epochs else set())


TORCH = """
    import time, torch
    from torch.utils.data import DataLoader, TensorDataset
    data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    network = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.{optimizer}(network.parameters(), lr=0.01)
    train = DataLoader(data, batch_size=16, shuffle=True{options})
    test = DataLoader(data, batch_size=32{options})
    def step(x, y):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(network(x), y).backward()
        optimizer.step()
    """


@needs("torch")
class PyTorch(Case):
    def loop(self, body, optimizer="SGD", options="", **more):
        return self.run_it(TORCH.format(optimizer=optimizer, options=options) + body, **more)

    EPOCHS = """
    for epoch in range(3):
        for x, y in train:
            step(x, y)
        with torch.no_grad():
            for x, y in test: network(x)
    """

    def test_epochs_and_validation(self):
        self.check(self.loop(self.EPOCHS), epochs=3, batches=12, validations=3)

    def test_adam(self):
        self.check(self.loop(self.EPOCHS, optimizer="AdamW"), epochs=3, batches=12, validations=3)

    def test_workers(self):
        self.check(self.loop(self.EPOCHS, options=", num_workers=2"), epochs=3, batches=12, validations=3)

    def test_workers_that_are_spawned(self):
        program = TORCH.format(optimizer="SGD", options=", num_workers=1, multiprocessing_context='spawn'")
        main = "\n    if __name__ == '__main__':\n" + self.EPOCHS.replace("range(3)", "range(1)").replace("\n", "\n    ")
        run = self.run_it(program + main)
        self.check(run, epochs=1, batches=4, validations=1)
        self.assertEqual({pid for pid, _ in run.heard}, {run.pid})

    def test_persistent_workers(self):
        run = self.loop(self.EPOCHS, options=", num_workers=2, persistent_workers=True")
        self.check(run, epochs=3, batches=12, validations=3)
        self.assertEqual({pid for pid, _ in run.heard}, {run.pid})

    def test_validation_in_the_midst_with_persistent_workers(self):
        run = self.loop("""
    for number, (x, y) in enumerate(train):
        step(x, y)
        time.sleep(0.022)
        if number == 1:
            for _ in test: pass
    """, options=", num_workers=1, persistent_workers=True")
        self.assertEqual([len(run.spans(name)) for name in ("epoch", "validation")], [1, 1], run.heard)
        # Where the batch after the validation began is not known.
        self.assertEqual([batch.keys["index"] for batch in run.spans("batch")], ["0", "1", "3"], run.heard)

    def test_a_loop_that_is_left(self):
        self.check(self.loop("""
    for epoch in range(2):
        for number, (x, y) in enumerate(train):
            step(x, y)
            if number == 1: break
        time.sleep(0.05)
    """), epochs=2, batches=4, validations=0)

    def test_no_loader(self):
        self.check(self.loop("""
    for number in range(20): step(*data[number])
    """), epochs=0, batches=20, validations=0)

    def test_compiled_steps(self):
        """Their graphs stay whole; their epochs are found, their batches are not."""
        runs = [Run(TORCH.format(optimizer="SGD", options="") + """
    import torch._dynamo
    compiled = torch.compile(optimizer.step, backend="eager")
    for epoch in range(2):
        for x, y in train:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(network(x), y).backward()
            compiled()
        for x, y in test: pass
    print(sum(torch._dynamo.utils.counters["graph_break"].values()))
    """, python=PYTHON, hook=hook, **QUIET) for hook in (True, False)]
        self.assertEqual(runs[0].code, 0, runs[0].err)
        self.assertNotIn("joulecast", runs[0].err)
        self.assertEqual(runs[0].out, runs[1].out)
        self.check(runs[0], epochs=2, batches=0, validations=2)

    def test_traceback_of_a_dataset(self):
        program = TORCH.format(optimizer="SGD", options="") + """
    class Broken(torch.utils.data.Dataset):
        def __len__(self): return 4
        def __getitem__(self, i): raise KeyError("broken")
    for item in DataLoader(Broken()): step(*item)
    """
        texts = []
        for hook in (True, False):
            run = Run(program, python=PYTHON, hook=hook, **QUIET)
            texts.append((run.code, run.out, run.err.replace(str(run.folder), "")))
        self.assertEqual(*texts)
        self.assertEqual(texts[0][0], 1)


@needs("tensorflow")
class TensorFlow(Case):
    def test_fit_by_every_name(self):
        for imports in ("import tensorflow as tf\n    keras = tf.keras", "from tensorflow import keras", "import keras",
                        "from tensorflow.keras.models import Sequential\n    from tensorflow import keras"):
            run = self.run_it(f"""
    {imports}
    import numpy
    x, y = numpy.random.rand(64, 8), numpy.random.rand(64, 1)
    network = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    network.compile("sgd", "mse")
    history = network.fit(x, y, epochs=2, batch_size=16, validation_split=0.25, verbose=0)
    network.predict(x, verbose=0)
    print(sorted(history.history))
    """)
            self.assertEqual(run.out, "['loss', 'val_loss']\n")
            self.check(run, epochs=2, batches=6, validations=2, total="2")

    def test_evaluate_and_a_fit_that_fails(self):
        run = self.run_it("""
    import keras, numpy
    x, y = numpy.random.rand(64, 8), numpy.random.rand(64, 1)
    network = keras.Sequential([keras.layers.Dense(1)])
    network.compile("sgd", "mse")
    network.evaluate(x, y, verbose=0)
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None): raise ArithmeticError
    try: network.fit(x, y, verbose=0, callbacks=[Stop()])
    except ArithmeticError: print("caught")
    network.fit(x, y, batch_size=32, verbose=0)
    """)
        self.assertEqual(run.out, "caught\n")
        self.assertEqual([len(run.spans(name)) for name in ("training", "epoch", "validation")], [2, 2, 1], run.heard)


@needs("keras", "torch")
class KerasOnPyTorch(Case):
    def test_fit_is_marked_once(self):
        run = self.run_it("""
    import keras, numpy
    x, y = numpy.random.rand(64, 8).astype("float32"), numpy.random.rand(64, 1).astype("float32")
    network = keras.Sequential([keras.layers.Dense(1)])
    network.compile("sgd", "mse")
    network.fit(x, y, epochs=2, batch_size=16, validation_split=0.25, verbose=0)
    """, KERAS_BACKEND="torch")
        self.check(run, epochs=2, batches=6, validations=2, total="2")


@needs("torch", "transformers", "accelerate")
class Transformers(Case):
    def test_trainer(self):
        run = self.run_it("""
    import sys, tempfile, torch
    from transformers import Trainer, TrainingArguments
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)
        def forward(self, x, labels=None):
            out = self.layer(x)
            return {"loss": ((out - labels) ** 2).mean(), "logits": out}
    data = [{"x": torch.randn(4), "labels": torch.randn(1)} for _ in range(32)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(folder, num_train_epochs=2, per_device_train_batch_size=4, eval_strategy="epoch",
                                      gradient_accumulation_steps=2, report_to=[], use_cpu=True, disable_tqdm=True,
                                      save_strategy="no", logging_strategy="no")
        trainer = Trainer(Network(), arguments, train_dataset=data, eval_dataset=data)
        trainer.train()
        trainer.evaluate()
        trainer.predict(data)
    """)
        self.check(run, epochs=2, batches=8, validations=3, total="2")


class LightningCase(Case):
    PROGRAM = """
    import pickle, logging, warnings, torch
    import {name} as L
    warnings.simplefilter("ignore")
    class Network(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)
        def training_step(self, batch, index): return self.layer(batch[0]).square().mean()
        def validation_step(self, batch, index): self.layer(batch[0])
        def configure_optimizers(self): return torch.optim.SGD(self.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(64, 8)), batch_size=16)
    trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, num_sanity_val_steps=1,
                        enable_progress_bar=False, enable_model_summary=False)
    copies = pickle.loads(pickle.dumps(trainer.callbacks))
    assert len(copies) == len(trainer.callbacks) and "joulecast" not in str(copies)
    trainer.fit(Network(), data, data)
    trainer.validate(Network(), data, verbose=False)
    """

    def both(self, name):
        run = self.run_it(self.PROGRAM.format(name=name))
        self.check(run, epochs=2, batches=8, validations=4, total="2")
        self.assertEqual([span.keys.get("sanity") for span in run.spans("validation")], ["1", None, None, None])


@needs("torch", "lightning")
class Lightning(LightningCase):
    def test_trainer(self):
        self.both("lightning.pytorch")


@needs("torch", "pytorch_lightning")
class PyTorchLightning(LightningCase):
    def test_trainer(self):
        self.both("pytorch_lightning")


del LightningCase  # unittest would look for tests in it

if __name__ == "__main__":
    result = unittest.main(verbosity=2, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if len(result.skipped) == result.testsRun else 0)  # 77: ctest says that it was skipped
