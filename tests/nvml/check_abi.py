#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds src/power/nvml_abi.h against NVIDIA's nvml.h, where one is at hand: sizes, offsets, numbers, functions.

    check_abi.py COMPILER SOURCE_FOLDER [nvml.h ...]

Without a header it looks for the package nvidia-nvml-dev of this Python and for a CUDA toolkit; ends with 77 (skipped)
when there is none. It also breaks the declarations one by one and makes sure that the comparison notices.
"""
import pathlib
import site
import subprocess
import sys
import tempfile

SKIPPED = 77
# What stands in nvml_abi.h, and something wrong to put there.
BREAKS = [
    ("kGpuIsLost = 15,", "kGpuIsLost = 99,"),
    ("kPowerInstant = 186,", "kPowerInstant = 187,"),
    ("kSwPowerCap = 0x4;", "kSwPowerCap = 0x8;"),
    ("X(nvmlDeviceGetPowerUsage, Return(Device device, std::uint32_t* power_mw))",
     "X(nvmlDeviceGetPowerUsage, Return(Device device, std::uint64_t* power_mw))"),
    ("X(nvmlDeviceResetGpuLockedClocks, Return(Device device))",
     "X(nvmlDeviceResetGpuLockedClocks, Return(Device device, std::uint32_t size))"),
    ("std::uint64_t free_bytes;\n  std::uint64_t used_bytes;", "std::uint64_t used_bytes;\n  std::uint64_t free_bytes;"),
    ("kBusIdBytes = 32;", "kBusIdBytes = 16;"),
]


def installed_headers():
    for folder in {*site.getsitepackages(), site.getusersitepackages()}:
        yield from sorted(pathlib.Path(folder).glob("nvidia/*/include/nvml.h"))
    yield from sorted(pathlib.Path("/usr/local").glob("cuda*/include/nvml.h"))
    yield from pathlib.Path("/usr/include").glob("nvml.h")


def compile_against(compiler, source, header, declarations):
    """The compiler's complaints about `declarations` (the text of nvml_abi.h); empty if it has none."""
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "power/nvml_abi.h"
        target.parent.mkdir()
        target.write_text(declarations)
        done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wno-deprecated-declarations",
                               "-isystem", str(header.parent), "-I", folder, str(source / "tests/nvml/abi_check.cpp")],
                              capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr or "the compiler failed"


def check(compiler, source, header):
    declarations = (source / "src/power/nvml_abi.h").read_text()
    complaints = compile_against(compiler, source, header, declarations)
    if complaints:
        print(f"{header}:\n{complaints}")
        return False
    for right, wrong in BREAKS:
        if right not in declarations:
            print(f"{pathlib.Path(__file__).name}: nvml_abi.h has no '{right}' to break")
            return False
        if not compile_against(compiler, source, header, declarations.replace(right, wrong)):
            print(f"{header}: '{wrong}' in place of '{right}' goes unnoticed")
            return False
    print(f"{header}: agrees; {len(BREAKS)} broken declarations noticed")
    return True


def main(compiler, source, *headers):
    found = [pathlib.Path(header) for header in headers] or list(installed_headers())
    if not found:
        print("skipped: no nvml.h here (pip install nvidia-nvml-dev-cu12 brings one)")
        return SKIPPED
    return 0 if all([check(compiler, pathlib.Path(source), header) for header in found]) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
