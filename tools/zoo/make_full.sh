#!/bin/sh
# Makes two files with their weights inside, for benchmarks of reading:  make_full.sh PYTHON DIRECTORY
#   resnet50_full.onnx (102 MB) and big_2gb.onnx (a GPT-2 with 498 million parameters, 1.99 GB)
set -eu
python=${1:?usage: make_full.sh PYTHON DIRECTORY}
out=${2:?usage: make_full.sh PYTHON DIRECTORY}

export_full() {
    "$python" -m zoo export "$1" --exporter torchscript --keep-weights --no-references --timeout 1200 -o "$out/exported"
    mv "$out/exported/torchscript/$2.onnx" "$out/$3.onnx"
}

export_full torchvision:resnet50 torchvision_resnet50 resnet50_full
export_full hf:gpt2_498m hf_gpt2_498m big_2gb
rm -r "$out/exported"
ls -l "$out"
