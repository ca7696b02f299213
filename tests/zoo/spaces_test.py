#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of search spaces have as many parameters as counting by hand gives. Skipped where torch and onnx are not
installed."""
import collections
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
try:
    import onnx  # noqa: F401
    import torch  # noqa: F401

    from zoo import exporters, network
    from zoo.sources import nasbench101
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def parameters(name):
    return sum(p.numel() for p in network.build(name, network.Options(), without_weights=True).module.parameters())


class Decoders(unittest.TestCase):
    def test_two_layers_by_hand(self):
        embedding_and_head = 2 * 50254 * 192
        norms = 5 * 2 * 192
        attention = 4 * 192 * 64 * (12 + 4)
        mlp = 3 * 192 * 192 * (4 + 2)
        plain = embedding_and_head + norms + attention + mlp
        self.assertEqual(parameters("hwgpt:192_12.4_4.2"), plain)
        biases = 3 * 64 * (12 + 4) + 2 * 192 + 2 * 192 * (4 + 2) + 2 * 192
        self.assertEqual(parameters("hwgpt:192_12.4_4.2_bias"), plain + biases)

    def test_names_that_are_none(self):
        for name in ("192_12.4_4", "192", "x_1_1", "192_12_4_bias_bias"):
            with self.assertRaises(network.UnsupportedNetwork):
                network.build(f"hwgpt:{name}", network.Options())


class Cells(unittest.TestCase):
    def test_an_edge_alone_is_a_projection(self):
        def conv(into, out, pixels=1):
            return pixels * pixels * into * out + 2 * out

        stacks = [(128, 128)] * 3 + [(128, 256)] + [(256, 256)] * 2 + [(256, 512)] + [(512, 512)] * 2
        wanted = conv(3, 128, 3) + sum(conv(into, out) for into, out in stacks) + 512 * 10 + 10
        self.assertEqual(parameters("nasbench101:01.00_"), wanted)

    def test_who_leads_to_the_output_shares_its_channels(self):
        # Two of three inner vertices end at the output, the third leads to the wider of them.
        edges = [[0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
        self.assertEqual(nasbench101.channels(64, 129, edges), [64, 65, 65, 64, 129])

    def test_edges_are_blocks_of_their_stacks(self):
        def conv(into, out, pixels=1):
            return pixels * pixels * into * out + 2 * out

        def wanted(pixels):  # two convolutions in each of the five cells of a stack
            stacks = sum(10 * conv(channels, channels, pixels) for channels in (16, 32, 64))
            halvings = sum(conv(c, 2 * c, 3) + conv(2 * c, 2 * c, 3) + 2 * c * c for c in (16, 32))
            return conv(3, 16, 3) + stacks + halvings + 2 * 64 + 64 * 10 + 10

        self.assertEqual(parameters("nasbench201:1.sn.a1s"), wanted(1))
        self.assertEqual(parameters("nasbench201:n.3a.3ss"), wanted(3))

    def test_branches_that_begin_alike_stay_apart(self):
        cell = network.build("nasbench201:a.aa.333", network.Options(), without_weights=True)
        kinds = collections.Counter(node.op_type for node in exporters.torchscript(cell).graph.node)
        # Fifteen cells; a ReLU for each convolution and at the end; sums that begin with 0, and two shortcuts.
        self.assertEqual(kinds["AveragePool"], 15 * 3 + 2)
        self.assertEqual(kinds["Relu"], 15 * 3 + 2 * 2 + 1)
        self.assertEqual(kinds["Add"], 15 * (1 + 2 + 3) + 2)

    def test_names_that_are_none(self):
        for name in ("a.1s", "a.1s.1s", "a1s1ss", "x.1s.1ss"):
            with self.assertRaises(network.UnsupportedNetwork):
                network.build(f"nasbench201:{name}", network.Options())
        for name in ("0110_3", "010.001.000_33", "01.10_", "01.00_x"):
            with self.assertRaises(network.UnsupportedNetwork):
                network.build(f"nasbench101:{name}", network.Options())


if __name__ == "__main__":
    unittest.main()
