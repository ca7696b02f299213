#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over our sources, those of the tests too. With arguments: only over these files.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -f build/release/compile_commands.json ] || cmake --preset release >/dev/null
if [ $# -gt 0 ]; then files=("$@"); else mapfile -t files < <(git ls-files 'src/*.cpp' 'bench/*.cpp'); fi
printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet --warnings-as-errors='*' -p build/release --extra-arg=-Wno-unknown-warning-option
echo "tidy: ${#files[@]} files are clean"
