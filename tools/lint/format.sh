#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that all C++ sources are formatted; --write formats them.
set -euo pipefail
cd "$(dirname "$0")/../.."
mapfile -t files < <(git ls-files '*.h' '*.cpp')
if [ "${1:-}" = --write ]; then
  clang-format-14 -i "${files[@]}"
else
  clang-format-14 --dry-run --Werror "${files[@]}"
  echo "format: ${#files[@]} files are clean"
fi
