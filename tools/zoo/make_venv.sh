#!/bin/sh
# Makes the virtual environment of the zoo:  make_venv.sh DIRECTORY [PYTHON]
# Afterwards DIRECTORY/bin/python -m zoo ... works from any folder.
set -eu
venv=${1:?usage: make_venv.sh DIRECTORY [PYTHON]}
python=${2:-python3}
here=$(cd "$(dirname "$0")" && pwd)

"$python" -m venv "$venv"
# A CPU build of torch is enough, and much smaller. Where the registry only has the CUDA build, that one works as well.
"$venv/bin/pip" install "torch==2.13.0"
"$venv/bin/pip" install --no-deps "torchvision==0.28.0" "timm==1.0.31"
"$venv/bin/pip" install -r "$here/requirements.txt"
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
dirname "$here" > "$site/zoo.pth"
"$venv/bin/python" -c 'import torch; print("torch", torch.__version__)'
