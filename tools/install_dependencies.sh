#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages the build needs, if any is missing. Silent and offline when none is.
set -euo pipefail

packages=(
  cmake g++ make ninja-build python3
  libcli11-dev libexpected-dev libfmt-dev libgtest-dev libbenchmark-dev libprotozero-dev libtomlplusplus-dev
  libxgboost-dev nlohmann-json3-dev zlib1g-dev
  libpqxx-dev libsqlite3-dev libxxhash-dev pkg-config postgresql
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "installing: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "not root and no sudo: install the packages above yourself" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
