# SPDX-License-Identifier: Apache-2.0
"""The package against the program: python3 test_predict.py PROGRAM FOLDER_OF_EXAMPLES"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile

PROGRAM, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
RESNET = EXAMPLES / "resnet50.onnx"

import joulecast  # noqa: E402


def told(*words):
    return json.loads(subprocess.run([PROGRAM, *words, "--json"], stdout=subprocess.PIPE, check=True).stdout)


class Predict(unittest.TestCase):
    def test_is_what_the_program_says(self):
        found = joulecast.predict(RESNET, gpu=["a30", "h100"], batch=[1, 32], mode="training")
        words = told("predict", str(RESNET), "--gpu", "a30,h100", "--batch", "1,32", "--mode", "training")
        self.assertEqual(found.to_dict(), [{"model": str(RESNET), **one} for one in words["predictions"]])

    def test_one_gpu_and_one_batch_give_one_prediction(self):
        found = joulecast.predict(str(RESNET), gpu="a30", batch=32)
        self.assertIsInstance(found, joulecast.Prediction)
        self.assertTrue(found.time_s.lo < found.time_s.value < found.time_s.hi)
        self.assertEqual(float(found.energy_j), found.to_dict()["energy_j"]["value"])
        self.assertIn("a30 batch 32 at 165 W, 1440 MHz: ", repr(found))

    def test_modules_need_no_import_of_their_own(self):
        asked = "import joulecast; print(joulecast.callbacks.__name__, joulecast.compat.dippm.predict.__name__)"
        said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "joulecast.callbacks predict\n")
        self.assertIn("callbacks", dir(joulecast))

    def test_gpus_that_cannot_be_are_named(self):
        for gpu in ["a30", "k80"], "a30,k80":
            found = joulecast.predict(RESNET, gpu=gpu, precision="bf16")
            self.assertEqual(["a30"], [one.gpu for one in found])
            self.assertEqual(1, len(found.left_out))
            self.assertIn("tesla-k80", found.left_out[0])
        self.assertEqual([], joulecast.predict(RESNET, gpu=["a30", "k80"]).left_out)
        with self.assertRaisesRegex(joulecast.UnsupportedError, "none of 2 GPUs"):
            joulecast.predict(RESNET, gpu=["k80", "p4"], precision="bf16")
        best = joulecast.recommend(RESNET, gpu=["a30", "k80"], precision="bf16")
        self.assertEqual(["a30"], [one.gpu for one in best])
        self.assertIn("tesla-k80", best.left_out[0])

    def test_the_shape_of_one_example(self):
        one = joulecast.predict(RESNET, gpu="a30", batch=4, input="3,224,224")
        self.assertEqual(one, joulecast.predict(RESNET, gpu="a30", shapes={"input": (4, 3, 224, 224)}))
        with self.assertRaisesRegex(ValueError, "2 inputs|3 inputs"):
            joulecast.predict(EXAMPLES / "bert_base.onnx", gpu="a30", input="128")

    def test_the_shape_of_one_example_tells_what_the_file_leaves_open(self):
        with tempfile.TemporaryDirectory() as folder:
            graph = pathlib.Path(folder, "open.jcg")
            graph.write_text('graph "open" { input %x : f32[n, channels, a, b] %y = unary(%x) output %y }')
            one = joulecast.predict(graph, gpu="a30", batch=2, input="3,64,64")
            self.assertEqual(one, joulecast.predict(graph, gpu="a30", shapes={"x": [2, 3, 64, 64]}))

    def test_numbers_of_other_libraries(self):
        class Eight:
            def __index__(self):
                return 8

        plain = joulecast.predict(RESNET, gpu="a30", batch=8)
        self.assertEqual(plain, joulecast.predict(RESNET, gpu="a30", batch=Eight()))
        self.assertEqual(plain.time_s, joulecast.predict(RESNET, gpu="a30", batch=8, input=(3, 224, 224)).time_s)
        for shape in "3x224x224", (3, 2.5, 224):
            with self.assertRaisesRegex(ValueError, "no shape of one example"):
                joulecast.predict(RESNET, gpu="a30", input=shape)

    def test_shapes_that_a_scripted_module_does_not_tell(self):
        code = ("class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
                "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.relu(x)\n")
        with tempfile.TemporaryDirectory() as folder:
            scripted = pathlib.Path(folder, "m.pt")
            with zipfile.ZipFile(scripted, "w") as archive:
                for name, content in (("version", "3"), ("constants.pkl", b"\x80\x02)."), ("code/__torch__.py", code),
                                      ("data.pkl", b"\x80\x02c__torch__\nM\n)\x81}X\x08\x00\x00\x00training\x89sb.")):
                    archive.writestr(f"m/{name}", content)
            with self.assertRaisesRegex(joulecast.Error, "shape"):
                joulecast.predict(scripted, gpu="a30")
            words = told("predict", str(scripted), "--gpu", "a30", "--shapes", "x:8x3x224x224")["predictions"][0]
            found = joulecast.predict(scripted, gpu="a30", shapes={"x": [8, 3, 224, 224]})
            self.assertEqual(found.to_dict()["time_s"], words["time_s"])

    def test_objects_of_a_framework_nobody_has_loaded_are_no_models(self):
        with self.assertRaisesRegex(TypeError, "a path or an object of .* not builtins.int"):
            joulecast.predict(3, gpu="a30")
        self.assertNotIn("onnx", sys.modules)

    def test_errors(self):
        with self.assertRaises(joulecast.Error) as caught:
            joulecast.predict("nowhere.onnx", gpu="a30")
        self.assertEqual(caught.exception.code, "not-found")
        with self.assertRaisesRegex(ValueError, "there is no argument 'colour'"):
            joulecast.predict(RESNET, gpu="a30", colour="red")
        with self.assertRaisesRegex(joulecast.Error, r"hint: joulecast\.gpus\(\) lists"):
            joulecast.predict(RESNET, gpu="toaster")

    def test_errors_name_arguments(self):
        lstm = EXAMPLES / "lstm.onnx"
        with self.assertRaisesRegex(joulecast.Error, "^batch=16: the model or shapes fixes the batch to 8"):
            joulecast.predict(lstm, gpu="a30", batch=16, shapes={"input_ids": [8, 128]})
        with self.assertRaisesRegex(joulecast.Error, "^batch: '0' is no batch size\nhint: .* batch=\\[1, 8, 32\\]$"):
            joulecast.predict(lstm, gpu="a30", batch=0)
        with self.assertRaisesRegex(joulecast.Error, "^top: is no whole number"):
            joulecast.predict(lstm, gpu="a30", top="all")
        with self.assertRaisesRegex(joulecast.Error, "^shapes: is no dict of shapes"):
            joulecast.predict(lstm, gpu="a30", shapes=[8, 128])
        with self.assertRaisesRegex(joulecast.Error, 'add mode="training", or leave it out'):
            joulecast.predict(RESNET, gpu="a30", optimizer="adam")
        with tempfile.TemporaryDirectory() as folder:
            graph = pathlib.Path(folder, "open.jcg")
            graph.write_text('graph "open" { input %x : f32[batch, features] %y = unary(%x) output %y }')
            with self.assertRaisesRegex(joulecast.Error, r'hint: type shapes=\{"x": \[1, <features>\]\}$'):
                joulecast.predict(graph, gpu="a30")

    def test_threads(self):
        alone, found = joulecast.predict(RESNET), []
        threads = [threading.Thread(target=lambda: found.append(joulecast.predict(RESNET))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [alone] * 4)

    def test_for_notebooks(self):
        self.assertIn("<td>a30</td>", joulecast.predict(RESNET, gpu="a30")._repr_html_())
        self.assertIn("<td>100 W, 1440 MHz</td>", joulecast.predict(RESNET, gpu="a30", power_limit=[100])._repr_html_())
        self.assertIn("<td>a30</td>", joulecast.recommend(RESNET, gpu="a30")._repr_html_())


class Recommend(unittest.TestCase):
    def test_is_what_the_program_says(self):
        found = joulecast.recommend(RESNET, gpu=["a30", "h100"], batch=[1, 32], best="edp", slowdown_percent=10)
        words = told("recommend", str(RESNET), "--gpu", "a30,h100", "--batch", "1,32", "--best", "edp", "--slowdown", "10")
        self.assertEqual([one.to_dict() for one in found], [{"model": str(RESNET), **one} for one in words["candidates"]])
        self.assertLessEqual(max(one.time_ratio for one in found), 1.1)
        self.assertIn("batch", repr(found[0]))
        self.assertEqual(found.to_dict(), [one.to_dict() for one in found])

    def test_notes(self):
        words = told("recommend", str(RESNET), "--gpu", "p100-pcie-16gb", "--precision", "fp16")
        found = joulecast.recommend(RESNET, gpu="p100-pcie-16gb", precision="fp16")
        self.assertRegex(" ".join(found.notes), "nothing like it was measured")
        self.assertEqual(found.notes, words["notes"])

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "no pandas here")
    def test_to_pandas(self):
        table = joulecast.recommend(RESNET, gpu=["a30", "h100"], batch=1).to_pandas()
        self.assertEqual(len(table), 2)
        self.assertGreater(table["setting_power_limit_w"].min(), 0)
        self.assertGreater(table["default_energy_j_hi"].min(), 0)


class Dippm(unittest.TestCase):
    def test_answers_in_megabytes_joules_and_milliseconds(self):
        from joulecast.compat import dippm

        memory, energy, latency, mig = dippm.predict(framework="onnx", path=RESNET, batch=32, input="3,224,224", device="A100")
        found = joulecast.predict(RESNET, gpu="a100-sxm4-40gb", batch=32)
        self.assertAlmostEqual(memory, found.memory_bytes.value / 2**20, places=0)
        self.assertAlmostEqual(energy, found.energy_j.value, places=3)
        self.assertAlmostEqual(latency, 1000 * found.time_s.value, places=3)
        self.assertEqual(mig, found.mig_profile)

    def test_reads_programs_of_paddle(self):
        from joulecast.compat import dippm

        folder = pathlib.Path(__file__).parents[2] / "tests/data/paddle/convolutions"
        found = [dippm.predict("paddle", str(folder / name), 4, "3,32,32") for name in ("program.pdmodel", "program.json")]
        self.assertEqual(found[0], found[1])
        self.assertGreater(found[0][2], 0)

    def test_keras_is_tensorflow_and_its_channels_stand_first_or_last(self):
        from joulecast.compat import dippm

        images = pathlib.Path(__file__).parents[2] / "tests/data/keras/convolutions/model.keras"
        found = [dippm.predict("TensorFlow", images, 4, shape) for shape in ("32,32,3", "3,32,32", (32, 32, 3))]
        self.assertEqual(found, [found[0]] * 3)
        self.assertEqual(found[0][2], round(1e3 * joulecast.predict(images, gpu="a100-sxm4-40gb", batch=4).time_s.value, 4))
        with self.assertRaisesRegex(ValueError, "extent 16 of axis 1 is fixed to 3 in the model"):
            dippm.predict("tensorflow", images, 4, "16,16,3")

    def test_a_batch_that_the_file_fixes_is_said(self):
        from joulecast.compat import dippm

        with tempfile.TemporaryDirectory() as folder:
            graph = pathlib.Path(folder, "fixed.jcg")
            graph.write_text('graph "fixed" { input %x : f32[1, 64] %y = unary(%x) output %y }')
            with self.assertRaisesRegex(ValueError, "fixed to 1 in the model: ask for that batch, or save the model with an open one"):
                joulecast.predict(graph, gpu="a30", batch=8, input="64")
            with self.assertRaisesRegex(ValueError, "fixes the batch to 1\nhint: ask for that batch, or save the model with an open one"):
                joulecast.predict(graph, gpu="a30", batch=8)
            with self.assertRaisesRegex(ValueError, "is no file of pytorch: it looks like the text form"):
                dippm.predict("pytorch", graph, 1, "64")

    def test_a_framework_nobody_knows(self):
        from joulecast.compat import dippm

        with self.assertRaisesRegex(ValueError, "'caffe' is none of"):
            dippm.predict(framework="caffe", path=RESNET, batch=1, input="3,224,224")


class Inspect(unittest.TestCase):
    def test_is_what_the_program_says(self):
        self.assertEqual(joulecast.inspect(RESNET, batch=8, top=3), told("inspect", str(RESNET), "--batch", "8", "--top", "3"))


class Gpus(unittest.TestCase):
    def test_are_those_of_the_program(self):
        self.assertEqual(joulecast.gpus(), told("gpus")["gpus"])


class Import(unittest.TestCase):
    def test_loads_nothing_that_is_not_asked_for(self):
        code = "import sys; before = set(sys.modules); import joulecast; print(*sorted(set(sys.modules) - before))"
        place = {**os.environ, "PYTHONPATH": str(pathlib.Path(joulecast.__file__).parents[1])}
        out = subprocess.run([sys.executable, "-S", "-c", code], env=place, stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertEqual(set(out.split()) - {"__future__"}, {"joulecast"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
