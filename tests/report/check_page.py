#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens reports of runs against the stand-in of NVIDIA's library in a browser: every chart draws, nothing complains,
nothing is loaded, and hostile names stay text. Pictures are left in PICTURES.

    check_page.py BUILD_FOLDER SOURCE_FOLDER PICTURES

Skipped (77) where there is no Chromium, or the program was built without what draws charts.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import browser

SKIPPED = 77
READY = "document.documentElement.dataset.charts"
# Would be seen if any of it were taken for markup or a script.
HOSTILE = "</script><script>window.pwned=1</script><img src=http://127.0.0.1:9/x onerror='window.pwned=2'>\u2028"
COMMAND = """
J="$1"
"$J" mark begin training
for i in 1 2 3 4 5 6; do
  "$J" mark begin epoch --with index=$i; sleep 0.5; "$J" mark end epoch
  "$J" mark begin validation; sleep 0.2; "$J" mark end validation
done
"$J" mark checkpoint
"$J" mark begin "$2" || true; sleep 0.1; "$J" mark end "$2" || true
"$J" mark end training
"""
# Two GPUs of which the limit holds down what they would draw, and that move data.
CAPPED = """driver = "550.54.15"

[[gpu]]
count = 2
name = "NVIDIA H100 80GB HBM3"
architecture = "hopper"
memory_gib = 80
default_limit_w = 500
min_limit_w = 200
max_limit_w = 700
idle_w = 70
pcie_kb_per_s = 7000000
load = {high_w = 650, low_w = 350, period_ms = 2000, duty = 0.5}
"""


def measure(build, scenario, output, *words):
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{build}/nvml_standin", JOULECAST_STANDIN=str(scenario))
    for name in ["CUDA_VISIBLE_DEVICES", "RANK", "WORLD_SIZE"]:
        environment.pop(name, None)
    subprocess.run([f"{build}/joulecast", "measure", "-q", "-o", output, *words], env=environment, check=True,
                   timeout=120, stdout=subprocess.DEVNULL)


PLAN = """
command = "sleep 0.6; echo '<b>{n}'"
power_limits_w = [300, 400, 500, 600, "found"]
repetitions = 2
baseline_s = 0.3
output = "limits"
[parameters]
n = [1]
"""
LOADED = "allow_set = true\n[[gpu]]\nload = {constant_w = 650}\n"


def sweep(build, folder):
    """A folder of runs over power limits."""
    (folder / "plan.toml").write_text(PLAN)
    (folder / "loaded.toml").write_text(LOADED)
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{build}/nvml_standin", JOULECAST_STANDIN=f"{folder}/loaded.toml",
                       JOULECAST_STANDIN_STATE=f"{folder}/state", XDG_STATE_HOME=f"{folder}/home")
    environment.pop("CUDA_VISIBLE_DEVICES", None)
    subprocess.run([f"{build}/joulecast", "sweep", "plan.toml"], cwd=folder, env=environment, check=True, timeout=120,
                   capture_output=True)
    return folder / "limits"


def report(build, output, *runs):
    done = subprocess.run([f"{build}/joulecast", "report", *runs, "-o", output], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"joulecast report: {done.stderr}")


def check(page: browser.Browser, path: pathlib.Path, least: int, picture: pathlib.Path, kinds: tuple[str, ...] = (), **how):
    """The page drew all its charts, at least that many and of those kinds, and asked nobody for anything."""
    page.open(path, READY, **how)
    drawn, total = map(int, page.value(READY).split(" of "))
    places = page.value("[...document.querySelectorAll('.chart')].map(p => [p.dataset.kind, Number(p.dataset.drawn || 0)])")
    page.picture(picture)
    errors = [f"{kind}: {marks} marks" for kind, marks in places if marks == 0]
    if drawn != total or total < least or len(places) != total:
        errors.append(f"{drawn} of {total} charts, {len(places)} places; at least {least} are expected")
    errors += [f"no chart of {kind}" for kind in kinds if kind not in dict(places)]
    # The page itself, and pictures that it holds.
    errors += [f"asked for {url}" for url in page.requests if not url.startswith(("data:", "blob:")) and url != path.resolve().as_uri()]
    errors += [f"complained: {text}" for text in page.complaints]
    if page.value("window.pwned"):
        errors.append("a hostile name was run")
    if page.value("document.documentElement.scrollWidth > innerWidth + 1"):
        errors.append(f"the page is wider than a screen of {how.get('width', 1200)}")
    if how.get("width", 1200) >= 1200 and how.get("media") != "print":
        cut = page.value("[...document.querySelectorAll('.scroll')].filter(p => p.scrollWidth > p.clientWidth + 1)"
                         ".map(p => p.querySelector('th').textContent)")
        errors += [f"the table of {first} is cut" for first in cut]
    narrow = page.value("[...document.querySelectorAll('.chart')].filter(p => [...p.querySelectorAll('svg text')].some(t => "
                        "t.getBoundingClientRect().right > p.getBoundingClientRect().right + 4)).map(p => p.dataset.kind)")
    errors += [f"{kind} is wider than its place" for kind in narrow]
    if errors:
        sys.exit(f"{path.name}, {picture.name}:\n  " + "\n  ".join(errors))
    print(f"{picture.name}: {total} charts, {sum(marks for _, marks in places)} marks, {path.stat().st_size} bytes")


def main(build, source, pictures) -> int:
    build, source, pictures = (pathlib.Path(p).resolve() for p in (build, source, pictures))
    program = browser.find()
    if program is None or not (build / "charts.js").exists():
        print("skipped: " + ("no Chromium" if program is None else "built without what draws charts"))
        return SKIPPED
    pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        eight = source / "tests/nvml/scenarios/eight_h100.toml"
        (folder / "capped.toml").write_text(CAPPED)
        measure(build, eight, folder / "eight.jcrun", "--", "sh", "-c", COMMAND, HOSTILE, f"{build}/joulecast",
                "</script>\u2028<b>")
        measure(build, folder / "capped.toml", folder / "capped.jcrun", "--", "sleep", "7")
        measure(build, eight, folder / "one.jcrun", "--gpu", "0", "-r", "4", "--baseline", "1", "--", "sleep", "1")
        report(build, folder / "eight.html", folder / "eight.jcrun")
        report(build, folder / "capped.html", folder / "capped.jcrun")
        report(build, folder / "both.html", folder / "one.jcrun", folder / "eight.jcrun")
        report(build, folder / "sweep.html", sweep(build, folder))
        page = browser.Browser(program)
        try:
            check(page, folder / "eight.html", 12, pictures / "eight_light.png")
            check(page, folder / "eight.html", 12, pictures / "eight_dark.png", dark=True)
            check(page, folder / "eight.html", 12, pictures / "eight_phone.png", width=390, height=800, mobile=True)
            check(page, folder / "eight.html", 12, pictures / "eight_print.png", media="print", dark=True, width=800)
            check(page, folder / "capped.html", 10, pictures / "capped.png", ("event-reasons", "performance-state", "pcie"))
            check(page, folder / "both.html", 18, pictures / "both.png")
            check(page, folder / "sweep.html", 3, pictures / "sweep.png")
            check(page, folder / "sweep.html", 3, pictures / "sweep_phone.png", width=390, height=800, mobile=True)
        finally:
            page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
