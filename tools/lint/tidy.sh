#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the library, the programs and the benches. With arguments: only over these files. Tests are left out:
# GoogleTest's macros take as long as everything else together, and what they expand to is not ours.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -f build/release/compile_commands.json ] || cmake --preset release >/dev/null
if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <(git ls-files 'src/*.cpp' 'bench/*.cpp' | grep -v '_test\.cpp$' | grep -v '^src/profile/runners/')
fi
# The commands are GCC's: clang does not know all of its flags, and warnings of the compiler are the build's business.
# clang-tidy says "N warnings generated" of everything it suppressed.
printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 1 clang-tidy-14 --quiet --warnings-as-errors='*' -p build/release \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error 2> >(grep -v 'warnings\? generated' >&2 || true)
echo "tidy: ${#files[@]} files are clean"
