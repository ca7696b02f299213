"""TorchScript archives (.pt) without weights: the code, the pickles and small constants; every other storage empty."""

from __future__ import annotations

import io
import zipfile

import torch

from zoo.network import Network

# Numbers that shapes are computed from; larger storages are weights.
_KEPT_BYTES = 64


def export(network: Network, how: str) -> bytes:
    """`how`: "trace", "script" or "freeze" (traced, then frozen)."""
    with torch.no_grad():
        if how == "script":
            module = torch.jit.script(network.module)
        else:
            module = torch.jit.trace(network.module, network.example(), check_trace=False, strict=False)
        if how == "freeze":
            module = torch.jit.freeze(module)
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    return strip(buffer.getvalue())


def strip(data: bytes) -> bytes:
    """The same archive with empty weights, compressed, without what debuggers read."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for info in source.infolist():
            if info.filename.endswith(".debug_pkl") or "/.data/" in info.filename:
                continue
            text = info.filename.endswith((".py", ".pkl", "/version", "/byteorder"))
            kept = text or info.file_size <= _KEPT_BYTES
            content = source.read(info) if kept else b""
            target.writestr(zipfile.ZipInfo(info.filename), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
