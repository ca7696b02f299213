#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a source includes something of a layer above its own: the architecture as a test."""
import pathlib
import re
import sys

# Lowest first; parts on one line may not include each other.
LAYERS = [
    ["marks"],
    ["base"],
    ["graph", "gpu", "series"],
    ["import", "dataset", "recording"],
    ["predict", "store", "power", "analysis"],
    ["fit", "evaluate", "measure"],
    ["report", "profile"],
    ["cli"],
]
# Public headers belong to a part too.
PUBLIC = {
    "marks.h": "marks", "units.h": "base", "result.h": "base", "inline_vector.h": "base",
    "tensor.h": "graph", "operators.h": "graph", "graph.h": "graph", "cost.h": "graph", "passes.h": "graph",
    "workload.h": "graph", "gpu.h": "gpu", "import.h": "import", "predict.h": "predict",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def part_of(path: str) -> str | None:
    """The part an include path or a source path belongs to."""
    if path.startswith("joulecast/"):
        return PUBLIC.get(path.removeprefix("joulecast/"), "?" + path)
    return path.split("/")[0] if "/" in path else None


def main(root: pathlib.Path) -> int:
    rank = {part: level for level, parts in enumerate(LAYERS) for part in parts}
    errors = []
    sources = sorted(root.glob("src/**/*.h")) + sorted(root.glob("src/**/*.cpp")) + sorted(root.glob("src/**/*.c")) + sorted(root.glob("include/joulecast/*.h"))
    for source in sources:
        name = source.relative_to(root).as_posix()
        own = part_of(name.removeprefix("src/").removeprefix("include/"))
        for include in INCLUDE.findall(source.read_text()):
            other = part_of(include)
            if other is None or other == own:
                continue
            if other not in rank or own not in rank:
                errors.append(f"{name}: '{include}' is of no known layer; add it to {pathlib.Path(__file__).name}")
            elif rank[other] >= rank[own]:
                errors.append(f"{name}: {own} may not include '{include}' of {other}")
    print("\n".join(errors) or f"{len(sources)} files keep to the layers")
    return 1 if errors or not sources else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
