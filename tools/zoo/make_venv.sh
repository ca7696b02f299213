#!/bin/sh
# Makes a virtual environment of the zoo:  make_venv.sh DIRECTORY [torch|tensorflow|paddle] [PYTHON]
# Afterwards DIRECTORY/bin/python -m zoo ... works from any folder. Each converter wants its own environment.
set -eu
venv=${1:?usage: make_venv.sh DIRECTORY [torch|tensorflow|paddle] [PYTHON]}
kind=${2:-torch}
python=${3:-python3}
here=$(cd "$(dirname "$0")" && pwd)

"$python" -m venv "$venv"
pip="$venv/bin/pip"
# A CPU build of torch is enough, and much smaller. Where the registry only has the CUDA build, that one works as well.
"$pip" install "torch==2.13.0"
case $kind in
torch)
    # Without dependencies, because these would replace the CPU build of torch by a CUDA one.
    "$pip" install --no-deps "torchvision==0.28.0" "timm==1.0.31"
    "$pip" install -r "$here/requirements.txt" ;;
tensorflow | paddle)
    "$pip" install -r "$here/requirements-$kind.txt" ;;
*)
    echo "make_venv.sh: '$kind' is none of torch, tensorflow, paddle" >&2
    exit 2 ;;
esac
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
dirname "$here" > "$site/zoo.pth"
"$venv/bin/python" -c 'import torch; print("torch", torch.__version__)'
