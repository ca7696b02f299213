"""Small programs as one version of torch writes them: python tools/zoo/version_files.py FOLDER

FOLDER/VERSION gets conv.pt2, conv_open.pt2 (the batch open), attention.pt2 and attention_open.pt2, as far as that version can
export them, without weights. Needs torch alone, of any version from 2.1 on:

    python3 -m venv v; v/bin/pip install torch==2.3.1 "numpy<2"; v/bin/python tools/zoo/version_files.py tests/data/pt2_versions
"""

from __future__ import annotations

import io
import pathlib
import sys
import warnings
import zipfile

import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.second, self.head = nn.Conv2d(16, 32, 3, padding=1, groups=4), nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(nn.functional.relu(self.norm(self.first(x))), 2)
        y = self.second(x)
        y = torch.cat([y[:, :16] + x, y[:, 16:]], 1)
        return self.head(nn.functional.adaptive_avg_pool2d(y, 1).flatten(1))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table, self.norm = nn.Embedding(100, 32), nn.LayerNorm(32)
        self.query, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.table(tokens)
        batch, length, _ = x.shape
        q, k, v = self.query(self.norm(x)).view(batch, length, 3, 4, 8).permute(2, 0, 3, 1, 4).unbind(0)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(batch, length, 32)) + x


def write(module: nn.Module, example: torch.Tensor, is_open: bool, path: pathlib.Path) -> None:
    named = {}
    if is_open and hasattr(torch.export, "Dim"):
        named = {"dynamic_shapes": ({0: torch.export.Dim("batch", min=2, max=64)},)}
    elif is_open:
        named = {"constraints": [torch.export.dynamic_dim(example, 0) <= 15]}
    whole = io.BytesIO()
    torch.export.save(torch.export.export(module, (example,), **named), whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            text = member.filename.endswith(".json") or "version" in member.filename
            new.writestr(zipfile.ZipInfo(member.filename), old.read(member) if text else b"", zipfile.ZIP_DEFLATED)


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    place = pathlib.Path(folder) / torch.__version__.split("+")[0]
    place.mkdir(parents=True, exist_ok=True)
    networks = {"conv": (Conv().eval(), torch.randn(2, 3, 32, 32)), "attention": (Attention().eval(), torch.randint(0, 100, (2, 16)))}
    for name, (module, example) in networks.items():
        for is_open in (False, True):
            path = place / f"{name}{'_open' if is_open else ''}.pt2"
            try:
                write(module, example, is_open, path)
                print(path, flush=True)
            except Exception as error:  # what this version cannot export is not there
                path.unlink(missing_ok=True)
                print(f"{path}: {type(error).__name__}: {str(error).splitlines()[0][:100]}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
