#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes docs/accuracy.md and its charts: accuracy.sh [JOULECAST]
# From docs/accuracy/*.json; with DATA (folder of published tables) and GRAPHS (folder with a graph of every network as
# MODEL.onnx or MODEL_SIZE.onnx; graphs.py makes it) in the environment these are measured first, which takes about half
# an hour of training.
# The learning curve (learning_curve.py) is left as it is.
# WORK (default build/accuracy) keeps the packs trained on the way; packs found there are used again, so remove it when
# the trainer has changed. The intervals' factors land in WORK/calibration.json: train the shipped pack with them, and then
# let networks correct it: levels.py --ship data/packs/joulecast.jcpack. Factors for other people's benchmarks are found
# with that pack and added to the file, from where `joulecast train --calibrate --calibration FILE` brings them into it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=tools/accuracy
program=${1:-build/release/joulecast}
work=${WORK:-build/accuracy}
figures=docs/accuracy
mkdir -p "$work" "$figures"

if [ -n "${DATA:-}" ]; then
  if [ -z "${GRAPHS:-}" ]; then
    echo "accuracy.sh: DATA wants GRAPHS, a folder with a graph of every network" >&2
    exit 2
  fi
  python3 $tools/families.py --joulecast "$program" --data "$DATA" --graphs "$GRAPHS" --work "$work" \
    --calibration "$work/calibration.json" --out "$figures"
  python3 $tools/published.py --joulecast "$program" --data "$DATA" --graphs "$GRAPHS" --work "$work" \
    --out "$figures/tables.json"
  $tools/elsewhere.py --joulecast "$program" --data "$DATA" --calibration "$work/calibration.json" \
    --out "$figures/elsewhere.json"
  $tools/levels.py --joulecast "$program" --data "$DATA" --graphs "$GRAPHS" --out "$figures/levels.json"
  "$program" train --protocol thesis --estimator all --json "$DATA/operations/heidelberg_operations.csv" \
    > "$figures/thesis.json.new"
  mv "$figures/thesis.json.new" "$figures/thesis.json"
  $tools/calibrated.py --joulecast "$program" --data "$DATA" --work "$work" --page docs/howto/add-your-gpu.md
  $tools/octave.py --joulecast "$program" --data "$DATA" --work "$work/octave" --out "$figures/octave.json"
  $tools/limits.py --joulecast "$program" --data "$DATA" --out "$figures/limits.json"
  $tools/maxq.py --joulecast "$program" --data "$DATA" --out "$figures/maxq.json"
  $tools/laptop.py --joulecast "$program" --data "$DATA" --out "$figures/laptop.json"
  tools/measured/families.py "$program" data/measured/xeon-1-core.{csv,toml} "$GRAPHS" "$figures/measured.json"
  $tools/clocks.py examples/*.onnx --joulecast "$program" --data "$DATA" --graphs "$GRAPHS" --out "$figures/clocks.json"
  printf '{\n "date": "%s",\n "machine": "%s, %s cores, %s"\n}\n' "$(date -I)" \
    "$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" \
    "$(c++ --version | head -1)" > "$figures/made.json"
fi

python=build/charts/bin/python
if [ ! -x $python ] || ! $python -c 'import vl_convert' 2> /dev/null; then
  python3 -m venv build/charts
  $python -m pip install --quiet --requirement $tools/requirements.txt
fi
python3 $tools/page.py
$python $tools/charts.py
