#!/bin/sh
# Writes the networks of examples/ and examples/reference/ anew:  make_examples.sh PYTHON
set -eu
python=${1:?usage: make_examples.sh PYTHON}
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

example() { # NETWORK EXPORTER NAME
    "$python" -m zoo export "$1" --exporter "$2" -o "$work"
    from="$work/$2/$(echo "$1" | tr : _)"
    cp "$from.onnx" "$examples/$3.onnx"
    cp "$from.ref.json" "$examples/reference/$3.ref.json"
    cp "$from.shapes.json.gz" "$examples/reference/$3.shapes.json.gz"
}

script() { # NETWORK NAME
    "$python" -m zoo export "$1" --exporter jit-trace --no-references -o "$work"
    cp "$work/jit-trace/$(echo "$1" | tr : _).pt" "$examples/$2.pt"
}

program() { # NETWORK EXPORTER NAME
    "$python" -m zoo export "$1" --exporter "$2" --no-references -o "$work"
    cp "$work/$2/$(echo "$1" | tr : _).pt2" "$examples/$3.pt2"
}

mkdir -p "$examples/reference"
for name in resnet18 resnet50 mobilenet_v3_large efficientnet_b0 convnext_tiny vit_b_16; do
    example "torchvision:$name" torchscript "$name"
done
example torchvision:deeplabv3_mobilenet_v3_large torchscript deeplabv3_mobilenet
example torchvision:resnet18 dynamo resnet18_dynamo
example torchvision:swin_t dynamo swin_t_dynamo
example hf:bert_base torchscript bert_base
example hf:gpt2 torchscript gpt2
example hf:unet_small dynamo unet_dynamo
example recurrent:lstm torchscript lstm
for name in resnet18 vit_b_16; do
    program "torchvision:$name" export "$name"
done
program torchvision:resnet18 export-decomposed resnet18_decomposed
program hf:gpt2 export gpt2
program recurrent:lstm export lstm
for name in resnet18 vit_b_16; do
    script "torchvision:$name" "$name"
done
script hf:gpt2 gpt2
script recurrent:lstm lstm
ls -l "$examples"
