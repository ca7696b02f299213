#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed as instruction counts and as ratios within one run: bench/run.sh BUILD_FOLDER
# JOULECAST_FULL   a ResNet-50 ONNX file with its weights inside (tools/zoo/make_full.sh makes one)
# JOULECAST_BIG    an ONNX file of about 2 GB (likewise)
# PYTHON           a Python that has onnx
# NVML_PYTHON    a Python that has nvidia-ml-py
# THESIS_PYTHON    a Python that has scikit-learn (bench/thesis_venv.sh makes one)
# THESIS_TABLE     heidelberg_operations.csv, for its forests; else they are fitted on made-up rows
set -euo pipefail
build=$1
root=$(cd "$(dirname "$0")/.." && pwd)
full=${JOULECAST_FULL:-$root/examples/resnet50.onnx}
pack=$root/data/packs/joulecast.jcpack
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

instructions() {
  valgrind --tool=callgrind --callgrind-out-file="$work/out" "$@" 2>&1 >/dev/null | awk '/refs/ {gsub(",", "", $NF); print $NF}'
}
milliseconds() {  # the best of 20 runs
  local best=999999999999 begin end
  for _ in $(seq 20); do
    begin=$(date +%s%N); "$@" >/dev/null 2>&1; end=$(date +%s%N)
    [ $((end - begin)) -lt "$best" ] && best=$((end - begin))
  done
  awk -v ns="$best" 'BEGIN {printf "%.2f", ns / 1e6}'
}

echo "machine: $(uname -m), $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | xargs), $(nproc) cores"
echo "model:   $(basename "$full"), $(stat -c %s "$full") bytes"
cold=$(instructions "$build/joulecast" predict "$full" --gpu a30)
echo "cold predict: $cold instructions (goal: at most 50000000)"
for mode in prepared whole; do
  few=$(instructions "$build/bench_warm_predict" "$full" "$pack" 12 $mode)
  many=$(instructions "$build/bench_warm_predict" "$full" "$pack" 132 $mode)
  echo "warm predict, $mode workload: $(((many - few) / 120)) instructions (goal: at most 150000)"
done
difference() {  # of two counts of instructions, over so many repeats: FEW MANY REPEATS
  echo $((($2 - $1) / $3))
}
few=$(instructions "$build/bench_pack_load" "$pack" 2)
many=$(instructions "$build/bench_pack_load" "$pack" 12)
echo "loading the pack: $(difference "$few" "$many" 10) instructions (goal: at most 5000000)"
sweep=("$build/bench_setting_sweep" "$full" "$pack")
few=$(instructions "${sweep[@]}" 1 40 1)
many=$(instructions "${sweep[@]}" 11 40 1)
echo "setting point, in a sweep of 40 clocks of a GPU: $(difference "$few" "$many" 400) instructions (goal: at most 60000)"
few=$(instructions "${sweep[@]}" 1 10 1)
many=$(instructions "${sweep[@]}" 1 110 1)
echo "a point more of the same sweep: $(difference "$few" "$many" 100) instructions"
echo "sweep of 60 GPUs, 40 clocks, 8 batches on one core: $(taskset -c 0 "${sweep[@]}" 60 40 8) (goal: well under 1 s)"
ours=$(milliseconds "$build/joulecast" predict "$full" --gpu a30)
echo "cold predict: $ours ms, best of 20"
if "${PYTHON:-python3}" -c 'import onnx' 2>/dev/null; then
  theirs=$(milliseconds "${PYTHON:-python3}" -c "import onnx; onnx.load('$full')")
  echo "python onnx.load: $theirs ms, $(awk -v a="$theirs" -v b="$ours" 'BEGIN {printf "%.0f", a / b}') times ours (goal: at least 100)"
else
  echo "python onnx.load: skipped, set PYTHON to one that has onnx"
fi
if [ -n "${JOULECAST_BIG:-}" ]; then
  "$build/bench_touched_bytes" "$JOULECAST_BIG"
else
  echo "2 GB import: skipped, set JOULECAST_BIG"
fi
load=$("$build/bench_warm_predict" "$full" "$pack" 0 prepared >/dev/null; milliseconds "$build/bench_warm_predict" "$full" "$pack" 0 prepared)
for mode in prepared whole; do
  begin=$(date +%s%N); "$build/bench_warm_predict" "$full" "$pack" 20000 $mode >/dev/null; end=$(date +%s%N)
  warm=$(awk -v ns=$((end - begin)) 'BEGIN {printf "%.1f", ns / 20000 / 1000}')
  echo "ours: $load ms to start, load pack, import and lower; $warm us a prediction, $mode workload"
done
echo "recording of 8 GPUs at 50 Hz, an hour:"
"$build/bench_recording" write "$work/run.jcrun" 3600
"$build/bench_recording" read "$work/run.jcrun"
rm "$work/run.jcrun"
thesis=${THESIS_PYTHON:-python3}
if "$thesis" -c 'import sklearn' 2>/dev/null; then
  # Its times say what a process does; its start and Python's imports stand in the last line.
  echo "the thesis' way: $("$thesis" "$root/bench/thesis_way.py" fit "$work/forests" ${THESIS_TABLE:+"$THESIS_TABLE"})"
  best() { for _ in $(seq 5); do "$thesis" "$root/bench/thesis_way.py" predict "$work/forests"; done | sort -n -k "$1,$1" | awk -v c="$1" 'NR == 1 {print $c}'; }
  theirs=("$(best 1)" "$(best 2)" "$(best 3)")
  echo "the thesis' way: ${theirs[0]} ms to load its forests, ${theirs[1]} ms to prepare, ${theirs[2]} ms to predict"
  echo "the same answer again: $(awk -v a="${theirs[1]}" -v b="${theirs[2]}" -v w="$warm" 'BEGIN {printf "%.0f", (a + b) * 1000 / w}') times ours, whole workload"
  begin=$(date +%s%N); "$thesis" "$root/bench/thesis_way.py" predict "$work/forests" >/dev/null; end=$(date +%s%N)
  echo "the first answer of a process: $(awk -v ns=$((end - begin)) 'BEGIN {printf "%.0f", ns / 1e6}') ms, $(awk -v ns=$((end - begin)) -v b="$ours" 'BEGIN {printf "%.0f", ns / 1e6 / b}') times ours"
else
  echo "the thesis' way: skipped, set THESIS_PYTHON to a Python that has scikit-learn (bench/thesis_venv.sh)"
fi
echo "the thesis' own figures: 30 s to load its models, 0.5 s to prepare, 30 ms to predict"
if "${NVML_PYTHON:-python3}" -c 'import pynvml' 2>/dev/null; then
  "${NVML_PYTHON:-python3}" "$root/bench/sampler_cost.py" "$build"
else
  echo "sampling beside pynvml: skipped, set NVML_PYTHON to one that has nvidia-ml-py"
fi
