#!/usr/bin/python3
"""Trains the demo network, a small ResNet for Fashion-MNIST, and writes it as ONNX.

    tools/setup.sh train
    /usr/bin/python3 examples/00_fashion_mnist/train.py        # about 18 minutes on two busy cores

Input "image": N x 1 x 28 x 28 float32, grey values from 0 (black) to 1 (white): the pixel divided by 255, nothing
subtracted. Output "logits": N x 10 float32, one value per class, in the order of the labels file. The test images are
looked at once, after the last epoch: nothing is chosen by them.
"""

import argparse
import gzip
import pathlib
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def read_idx(path):
    """Reads a gzip-compressed IDX file: two zero bytes, a type (8: unsigned byte), the rank, the dimensions, the data."""
    data = gzip.decompress(path.read_bytes())
    if data[:3] != b"\0\0\x08":
        raise SystemExit(f"{path}: not an IDX file of unsigned bytes")
    rank = data[3]
    shape = np.frombuffer(data, ">i4", rank, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def load(folder, part):
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz").astype(np.float32) / 255
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz").astype(np.int64)
    return torch.from_numpy(images[:, None]), torch.from_numpy(labels)


def conv_bn(channels_in, channels_out, size, stride=1):
    conv = nn.Conv2d(channels_in, channels_out, size, stride, size // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(channels_out))


class Block(nn.Module):
    """The basic residual block: two 3x3 convolutions, and a 1x1 one beside them where the shape changes."""

    def __init__(self, channels_in, channels_out, stride):
        super().__init__()
        self.first = conv_bn(channels_in, channels_out, 3, stride)
        self.second = conv_bn(channels_out, channels_out, 3)
        same = stride == 1 and channels_in == channels_out
        self.shortcut = nn.Identity() if same else conv_bn(channels_in, channels_out, 1, stride)

    def forward(self, x):
        return functional.relu(self.second(functional.relu(self.first(x))) + self.shortcut(x))


class FashionResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv_bn(1, 16, 3)
        self.blocks = nn.Sequential(Block(16, 16, 1), Block(16, 32, 2), Block(32, 64, 2), Block(64, 64, 1))
        self.classifier = nn.Linear(64, 10)

    def forward(self, image):
        x = self.blocks(functional.relu(self.stem(image)))
        return self.classifier(torch.flatten(functional.adaptive_avg_pool2d(x, 1), 1))


def augment(images):
    """Mirrors half of the images and moves the batch by up to two pixels."""
    mirror = torch.rand(len(images), 1, 1, 1) < 0.5
    images = torch.where(mirror, images.flip(3), images)
    down, right = torch.randint(0, 5, (2,)).tolist()
    return functional.pad(images, (2, 2, 2, 2))[:, :, down : down + 28, right : right + 28]


def accuracy(network, images, labels):
    network.eval()
    with torch.no_grad():
        answers = torch.cat([network(batch).argmax(1) for batch in images.split(500)])
    return (answers == labels).float().mean().item()


def train(network, images, labels, epochs, batch):
    steps = len(images) // batch
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=0.2, total_steps=epochs * steps)
    start = time.time()
    for epoch in range(epochs):
        network.train()
        total = 0.0
        for chosen in torch.randperm(len(images))[: steps * batch].split(batch):
            loss = functional.cross_entropy(network(augment(images[chosen])), labels[chosen], label_smoothing=0.05)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{epochs}  loss {total / steps:.4f}  {time.time() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--output", type=pathlib.Path, default=REPOSITORY / "models/fashion_mnist_resnet.onnx")
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    network = FashionResNet()
    print(f"{sum(p.numel() for p in network.parameters())} parameters, seed {options.seed}")
    train(network, *load(options.data, "train"), options.epochs, options.batch)
    print(f"test accuracy {100 * accuracy(network, *load(options.data, 't10k')):.2f} %")

    options.output.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        network.eval(), torch.zeros(1, 1, 28, 28), str(options.output), opset_version=17,
        input_names=["image"], output_names=["logits"], dynamic_axes={"image": {0: "N"}, "logits": {0: "N"}},
    )
    print(f"wrote {options.output}, {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
