#!/bin/sh
# Trains the demo network, a small ResNet for Fashion-MNIST, from new weights: train.sh [OUTPUT.onnx]
#
# About 10 minutes on two idle cores. The test images are looked at after every epoch, but nothing is chosen by them. The same
# build gives the same bytes again, for any number of threads.
set -eu
cd "$(dirname "$0")/../.."
output=${1:-models/fashion_mnist_resnet.onnx}
network=build/zoo/resnet-28.onnx
tools/setup.sh build demo
tools/build.sh release svengine
mkdir -p build/zoo
build/release/svengine zoo resnet-28 $network --seed 1
build/release/svengine train $network --data /usr/share/datasets/fashion-mnist --validate test --batch 128 --epochs 14 \
  --loss cross_entropy --optimizer sgd:momentum=0.9,nesterov=1,weight_decay=5e-4 --lr 0.1 \
  --schedule cosine:epochs=14,warmup=1 --augment crop=2,flip --init --seed 1 --output "$output"
