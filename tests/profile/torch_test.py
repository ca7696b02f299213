#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runner of PyTorch's C++ library on real networks; skipped where it was not built.

torch_test.py <joulecast> <folder with model files>

It is looked for in $JOULECAST_RUN_TORCH, else in build/runner. Every operation of the networks and these themselves have to
run and to make what the program says: the runner compares the shapes.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, EXAMPLES = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
RUNNER = pathlib.Path(os.environ.get("JOULECAST_RUN_TORCH", PROGRAM.parent.parent / "runner" / "joulecast-run-torch"))
ONCE = pathlib.Path(__file__).resolve().parent / "once.py"
SKIPPED = 77
# Of each kind one: convolutions, depthwise ones, attention, recurrent layers, transposed and resized images.
NETWORKS = ["resnet18", "mobilenet_v3_large", "vit_b_16", "gpt2", "lstm", "deeplabv3_mobilenet", "convnext_tiny", "swin_t_dynamo"]
CONV = """value input f32 shape=2,8,16,16
value parameter f32 shape=16,8,3,3
value computed f32 shape=2,16,{size},{size}
node conv in=0,1,_ out=2 stride=1,1 dilation=1,1 padding_begin=1,1 padding_end=1,1 groups=1 transposed=0 same_padding=0
output 2
end
"""


def talk(*requests):
    done = subprocess.run([RUNNER], input="".join(requests), capture_output=True, text=True, timeout=120, check=True)
    return done.stdout.splitlines()


class Torch(unittest.TestCase):
    def test_all_operations_of_networks_run_and_make_the_shapes_that_are_meant(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROGRAM, "profile", *(EXAMPLES / f"{name}.onnx" for name in NETWORKS), "--gpu", "cpu", "--batch", "2",
                                   "--mode", "inference,training", "--runner", ONCE, "-o", f"{folder}/out", "--json", "-q"],
                                  env=os.environ | {"JOULECAST_RUNNER": str(RUNNER)}, capture_output=True, text=True, timeout=1500)
            self.assertEqual(done.returncode, 0, done.stderr)
            journal = pathlib.Path(folder, "out", "cases.jsonl").read_text().splitlines()
            failed = [line for line in journal if '"failed"' in line]
            self.assertEqual(failed, [])
            self.assertGreater(json.loads(done.stdout)["measured"], 300)

    def test_copies_have_memory_of_their_own(self):
        replies = talk("hello protocol=1 device=cpu threads=1\n",
                       "prepare kind=operation mode=inference precision=fp32 copies_bytes=46080 copies_most=500\n", CONV.format(size=16))
        self.assertIn("ok copies=10 distinct_copies=10 weight_bytes=4608", replies)

    def test_the_optimizers_step_alone(self):
        prepare, two = "prepare kind=optimizer mode=training\n", "value parameter f32 shape=64,8\nvalue parameter f32 shape=64\nend\n"
        odd = ("end\n", "value input f32 shape=2\nend\n", "value parameter i64 shape=2\nend\n", "value parameter f32 shape=2\noutput 0\nend\n")
        replies = talk("hello protocol=1 device=cpu threads=1\n", prepare, two, "run iterations=3\n", "memory\n",
                       *(prepare + lines for lines in odd))
        self.assertEqual(replies[1], "ok copies=1 distinct_copies=1 weight_bytes=2304 kind=optimizer")
        self.assertEqual([reply.split()[0] for reply in replies], ["ok"] * 4 + ["error"] * 4)

    def test_another_shape_than_was_meant_is_refused(self):
        replies = talk("hello protocol=1 device=cpu threads=1\n", "prepare kind=operation mode=inference precision=fp32\n",
                       CONV.format(size=15), "run iterations=1\n", "run iterations=1\n")
        self.assertRegex(replies[2], "error kind=unsupported text=conv%20makes%20\\[2,%2016,%2016,%2016\\]")
        self.assertIn("nothing%20is%20prepared", replies[3])

    def test_attention_on_three_axes(self):
        program = "".join(f"value {kind} f32 shape=2,{rows},8\n" for kind, rows in (("input", 5), ("input", 7), ("input", 7), ("computed", 5)))
        replies = talk("hello protocol=1 device=cpu threads=1\n", "prepare kind=operation mode=inference precision=fp32\n", program,
                       "node attention in=0,1,2,_ out=3 causal=0 by_hand=0 scales=0 masks=0 dropout=0\noutput 3\nend\n", "run iterations=1\n")
        self.assertEqual([reply.split()[0] for reply in replies], ["ok"] * 3, replies)

    def test_windows_have_edges_and_memory_is_not_made_up(self):
        replies = talk("hello protocol=1 device=cpu threads=1\n", "prepare kind=operation mode=training precision=fp32\n",
                       CONV.format(size=16), "run iterations=3\n", "memory\n")
        window = dict(word.split("=") for word in replies[2].split()[1:])
        self.assertEqual(window["iterations"], "3")
        self.assertGreater(int(window["end_us"]), int(window["begin_us"]))
        self.assertNotIn("device_s", window)
        self.assertEqual(replies[3], "ok")

    def test_other_runtimes_and_modules_are_refused(self):
        replies = talk("hello protocol=1 device=cpu runtime=pytorch-compiled\n", "hello protocol=1 device=cpu runtime=pytorch-eager\n",
                       "prepare kind=network module=a:b\n", "value input f32 shape=2\nend\n", "release\n")
        self.assertIn("kind=unsupported text=runtime%20pytorch-compiled:%20this%20runner%20has%20pytorch-eager", replies[0])
        self.assertIn("runtime=pytorch-eager", replies[1])
        self.assertIn("kind=unsupported text=this%20runner%20runs%20no%20modules", replies[2])
        self.assertEqual(replies[3], "ok")

    @unittest.skipIf(pathlib.Path("/dev/nvidiactl").exists(), "a GPU may be here")
    def test_a_gpu_that_it_does_not_see_is_refused_in_a_sentence(self):
        (reply,) = talk("hello protocol=1 device=cuda:0 threads=1\n")
        self.assertEqual(reply, "error kind=unsupported text=device%20cuda:0:%20this%20torch%20has%20no%20CUDA,%20or%20sees%20no%20GPU")

    def test_odd_lines_are_answered_and_nothing_ends(self):
        replies = talk("run iterations=1\n", "hello protocol=2 device=cpu\n", "hello protocol=1 device=cpu threads=1\n", "nonsense\n",
                       "prepare kind=operation\n", "value input f99 shape=1\nend\n", "prepare kind=operation\n", "node relu in=7 out=8\nend\n",
                       "prepare kind=operation\n", "value input f32 shape=2\nnode bogus in=0 out=0\nend\n",
                       "prepare kind=operation\n", "value input f32 shape=1000000000,1000000000\noutput 0\nend\n", "release\n")
        kinds = [re.match("(ok|error kind=[a-z_]+)", reply).group(1) for reply in replies]
        self.assertEqual(kinds, ["error kind=protocol"] * 2 + ["ok", "error kind=protocol", "error kind=unsupported", "error kind=protocol",
                                 "error kind=unsupported", "error kind=out_of_memory", "ok"])


if __name__ == "__main__":
    if not RUNNER.exists():
        print(f"skipped: {RUNNER} is not there; docs/howto/profile-your-device.md builds it")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
