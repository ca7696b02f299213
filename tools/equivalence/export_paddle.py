#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes networks as programs of Paddle: export_paddle.py FOLDER [NETWORK...]

FOLDER/NETWORK/paddle/ gets inference.pdmodel from Paddle 2, inference.json from Paddle 3: run it with both.
"""
from __future__ import annotations

import pathlib
import sys
import tempfile

import paddle
from paddle import nn


def encoder(before: bool, dropout: float) -> nn.Layer:
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=dropout, activation="gelu", normalize_before=before)
    return nn.TransformerEncoder(layer, 12, nn.LayerNorm(768) if before else None)


class Vit(nn.Layer):
    """ViT-B/16 of torchvision, its projections of query, key and value apart."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2D(3, 768, 16, 16)
        self.first = self.create_parameter([1, 1, 768])
        self.places = self.create_parameter([1, 197, 768])
        self.encoder = encoder(True, 0.0)
        self.head = nn.Linear(768, 1000)

    def forward(self, image: paddle.Tensor) -> paddle.Tensor:
        x = self.patches(image).flatten(2).transpose([0, 2, 1])
        x = paddle.concat([self.first.expand([paddle.shape(x)[0], 1, 768]), x], axis=1) + self.places
        return self.head(self.encoder(x)[:, 0])


class Bert(nn.Layer):
    """BERT base without what pools."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.types = nn.Embedding(30522, 768), nn.Embedding(512, 768), nn.Embedding(2, 768)
        self.norm, self.drop = nn.LayerNorm(768), nn.Dropout(0.1)
        self.encoder = encoder(False, 0.1)

    def forward(self, tokens: paddle.Tensor) -> paddle.Tensor:
        places = paddle.arange(0, paddle.shape(tokens)[1], 1, dtype="int64").unsqueeze(0)
        x = self.words(tokens) + self.places(places) + self.types(paddle.zeros_like(tokens))
        return self.encoder(self.drop(self.norm(x)))


class Lstm(nn.Layer):
    """The LSTM of tools/zoo/sources/recurrent.py."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.lstm, self.decoder = nn.Embedding(10000, 256), nn.LSTM(256, 512, num_layers=2), nn.Linear(512, 10000)

    def forward(self, tokens: paddle.Tensor) -> paddle.Tensor:
        return self.decoder(self.lstm(self.table(tokens))[0])


OWN = {"vit_b_16": Vit, "bert_base": Bert, "lstm": Lstm}
NETWORKS = ("resnet50", "vgg16", "mobilenet_v2", "densenet121", *OWN)


def build(name: str) -> nn.Layer:
    network = OWN[name]() if name in OWN else getattr(paddle.vision.models, name)(pretrained=False)
    network.eval()
    return network


def specification(name: str) -> paddle.static.InputSpec:
    if name in ("bert_base", "lstm"):
        return paddle.static.InputSpec([None, None], "int64", "tokens")
    return paddle.static.InputSpec([None, 3, 224, 224], "float32", "image")


def write_pir(name: str, place: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory(prefix="paddle") as folder:
        paddle.jit.save(build(name), f"{folder}/inference", input_spec=[specification(name)])
        (place / "inference.json").write_bytes((pathlib.Path(folder) / "inference.json").read_bytes())


def write_desc(name: str, place: pathlib.Path) -> None:
    paddle.enable_static()
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        spec = specification(name)
        given = paddle.static.data(spec.name, spec.shape, spec.dtype)
        made = build(name)(given)
    outputs = list(made) if isinstance(made, (list, tuple)) else [made]
    program = paddle.static.normalize_program(main.clone(for_test=True), [given], outputs)
    (place / "inference.pdmodel").write_bytes(program.desc.serialize_to_string())


def main(folder: str, *names: str) -> None:
    write = write_desc if paddle.__version__.startswith("2.") else write_pir
    for name in names or NETWORKS:
        place = pathlib.Path(folder) / name / "paddle"
        place.mkdir(parents=True, exist_ok=True)
        write(name, place)
        print(f"{name}: {', '.join(sorted(path.name for path in place.iterdir()))}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
