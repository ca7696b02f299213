#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks that are exported without ever having weights. Skipped where torch and onnx are not installed."""
import pathlib
import sys
import types
import unittest
import unittest.mock

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


class Mixed(torch.nn.Module):
    """Recurrent, normalised, with an index that is a buffer."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(64)
        self.lstm = torch.nn.LSTM(64, 64, num_layers=2, batch_first=True)
        self.register_buffer("order", torch.arange(63, -1, -1))

    def forward(self, x):
        return self.lstm(self.norm(x.transpose(1, 2)).transpose(1, 2))[0][:, :, self.order]


def built(without):
    """By the zoo's own way, of a source that is not there."""
    source = types.SimpleNamespace(build=lambda name, options: network.Network(
        Mixed(), {"x": network.Input(("batch", 8, 64))}, {"batch": 2}))
    with unittest.mock.patch.object(network, "source_module", lambda name: source):
        return network.build("torchvision:mixed", network.Options(), without_weights=without)


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

    def test_any_network_can_be_made_so(self):
        models = []
        for without in (False, True):
            models.append(exporters.export(built(without), "torchscript"))
            strip.strip(models[-1])
        self.assertEqual([n.op_type for n in models[0].graph.node], [n.op_type for n in models[1].graph.node])
        tensors = [sorted((t.data_type, tuple(t.dims)) for t in model.graph.initializer) for model in models]
        self.assertEqual(*tensors)
        module = built(True).module
        self.assertEqual({p.untyped_storage().nbytes() for p in module.parameters()}, {4})
        self.assertEqual(len({p.flatten()[0].item() for p in module.parameters()}), len(list(module.parameters())))
        self.assertEqual(module.order[0].item(), 63)
        self.assertEqual(torch.nn.init.ones_(torch.zeros(2)).sum().item(), 2)

    def test_parameters_take_no_memory_and_stay_tied(self):
        module = weightless.make(Tied)
        self.assertEqual(module.first.weight.untyped_storage().nbytes(), 4)
        self.assertIs(module.last.weight, module.embedding.weight)
        self.assertEqual(module.position_ids[0, 31].item(), 31)


if __name__ == "__main__":
    unittest.main()
