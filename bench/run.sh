#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed as instruction counts and as ratios within one run: bench/run.sh BUILD_FOLDER
# JOULECAST_FULL   a ResNet-50 ONNX file with its weights inside (tools/zoo/make_full.sh makes one)
# JOULECAST_BIG    an ONNX file of about 2 GB (likewise)
# PYTHON           a Python that has onnx
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
echo "beside these the thesis' predictor: 30 s to load its models, 0.5 s to prepare, 30 ms to predict"
load=$("$build/bench_warm_predict" "$full" "$pack" 0 prepared >/dev/null; milliseconds "$build/bench_warm_predict" "$full" "$pack" 0 prepared)
for mode in prepared whole; do
  begin=$(date +%s%N); "$build/bench_warm_predict" "$full" "$pack" 20000 $mode >/dev/null; end=$(date +%s%N)
  echo "ours: $load ms to start, load pack, import and lower; $(awk -v ns=$((end - begin)) 'BEGIN {printf "%.1f", ns / 20000 / 1000}') us a prediction, $mode workload"
done
