#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that are exported without ever having weights. Skipped where torch and onnx are not installed."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
try:
    import onnx  # noqa: F401
    import torch

    from zoo import exporters, network, strip, weightless
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


class Tied(torch.nn.Module):
    """An embedding whose weight is the last layer's too, a position buffer that is read, a bias small enough to stay."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(1000, 64)
        self.first = torch.nn.Linear(64, 64)
        self.last = torch.nn.Linear(64, 1000, bias=False)
        self.register_buffer("position_ids", torch.arange(32).expand(1, 32))
        self.tie_weights()

    def tie_weights(self):
        self.last.weight = self.embedding.weight

    def forward(self, tokens):
        positions = self.position_ids[:, : tokens.shape[1]].unsqueeze(-1).float()
        return self.last(torch.relu(self.first(self.embedding(tokens) + positions)))


def exported(module, without):
    inputs = {"tokens": network.Input(("batch", "sequence"), torch.int64, 1000)}
    made = network.Network(module.eval(), inputs, {"batch": 2, "sequence": 8}, ["output"], weightless=without)
    model = exporters.export(made, "torchscript")
    strip.strip(model)
    return model


class Weightless(unittest.TestCase):
    def test_the_file_is_that_of_the_network_with_weights(self):
        plain, without = exported(Tied(), False), exported(weightless.make(Tied), True)
        self.assertEqual([n.op_type for n in plain.graph.node], [n.op_type for n in without.graph.node])
        self.assertEqual([v.name for v in without.graph.input], ["tokens"])

        def tensors(model):
            return {t.name: (tuple(t.dims), t.data_type, bool(t.raw_data)) for t in model.graph.initializer}

        self.assertEqual(tensors(plain), tensors(without))

    def test_parameters_take_no_memory_and_stay_tied(self):
        module = weightless.make(Tied)
        self.assertEqual(module.first.weight.untyped_storage().nbytes(), 4)
        self.assertIs(module.last.weight, module.embedding.weight)
        self.assertEqual(module.position_ids[0, 31].item(), 31)


if __name__ == "__main__":
    unittest.main()
