"""Single layers and idioms as torch writes them, traced, scripted and exported: python tools/zoo/layer_files.py FOLDER

FOLDER gets NAME.traced.pt, NAME.scripted.pt and NAME.pt2, without weights. Needs torch 2.13 alone:

    python3 -m venv v; v/bin/pip install torch==2.13.0; v/bin/python tools/zoo/layer_files.py tests/data/torch_layers
"""

from __future__ import annotations

import enum
import io
import pathlib
import sys
import warnings
import zipfile

import torch
from torch import nn


class Projected(nn.Module):
    """An LSTM of two layers, both ways, whose states are projected."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(10, 20, 2, batch_first=True, bidirectional=True, proj_size=5)
        self.head = nn.Linear(10, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(x)[0])


class Warped(nn.Module):
    """The parts of a spatial transformer that have no weights, and a convolution of what they make."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)

    def forward(self, x: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
        grid = nn.functional.affine_grid(theta, [x.size(0), 3, 16, 12], align_corners=False)
        return self.conv(nn.functional.grid_sample(x, grid, align_corners=False))


class Pairs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pairs, self.head = nn.Bilinear(6, 7, 8), nn.Linear(8, 3)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.head(self.pairs(x, y))


class Order(enum.Enum):
    PLAIN = "plain"
    TURNED = "turned"


class Ordered(nn.Module):
    """An enumeration among its attributes decides what it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.order, self.head = Order.TURNED, nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.order == Order.TURNED:
            x = x.transpose(1, 2)
        return self.head(x)


class Table(nn.Module):
    """A table that is no parameter, put through a layer each time."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(6, 2))
        self.norm, self.layer = nn.BatchNorm1d(4), nn.Linear(2, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x @ self.layer(self.table))


class Tokens(nn.Module):
    """Time first: [time, batch]."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.gru = nn.Embedding(50, 10), nn.GRU(10, 20)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.gru(self.embedding(tokens))[0]


class Printed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.ops.aten._print("an effect")
        return self.head(x)


class Modes(nn.Module):
    """Convolutions whose padding is a word."""

    def __init__(self) -> None:
        super().__init__()
        self.same, self.valid = nn.Conv2d(3, 8, 3, padding="same"), nn.Conv2d(8, 4, 3, padding="valid")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.valid(self.same(x))


class Attending(nn.Module):
    """What attends to what is a result too, which takes the fused kernel away."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y, weights = self.attention(x, x, x)
        assert weights is not None
        return y, weights


class Similar(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(6, 16)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return nn.functional.cosine_similarity(self.head(x), self.head(y))


def encoder() -> nn.Module:
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)


def networks() -> dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]:
    return {
        "projected": (Projected(), (torch.randn(2, 7, 10),)),
        "warped": (Warped(), (torch.randn(2, 3, 24, 20), torch.randn(2, 2, 3))),
        "pairs": (Pairs(), (torch.randn(4, 6), torch.randn(4, 7))),
        "pairs_of_rows": (Pairs(), (torch.randn(4, 5, 6), torch.randn(4, 5, 7))),
        "ordered": (Ordered(), (torch.randn(2, 6, 5),)),
        "table": (Table(), (torch.randn(2, 6),)),
        "tokens": (Tokens(), (torch.randint(0, 50, (7, 3)),)),
        "gru": (nn.GRU(10, 20), (torch.randn(7, 3, 10),)),
        "lstm": (nn.LSTM(10, 20, 2, batch_first=True), (torch.randn(3, 7, 10),)),
        "bag": (nn.EmbeddingBag(100, 16), (torch.randint(0, 100, (4, 6)),)),
        "instance_norm": (nn.InstanceNorm2d(5), (torch.randn(2, 5, 8, 8),)),
        "modes": (Modes(), (torch.randn(2, 3, 8, 8),)),
        "attending": (Attending(), (torch.randn(2, 7, 32),)),
        "similar": (Similar(), (torch.randn(4, 6), torch.randn(4, 6))),
        "encoder": (encoder(), (torch.randn(2, 7, 32),)),
        "transformer": (nn.Transformer(32, 4, 1, 1, 64), (torch.randn(7, 2, 32), torch.randn(5, 2, 32))),
    }


def put(whole: io.BytesIO, path: pathlib.Path) -> None:
    weights = ("/data/", "/data/weights/", "/data/constants/")
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            weight = any(folder in member.filename for folder in weights) and not member.filename.endswith(".json")
            if member.filename.endswith(".debug_pkl"):
                continue
            new.writestr(zipfile.ZipInfo(member.filename), b"" if weight else old.read(member), zipfile.ZIP_DEFLATED)


def save(name: str, save_as, folder: pathlib.Path) -> None:
    whole = io.BytesIO()
    save_as(whole)
    put(whole, folder / name)


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, (module, example) in networks().items():
        module.eval()
        save(f"{name}.traced.pt", lambda to: torch.jit.save(torch.jit.trace(module, example, check_trace=False), to), place)
        save(f"{name}.scripted.pt", lambda to: torch.jit.save(torch.jit.script(module), to), place)
        save(f"{name}.pt2", lambda to: torch.export.save(torch.export.export(module, example), to), place)
    printed = torch.export.export(Printed().eval(), (torch.randn(2, 6),)).run_decompositions()
    save("printed.pt2", lambda to: torch.export.save(printed, to), place)


if __name__ == "__main__":
    main(*sys.argv[1:])
