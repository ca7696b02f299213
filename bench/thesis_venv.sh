#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a Python environment for bench/thesis_way.py: bench/thesis_venv.sh FOLDER
set -eu
python3 -m venv "$1"
"$1/bin/pip" install --quiet --disable-pip-version-check scikit-learn
