#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for a number of seconds under address and undefined sanitizers: fuzz.sh [SECONDS] [TARGET...]
# New inputs are kept in build/fuzz/corpus; the seeds are only read.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-20}
shift || true
cmake --preset fuzz >/dev/null
cmake --build build/fuzz
if [ $# -gt 0 ]; then targets=("$@"); else mapfile -t targets < <(cd build/fuzz && ls ./*_fuzz | sed 's|^\./||'); fi
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  mapfile -t seeds <"fuzz/seeds/$target.txt"
  echo "== $target for $seconds s"
  found=0
  "build/fuzz/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -max_len=4194304 -print_final_stats=1 \
    "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1 || found=$?
  grep -E 'stat::number_of_executed_units|stat::peak_rss_mb|ERROR|SUMMARY|Test unit' "$corpus.log" || true
  [ "$found" -eq 0 ] || { echo "$target found something: $corpus.log" >&2; exit 1; }
done
