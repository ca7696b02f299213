# SPDX-License-Identifier: Apache-2.0
"""Modules of PyTorch that are handed over as objects: python3 test_torch.py, skipped without torch"""
import importlib.util
import os
import pathlib
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import joulecast

if importlib.util.find_spec("torch") is None:
    print("skipped: torch is not there; JOULECAST_PYTHON may name an interpreter that has it")
    sys.exit(0)

import torch  # noqa: E402
from torch import nn  # noqa: E402


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


class OneBatch(Images):
    """Another network at another batch: none of all batches can be exported."""

    def forward(self, x):
        return super().forward(x * 2 if x.shape[0] > 4 else x)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(1000, 64), nn.Linear(64, 2)

    def forward(self, ids, scale=None):
        x = self.table(ids)
        return self.head((x if scale is None else x * scale[:, None, None]).mean(1))


class Decoder(Words):
    """As transformers' models do, it answers a cache that is no tensor, unless its config says not to."""

    class Cache:
        pass

    def __init__(self):
        super().__init__()
        self.config = types.SimpleNamespace(use_cache=True)

    def forward(self, ids):
        return (super().forward(ids), self.Cache()) if self.config.use_cache else super().forward(ids)


# By hand: the convolution 2 * 16 * 32 * 32 * 27 FLOPs an image, the head 2 * 16 * 10.
CONVOLUTION, HEAD = 2 * 16 * 32 * 32 * 27, 2 * 16 * 10
PARAMETERS = 16 * 27 + 2 * 16 + 16 * 10 + 10


def products(model, **how):
    found = joulecast.inspect(model, **how)
    return sum(kind["flops"] for kind in found["operators"] if kind["operator"] in ("conv", "linear"))


class Modules(unittest.TestCase):
    def assert_images(self, model, batch, **how):
        self.assertAlmostEqual(products(model, batch=batch, **how), batch * (CONVOLUTION + HEAD), delta=batch * 10)

    def test_at_any_batch_whatever_the_example_has(self):
        for rows in 1, 2, 8:
            for batch in 1, 8, 100:
                self.assert_images(Images(), batch, example=torch.empty(rows, 3, 32, 32))
        found = joulecast.predict(Images(), gpu="a30", batch=[1, 8], example=(torch.empty(1, 3, 32, 32),))
        self.assertEqual([one.batch for one in found], [1, 8])
        self.assertEqual(found[0].parameters, PARAMETERS)

    def test_are_exported_once_for_all_batches(self):
        with mock.patch.object(torch.export, "export", wraps=torch.export.export) as export:
            joulecast.predict(Images(), gpu="a30", batch=[1, 8, 32], input=(3, 32, 32))
        self.assertEqual(export.call_count, 1)

    def test_may_be_asked_about_by_several_threads(self):
        alone, found = joulecast.predict(Images(), gpu="a30", input=(3, 32, 32)), []
        threads = [threading.Thread(target=lambda: found.append(joulecast.predict(Images(), gpu="a30", input=(3, 32, 32))))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [alone] * 4)
        torch.export.export(Images().eval(), (torch.empty(2, 3, 32, 32),))  # works as before

    def test_the_batch_is_the_examples_where_none_is_asked_for(self):
        self.assertEqual(joulecast.predict(Images(), gpu="a30", example=torch.empty(3, 3, 32, 32)).batch, 3)

    def test_need_no_example_where_the_shape_of_one_is_given(self):
        for module in Images(), Images().half():
            self.assert_images(module, 8, input=(3, 32, 32))
        self.assertEqual(joulecast.predict(Images(), gpu="a30", batch=8, input="3,32,32").batch, 8)
        self.assertEqual(joulecast.inspect(Words(), batch=4, input=(16,))["inputs"][0]["shape"], [4, 16])

    def test_that_hold_for_one_batch_are_exported_at_each(self):
        for how in {"input": (3, 32, 32)}, {"example": torch.empty(2, 3, 32, 32)}:
            found = joulecast.predict(OneBatch(), gpu="a30", batch=[2, 8], **how)
            self.assertEqual([one.batch for one in found], [2, 8])
            self.assertGreater(found[1].flops, 4 * found[0].flops)  # the product is there at 8 alone

    def test_with_several_inputs_by_place_or_by_name(self):
        ids, scale = torch.zeros(2, 16, dtype=torch.int64), torch.empty(2)
        for example in (ids, scale), {"ids": ids, "scale": scale}:
            found = joulecast.inspect(Words(), batch=5, example=example)
            self.assertEqual([one["shape"] for one in found["inputs"]], [[5, 16], [5]])

    def test_with_a_cache_are_exported_without_it(self):
        module = Decoder()
        found = joulecast.inspect(module, batch=4, example=torch.zeros(2, 16, dtype=torch.int64))
        self.assertEqual(found["inputs"][0]["shape"], [4, 16])
        self.assertIs(module.config.use_cache, True)

    def test_of_every_batch_are_recommended_at_several(self):
        found = joulecast.recommend(Images(), gpu="a30", batch=[1, 8], input=(3, 32, 32))
        self.assertEqual({one.batch for one in found}, {1, 8})

    def test_without_either_say_what_is_missing(self):
        with self.assertRaisesRegex(TypeError, r"input=\(3, 224, 224\), or .* example="):
            joulecast.predict(Images(), gpu="a30")

    def test_are_not_changed(self):
        module, program = Images(), torch.export.export(Images(), (torch.empty(2, 3, 32, 32),))
        weights, own = module.head.weight.clone(), program.state_dict["head.weight"].clone()
        joulecast.predict(module, gpu="a30", batch=8, input=(3, 32, 32))
        joulecast.predict(program, gpu="a30")
        self.assertTrue(torch.equal(module.head.weight, weights) and torch.equal(program.state_dict["head.weight"], own))
        self.assertEqual(program.module()(torch.zeros(2, 3, 32, 32)).shape, (2, 10))


class Files(unittest.TestCase):
    """What is on disk for a moment."""

    def written(self, model, **how):
        """Names and sizes of the files at the moment they are read, and the rights of their folder."""
        from joulecast import _library

        seen, open_model = {}, _library.open_model

        def looked(path, request):
            seen.update(size=os.path.getsize(path), rights=os.stat(os.path.dirname(path)).st_mode & 0o777, path=path)
            return open_model(path, request)

        with mock.patch.object(_library, "open_model", looked):
            joulecast.inspect(model, **how)
        self.assertFalse(os.path.exists(os.path.dirname(seen["path"])))
        return seen

    def test_have_no_weights(self):
        module = nn.Linear(2048, 2048)  # 16 MiB
        module.register_buffer("mask", torch.ones(1 << 20))
        program = torch.export.export(module, (torch.ones(512, 2048),))
        for seen in self.written(module, input=(2048,)), self.written(program):
            self.assertLess(seen["size"], 100_000)
            self.assertEqual(seen["rights"], 0o700)

    def test_are_gone_whatever_happens(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
            for model, how in (Images(), {"input": (3, 32, 32)}), (torch.jit.script(Images()), {"shapes": {"x": [8, 3, 32, 32]}}):
                with self.assertRaises(joulecast.Error):
                    joulecast.predict(model, gpu="toaster", **how)
                with self.assertRaises(joulecast.Error):
                    joulecast.predict(model, gpu="a30", framework="onnx", **how)
            self.assertEqual([name for name in os.listdir(folder) if name.startswith("joulecast")], [])


class Scripts(unittest.TestCase):
    def test_are_read_with_or_without_an_example(self):
        for module in torch.jit.script(Images().eval()), torch.jit.trace(Images().eval(), torch.empty(2, 3, 32, 32)):
            for how in {"input": (3, 32, 32)}, {"example": torch.empty(2, 3, 32, 32), "shapes": {"x": [8, 3, 32, 32]}}:
                batch = None if "shapes" in how else 8
                self.assertAlmostEqual(products(module, batch=batch, **how), 8 * (CONVOLUTION + HEAD), delta=80)

    def test_whose_code_tells_no_shape_have_it_of_the_caller(self):
        class Doubled(nn.Module):
            def forward(self, x):
                return torch.relu(x) * 2

        for how in {"input": (3, 32, 32)}, {"example": torch.empty(2, 3, 32, 32)}:
            shapes = joulecast.inspect(torch.jit.script(Doubled()), batch=None if "example" in how else 8, **how)["inputs"]
            self.assertEqual(shapes[0]["shape"][1:], [3, 32, 32])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
