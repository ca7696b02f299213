#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library that draws the charts of `joulecast report`: Vega, Vega-Lite and Vega-Embed, from the npm registry.

    library.py fetch  [--cache FOLDER]                  gets what the cache lacks; without network when it lacks nothing
    library.py bundle [--cache FOLDER] --output FILE    one script of what is in the cache; 3 where something is missing

Versions are pinned, and nothing is used whose SHA-512 is not the one below (`npm view NAME@VERSION dist.integrity`).
"""
import argparse
import base64
import hashlib
import io
import os
import pathlib
import re
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request

REGISTRY = "https://registry.npmjs.org"
TIMEOUT_S = 60
MISSING = 3

# Name, version, the file browsers load, SHA-512 of the package. In the order they are loaded.
PACKAGES = [
    ("vega", "6.4.0", "build/vega.min.js",
     "rHXCq2LpEWCLMjXBEj7hocY9G0/i5TGYRayGGSj06VTF4+l2IG2Z7oeZKCjWbUh/7hTE/mVhbaOPB72wCElh6g=="),
    ("vega-lite", "6.5.0", "build/vega-lite.min.js",
     "fMXF6s0MrIg0UTWnLIfeFtgSLzVhyzSKobzGrh5rhS+mL6FOYFG3m7ouJ4U23gj65EK+gl9FIIT5w7wLNaAzkA=="),
    ("vega-embed", "7.3.0", "build/vega-embed.min.js",
     "wQ8s5GaSzqoKgmRfbRolgBrjE2CP7ZKHXqH7NijxMqPjpdWxSs4Dn8tvp9g0giQvh2cK+3p56sxjWWM0wNngGw=="),
]


def default_cache() -> pathlib.Path:
    """A folder of the user's, else one in the build tree: caches may always be thrown away."""
    base = os.environ.get("XDG_CACHE_HOME") or (os.path.join(os.environ["HOME"], ".cache") if os.environ.get("HOME") else "")
    if base:
        return pathlib.Path(base) / "joulecast/charts"
    return pathlib.Path(__file__).resolve().parents[2] / "build/charts"


def is_right(data: bytes, digest: str) -> bool:
    return base64.b64encode(hashlib.sha512(data).digest()).decode() == digest


def cached(cache: pathlib.Path, name: str, version: str, digest: str) -> bytes | None:
    """The package, or None where it is not there or not what it should be."""
    try:
        data = (cache / f"{name}-{version}.tgz").read_bytes()
    except OSError:
        return None
    return data if is_right(data, digest) else None


def download(name: str, version: str, digest: str) -> bytes:
    address = f"{REGISTRY}/{name}/-/{name}-{version}.tgz"
    with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:
        data = answer.read()
    if not is_right(data, digest):
        raise ValueError(f"{address}: not the package it was when its version was pinned")
    return data


def fetch(cache: pathlib.Path) -> int:
    for name, version, _, digest in PACKAGES:
        if cached(cache, name, version, digest) is not None:
            continue
        try:
            data = download(name, version, digest)
            cache.mkdir(parents=True, exist_ok=True)
            # Whole or not at all: two builds may fetch at once.
            with tempfile.NamedTemporaryFile(dir=cache, delete=False) as file:
                file.write(data)
            os.replace(file.name, cache / f"{name}-{version}.tgz")
        except (OSError, ValueError, urllib.error.URLError) as error:
            print(f"{name} {version} for the charts of reports: {error}", file=sys.stderr)
            return 1
    return 0


def script_of(package: bytes, name: str, version: str, path: str) -> str:
    with tarfile.open(fileobj=io.BytesIO(package)) as files:
        def text(member: str) -> str:
            return files.extractfile(f"package/{member}").read().decode()
        # Maps are for who has the sources; a page that asks for one would need a network.
        code = re.sub(r"^//# sourceMappingURL=.*$", "", text(path), flags=re.MULTILINE).strip()
        licence = text("LICENSE").strip().replace("*/", "* /")
    # Inside a page the parser looks for these before the script is read.
    code = code.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return f"/*! {name} {version}, https://www.npmjs.com/package/{name}\n\n{licence}\n*/\n{code}\n"


def bundle(cache: pathlib.Path, output: pathlib.Path) -> int:
    scripts = []
    for name, version, path, digest in PACKAGES:
        package = cached(cache, name, version, digest)
        if package is None:
            return MISSING
        scripts.append(script_of(package, name, version, path))
    text = "".join(scripts)
    if not output.exists() or output.read_text() != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fetch", "bundle"])
    parser.add_argument("--cache", type=pathlib.Path, default=default_cache())
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    if options.what == "fetch":
        return fetch(options.cache)
    if options.output is None:
        parser.error("bundle needs --output")
    return bundle(options.cache, options.output)


if __name__ == "__main__":
    sys.exit(main())
