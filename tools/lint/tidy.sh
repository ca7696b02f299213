#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the library, the programs, the benches and the tools: over what has changed since the commit in
# tidy_base, at which all of it was clean, and for each changed header over a file that includes it. With --all over everything, with
# other arguments over these files. Tests are left out: GoogleTest's macros take as long as everything else together, and
# what they expand to is not ours.
set -euo pipefail
cd "$(dirname "$0")/../.."
# Without precompiled headers: a file includes what it uses.
cmake --preset tidy >/dev/null

sources() { grep -v '_test\.cpp$' | grep -v '^src/profile/runners/' || true; }

changed() {
  local header include users
  git diff --name-only --diff-filter=d "$1" -- 'src/*.cpp' 'bench/*.cpp' 'tools/*.cpp' | sources
  git diff --name-only --diff-filter=d "$1" -- 'src/*.h' 'include/*.h' | while read -r header; do
    include=${header#src/}
    users=$(git grep -lF "\"${include#include/}\"" -- 'src/*.cpp' 'bench/*.cpp' 'tools/*.cpp' | sources)
    [ -z "$users" ] || echo "${users%%$'\n'*}"
  done
}

base=$(cat tools/lint/tidy_base)
if [ $# -gt 0 ] && [ "$1" != --all ]; then
  files=("$@")
elif [ $# -eq 0 ] && git cat-file -e "$base^{commit}" 2>/dev/null; then
  mapfile -t files < <(changed "$base" | sort -u)
else
  mapfile -t files < <(git ls-files 'src/*.cpp' 'bench/*.cpp' 'tools/*.cpp' | sources)
fi
# The commands are GCC's: clang does not know all of its flags, and warnings of the compiler are the build's business.
# clang-tidy says "N warnings generated" of everything it suppressed.
[ ${#files[@]} -eq 0 ] || printf '%s\n' "${files[@]}" |
  xargs -P "$(nproc)" -n 1 clang-tidy-14 --quiet --warnings-as-errors='*' -p build/tidy \
    --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error 2> >(grep -v 'warnings\? generated' >&2 || true)
echo "tidy: ${#files[@]} files are clean"
