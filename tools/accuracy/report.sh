#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the tables of docs/accuracy.md.
#   tools/accuracy/report.sh JOULECAST DATA GRAPHS WORK
# JOULECAST: the program with joulecast-train beside it. DATA: folder of published tables. GRAPHS: folder with a graph a
# network. WORK: folder for packs and rows; packs found there are used again, so begin with an empty one.
set -eu
if [ $# -ne 4 ]; then
  sed -n 's/^# \{0,1\}//p' "$0" | tail -n +2
  exit 2
fi
tools=$(dirname "$0")
mkdir -p "$4"
python3 "$tools/families.py" --joulecast "$1" --data "$2" --graphs "$3" --work "$4" \
  --calibration "$4/calibration.json" --report "$4/families.json"
python3 "$tools/tables.py" "$tools/../../data/packs/joulecast.jcpack" "$4/families.json"
