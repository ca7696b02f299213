#!/usr/bin/env python3
"""Checks the GPU catalogue: every file of data/gpus against the rules of data/gpus/README.md.

    tools/gpus/check.py [folder]

Prints one line a fault, "file: key: what is wrong", and exits with 1 if there is any.
"""

import re
import sys
import tomllib
from pathlib import Path

SCHEMA = "joulecast.gpu/1"
TEXT = "text"
COUNT = "count"
# Figure -> (least, greatest) plausible value; the key ends in the unit. Wide on purpose: these catch slips of a
# factor of 1000 or of a column, not wrong data sheets.
FIGURES = {
    "compute_capability": TEXT,
    "gfx_target": TEXT,
    "memory_type": TEXT,
    "sm_count": (1, 1000),
    "cuda_core_count": (64, 100_000),
    "base_clock_mhz": (100, 4000),
    "boost_clock_mhz": (300, 4000),
    "tensor_clock_mhz": (300, 4000),
    "memory_clock_mhz": (300, 20_000),
    "memory_gb": (1, 1000),
    "memory_total_mib": (900, 1_000_000),
    "memory_visible_mib": (900, 1_000_000),
    "memory_bandwidth_gb_per_s": (10, 50_000),
    "l2_cache_mib": (0.1, 1000),
    "shared_memory_per_sm_kib": (16, 1024),
    "power_limit_w": (5, 3000),
    "min_power_limit_w": (1, 3000),
    "max_power_limit_w": (5, 3000),
    "idle_power_w": (0.5, 500),
    "fp64_tflops": (0.001, 1000),
    "fp64_tensor_tflops": (1, 1000),
    "fp32_tensor_tflops": (1, 1000),
    "fp32_tflops": (0.1, 1000),
    "tf32_tflops": (1, 10_000),
    "fp16_tflops": (0.1, 20_000),
    "bf16_tflops": (1, 20_000),
    "fp8_tflops": (10, 40_000),
    "fp4_tflops": (100, 80_000),
    "int8_tops": (1, 40_000),
    "nvlink_gb_per_s": (20, 10_000),
    "infinity_fabric_gb_per_s": (20, 10_000),
    "pcie_generation": (1, 8),
    "release_year": (2007, 2040),
}
REQUIRED = {
    "sm_count", "cuda_core_count", "boost_clock_mhz", "memory_gb", "memory_type", "memory_bandwidth_gb_per_s",
    "l2_cache_mib", "shared_memory_per_sm_kib", "power_limit_w", "fp32_tflops", "release_year",
}
WHOLE = {"sm_count", "cuda_core_count", "pcie_generation", "release_year", "memory_total_mib", "memory_visible_mib"}
TOP = {"schema", "id", "name", "vendor", "architecture", "aliases", "unconfirmed", "figures", "sources", "notes", "mig"}
MIG_KEYS = {
    "profile", "compute_slices", "memory_slices", "memory_mib", "sm_count", "max_instances", "source", "unconfirmed",
}
MIG_REQUIRED = {"profile", "compute_slices", "memory_slices", "max_instances", "source"}
PROFILE = re.compile(r"^([1-7])g\.(\d+)gb$")
ID = re.compile(r"^[a-z0-9]+(-[a-z0-9]+)*$")
GIB_PER_GB = 1e9 / 2**30
FP32_TOLERANCE = 0.03


def normal_form(alias):
    """Two spellings are the same GPU when these are equal: letters and digits only, no vendor in front."""
    letters = re.sub(r"[^a-z0-9]", "", alias.lower())
    return re.sub(r"^(nvidia|amd)(?=.)", "", letters)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str) and value.strip() != ""


def check_head(gpu, stem):
    for key in sorted(set(gpu) - TOP):
        yield key, "unknown key"
    if gpu.get("schema") != SCHEMA:
        yield "schema", f"must be {SCHEMA!r}"
    if gpu.get("id") != stem or not ID.match(stem):
        yield "id", "must be the file's name: lower-case words joined by '-'"
    for key in ("name", "vendor", "architecture"):
        if not is_text(gpu.get(key)):
            yield key, "missing"
    aliases = gpu.get("aliases")
    if not isinstance(aliases, list) or not all(is_text(a) and a == a.lower() for a in aliases):
        yield "aliases", "must be a list of lower-case names"


def check_figure(key, value):
    if key not in FIGURES:
        yield key, "unknown figure (its unit belongs in the key)"
    elif FIGURES[key] == TEXT:
        if not is_text(value):
            yield key, "must be text"
    elif not is_number(value):
        yield key, "must be a number"
    else:
        least, greatest = FIGURES[key]
        if not least <= value <= greatest:
            yield key, f"{value} is outside {least} to {greatest}"
        if key in WHOLE and value != int(value):
            yield key, "must be whole"


def check_figures(gpu):
    figures = gpu.get("figures", {})
    for key in sorted(REQUIRED - set(figures)):
        yield key, "missing"
    if ("compute_capability" in figures) == ("gfx_target" in figures):
        yield "compute_capability", "exactly one of compute_capability and gfx_target must be given"
    for key, value in figures.items():
        yield from check_figure(key, value)


def check_sources(gpu):
    figures, sources = gpu.get("figures", {}), gpu.get("sources", {})
    for key in figures:
        if not is_text(sources.get(key, sources.get("default"))):
            yield key, "has no source"
        elif key not in sources and key not in gpu.get("unconfirmed", []):
            yield key, "is confirmed and so needs a source of its own"
    for key in sources:
        if key != "default" and key not in figures:
            yield key, "has a source but no figure"
    for key in gpu.get("unconfirmed", []):
        if key not in figures:
            yield key, "is listed as unconfirmed but is no figure"
    for key, text in gpu.get("notes", {}).items():
        if key != "general" and key not in figures:
            yield key, "has a note but no figure"
        if not is_text(text):
            yield key, "has an empty note"


def check_relations(gpu):
    figures, notes = gpu.get("figures", {}), gpu.get("notes", {})
    if any(True for key, value in figures.items() for _ in check_figure(key, value)):
        return  # reported already, and a zero or a text cannot be compared
    if all(k in figures for k in ("cuda_core_count", "boost_clock_mhz", "fp32_tflops")) and "fp32_tflops" not in notes:
        expected = 2e-6 * figures["cuda_core_count"] * figures["boost_clock_mhz"]
        if abs(figures["fp32_tflops"] / expected - 1) > FP32_TOLERANCE:
            yield "fp32_tflops", f"2 x cores x boost clock gives {expected:.2f}; say why in notes"
    for low, high in (
        ("base_clock_mhz", "boost_clock_mhz"),
        ("tensor_clock_mhz", "boost_clock_mhz"),
        ("idle_power_w", "power_limit_w"),
        ("min_power_limit_w", "power_limit_w"),
        ("power_limit_w", "max_power_limit_w"),
        ("memory_visible_mib", "memory_total_mib"),
        ("fp64_tflops", "fp32_tflops"),
        ("bf16_tflops", "fp8_tflops"),
    ):
        if low in figures and high in figures and figures[low] > figures[high]:
            yield low, f"is greater than {high}"
    if "sm_count" in figures and "cuda_core_count" in figures and figures["cuda_core_count"] % figures["sm_count"]:
        yield "cuda_core_count", "is no multiple of sm_count"
    if "memory_total_mib" in figures and "memory_gb" in figures:
        # Marketed sizes are 2^30 on some boards and 10^9 on others; ECC and firmware take up to a tenth.
        share = figures["memory_total_mib"] / 1024 / figures["memory_gb"]
        if not 0.9 * GIB_PER_GB <= share <= 1.05:
            yield "memory_total_mib", "does not fit memory_gb"


def check_profile(profile, figures):
    for key in sorted(MIG_REQUIRED - set(profile)):
        yield key, "missing"
    for key in sorted(set(profile) - MIG_KEYS):
        yield key, "unknown key"
    match = PROFILE.match(str(profile.get("profile")))
    if not match:
        yield "profile", "must read like 1g.5gb"
        return
    for key in ("compute_slices", "memory_slices", "memory_mib", "sm_count", "max_instances"):
        if key in profile and (not isinstance(profile[key], int) or profile[key] < 1):
            yield key, "must be a whole number above 0"
            return
    if profile.get("compute_slices") != int(match[1]):
        yield "compute_slices", "differs from the profile's name"
    named_gb = int(match[2])
    if "memory_mib" in profile and not 0.8 * named_gb * GIB_PER_GB <= profile["memory_mib"] / 1024 <= named_gb:
        yield "memory_mib", "does not fit the profile's name"
    for key, whole in (("sm_count", "sm_count"), ("memory_mib", "memory_total_mib")):
        if key in profile and is_number(figures.get(whole)):
            instances = profile.get("max_instances", 1)
            if profile[key] * instances > figures[whole]:
                yield key, f"{instances} instances exceed the GPU's {whole}"


def check_mig(gpu):
    figures, profiles = gpu.get("figures", {}), gpu.get("mig", [])
    names = [p.get("profile") for p in profiles]
    if len(set(names)) != len(names):
        yield "mig", "a profile appears twice"
    for profile in profiles:
        for key, fault in check_profile(profile, figures):
            yield f"mig.{profile.get('profile')}.{key}", fault
    if profiles and is_number(figures.get("memory_gb")):
        largest = max((int(m[2]) for n in names if (m := PROFILE.match(str(n)))), default=0)
        if not 0.85 * figures["memory_gb"] <= largest <= 1.05 * figures["memory_gb"]:
            yield "mig", "the largest profile does not fit memory_gb"


def check_shape(gpu):
    for key, kind in (("figures", dict), ("sources", dict), ("notes", dict), ("mig", list), ("unconfirmed", list),
                      ("aliases", list)):
        if not isinstance(gpu.get(key, kind()), kind):
            yield key, "must be a table" if kind is dict else "must be a list"


def check_gpu(gpu, stem):
    misshapen = list(check_shape(gpu))
    if misshapen:
        yield from misshapen
        return
    for check in (lambda: check_head(gpu, stem), lambda: check_figures(gpu), lambda: check_sources(gpu),
                  lambda: check_relations(gpu), lambda: check_mig(gpu)):
        yield from check()


def check_names(gpus):
    """Each id, product name and alias leads to one file."""
    owners = {}
    for stem, gpu in gpus.items():
        for name in [stem, gpu.get("name", stem), *gpu.get("aliases", [])]:
            owner = owners.setdefault(normal_form(str(name)), stem)
            if owner != stem:
                yield stem, "aliases", f"{name!r} also belongs to {owner}"


def check_folder(folder):
    gpus, faults = {}, []
    for path in sorted(folder.glob("*.toml")):
        try:
            gpus[path.stem] = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            faults.append((path.stem, "file", str(error)))
    for stem, gpu in gpus.items():
        faults += [(stem, key, fault) for key, fault in check_gpu(gpu, stem)]
    faults += check_names(gpus)
    if not gpus:
        faults.append(("*", "file", f"no GPU in {folder}"))
    return gpus, faults


def main(arguments):
    default = Path(__file__).resolve().parents[2] / "data" / "gpus"
    gpus, faults = check_folder(Path(arguments[0]) if arguments else default)
    for stem, key, fault in faults:
        print(f"{stem}.toml: {key}: {fault}")
    if not faults:
        figures = sum(len(gpu["figures"]) for gpu in gpus.values())
        open_figures = sum(len(gpu.get("unconfirmed", [])) for gpu in gpus.values())
        profiles = sum(len(gpu.get("mig", [])) for gpu in gpus.values())
        print(f"{len(gpus)} GPUs, {figures} figures ({open_figures} unconfirmed), {profiles} MIG profiles")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
