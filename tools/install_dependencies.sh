#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages the build needs, and gets what draws the charts of reports, if any is missing. Silent and
# offline when none is.
set -euo pipefail

packages=(
  ca-certificates
  cmake g++ make ninja-build python3
  libcli11-dev libexpected-dev libfmt-dev libgtest-dev libbenchmark-dev libprotozero-dev libtomlplusplus-dev
  libdeflate-dev libxgboost-dev libyaml-cpp-dev nlohmann-json3-dev rapidjson-dev zlib1g-dev
  libpqxx-dev libsqlite3-dev libxxhash-dev pkg-config postgresql
  munge slurm-client slurmctld slurmd
  clang-14 clang-format-14 clang-tidy-14 libclang-rt-14-dev
)

install() {
  echo "installing: $*" >&2
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "not root and no sudo: install the packages above yourself" >&2; exit 1; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@"
}

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] || install "${missing[@]}"

# Everything else is built without it, and `joulecast report` says that it lacks.
"$(dirname "$0")/charts/library.py" fetch || echo "going on without the charts of reports" >&2
