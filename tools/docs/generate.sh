#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rewrites what documents take from the program and the sources: generate.sh PROGRAM. Tests find what is stale.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${1:-build/release/joulecast}
python3 tests/cli/gpu_page.py --rewrite "$program" docs/gpus.md
[ ! -f tools/docs/operators.py ] || python3 tools/docs/operators.py
python3 tools/docs/coverage.py
python3 tests/docs/check_docs.py --rewrite . "$program"
