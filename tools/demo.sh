#!/bin/sh
# Installs what is missing, builds svengine, and runs it on real input:
#
#   1. a small ResNet from this repository classifies the 10,000 test images of Fashion-MNIST;
#   2. ResNet-50 and BERT-base, written by svengine itself, are timed, with their five costliest operators.
#
# Works from a fresh Debian 12 clone, as root or with sudo. A second run goes straight to the results.
set -eu
cd "$(dirname "$0")/.."
svengine=build/release/svengine
images=/usr/share/datasets/fashion-mnist
zoo=build/zoo

headline() { printf '\n== %s\n\n' "$*"; }

tools/setup.sh build demo
headline "Building $svengine"
tools/build.sh release svengine
$svengine info

headline "A small ResNet classifies the 10,000 test images of Fashion-MNIST"
$svengine classify models/fashion_mnist_resnet.onnx --labels models/fashion_mnist_labels.txt \
  --idx-images $images/t10k-images-idx3-ubyte.gz --idx-labels $images/t10k-labels-idx1-ubyte.gz --show 4

# time_network NAME [BENCH ARGUMENT...]
time_network() {
  network=$1
  shift
  headline "$network: times and the five costliest operators"
  if [ ! -f "$zoo/$network.onnx" ]; then
    mkdir -p $zoo
    $svengine zoo "$network" "$zoo/$network.part.onnx" --seed 1
    mv "$zoo/$network.part.onnx" "$zoo/$network.onnx"
  fi
  $svengine bench "$zoo/$network.onnx" --profile "$@"
}
time_network resnet50
time_network bert-base --dim S=128
