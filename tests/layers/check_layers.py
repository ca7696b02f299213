#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a source includes something of a layer above its own, and when two headers define a type of the same name,
which no program that has both may: the architecture as a test."""
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
    ["c"],
]
# Public headers belong to a part too.
PUBLIC = {
    "marks.h": "marks", "units.h": "base", "result.h": "base", "inline_vector.h": "base",
    "tensor.h": "graph", "operators.h": "graph", "graph.h": "graph", "cost.h": "graph", "passes.h": "graph",
    "workload.h": "graph", "gpu.h": "gpu", "import.h": "import", "predict.h": "predict", "c.h": "c",
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def part_of(path: str) -> str | None:
    """The part an include path or a source path belongs to."""
    if path.startswith("joulecast/"):
        return PUBLIC.get(path.removeprefix("joulecast/"), "?" + path)
    return path.split("/")[0] if "/" in path else None


def types_twice(headers: list[tuple[str, str]]) -> list[str]:
    """Of (name, text): where a type of the same name in the same namespace has been defined before."""
    errors, seen = [], {}
    for name, text in headers:
        namespace = ""
        for line in text.splitlines():
            if opened := re.match(r"namespace ([\w:]+) {", line):
                namespace = opened[1]
            elif defined := re.match(r"(?:struct|class|enum class) (\w+)\b[^;]*$", line):
                first = seen.setdefault((namespace, defined[1]), name)
                if first != name:
                    errors.append(f"{name}: {namespace}::{defined[1]} is also in {first}")
    return errors


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
    # A runner is a program of its own, which shares no code.
    headers = [(path.relative_to(root).as_posix(), path.read_text())
               for path in sources if path.suffix == ".h" and "runners" not in path.parts]
    errors += types_twice(headers)
    print("\n".join(errors) or f"{len(sources)} files keep to the layers")
    return 1 if errors or not sources else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
