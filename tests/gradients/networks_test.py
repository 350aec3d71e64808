#!/usr/bin/python3
"""Gradients of whole networks against PyTorch's, computed in double precision: same weights, same data, exported in training mode.

  networks_test.py PROGRAM [--emulator COMMAND] [--kernels SET] NAME...

PROGRAM is network_gradients. The bound is 2e-4 of a parameter's largest gradient, or of a thousandth of the largest of all, for
those whose gradient is zero but for rounding (a bias before a batch norm).
Needs Debian's python3-torch and python3-torchvision; skipped (exit code 77) without them.
"""
import argparse
import copy
import os
import shlex
import subprocess
import sys
import tempfile
import warnings

import numpy as np

try:
    import torch
    import torchvision
except ImportError:
    print('skipped: no PyTorch')
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'networks'))
from encoders import Encoder  # noqa: E402

TOLERANCE = 2e-4
warnings.filterwarnings('ignore')  # the exporter's, about training mode


class Block(torch.nn.Module):
    """A residual block: 1x1, 3x3 in groups, 1x1, each with a batch norm."""

    def __init__(self, channels, outs, stride, groups):
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.body = torch.nn.Sequential(
            conv(channels, outs, 1, bias=False), norm(outs), torch.nn.ReLU(),
            conv(outs, outs, 3, stride, 1, groups=groups), norm(outs), torch.nn.ReLU(),
            conv(outs, outs, 1, bias=False), norm(outs))
        self.shortcut = torch.nn.Sequential(conv(channels, outs, 1, stride, bias=False), norm(outs)) if stride > 1 or channels != outs else torch.nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def small_resnet():
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1),
        Block(16, 24, 1, 1), Block(24, 40, 2, 4), Block(40, 40, 1, 40), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(40, 10))
    return model, {'input': torch.randn(4, 3, 40, 44)}


def mobile():
    """Depthwise, clipped, dilated, average-pooled."""
    conv = torch.nn.Conv2d
    model = torch.nn.Sequential(
        conv(3, 12, 3, 2, 1), torch.nn.BatchNorm2d(12), torch.nn.ReLU6(), conv(12, 12, 5, 1, 4, dilation=2, groups=12), torch.nn.Hardswish(),
        torch.nn.AvgPool2d(3, 2, 1), conv(12, 20, 1), torch.nn.SiLU(), torch.nn.Flatten(), torch.nn.Linear(20 * 36, 7), torch.nn.LogSoftmax(1))
    return model, {'input': torch.randn(3, 3, 24, 24)}


def bert(layers, hidden, heads, vocabulary, batch, length):
    model = Encoder(layers, hidden, heads, vocabulary)
    mask = torch.ones(batch, length, dtype=torch.int64)
    mask[-1, length // 2:] = 0
    ids = torch.randint(0, vocabulary // 4, (batch, length))  # tokens repeat
    return model, {'input_ids': ids, 'attention_mask': mask, 'token_type_ids': torch.randint(0, 2, (batch, length))}


class Segmentation(torch.nn.Module):
    """Down by strides, up by a transposed convolution, by bilinear and by nearest neighbours, to the size of the image."""

    def __init__(self):
        super().__init__()
        conv, up = torch.nn.Conv2d, torch.nn.ConvTranspose2d
        self.down = torch.nn.Sequential(conv(3, 10, 3, 2, 1), torch.nn.SiLU(), conv(10, 16, 3, 2, 1), torch.nn.SiLU())
        self.up = up(16, 12, 3, 2, 1, output_padding=1)
        self.grouped = up(16, 12, 4, 2, 1, groups=4, bias=False)
        self.head = conv(12, 5, 1)

    def forward(self, x):
        low = self.down(x)
        y = torch.tanh(self.up(low) + self.grouped(low)) + torch.nn.functional.interpolate(low[:, :12], scale_factor=2, mode='nearest')
        return torch.nn.functional.interpolate(self.head(y), size=(x.shape[2] + 3, x.shape[3] - 5), mode='bilinear', align_corners=False)


class TiedModel(torch.nn.Module):
    """A language model whose output layer is its embedding."""

    def __init__(self):
        super().__init__()
        self.word = torch.nn.Embedding(50, 24)
        self.mix = torch.nn.Linear(24, 24)

    def forward(self, ids):
        x = torch.tanh(self.mix(self.word(ids)))
        return torch.log_softmax(x @ self.word.weight.t(), -1)


def smooth(model):
    """Without kinks and chance: in a deep network some number always lies so close to 0 that rounding decides what Relu's gradient is."""
    for name, child in model.named_children():
        if isinstance(child, (torch.nn.ReLU, torch.nn.ReLU6)):
            setattr(model, name, torch.nn.SiLU())
        elif isinstance(child, torch.nn.Dropout):
            setattr(model, name, torch.nn.Identity())  # drops other elements than PyTorch's would
        else:
            smooth(child)
    return model


def image(name, batch):
    return smooth(getattr(torchvision.models, name)(weights=None)), {'input': torch.randn(batch, 3, 64, 64)}


NETWORKS = {
    'small_resnet': small_resnet,
    'mobile': mobile,
    'bert2': lambda: bert(2, 64, 4, 400, 3, 20),
    'segmentation': lambda: (Segmentation(), {'input': torch.randn(2, 3, 24, 32)}),
    'tied': lambda: (TiedModel(), {'ids': torch.randint(0, 50, (4, 9))}),
    'resnet18': lambda: image('resnet18', 8),
    'mobilenet_v2': lambda: image('mobilenet_v2', 4),
}


def double_gradients(model, inputs, seeds):
    """Gradients by name, from PyTorch in double precision."""
    model = copy.deepcopy(model).double().train()
    outputs = model(*[t.double() if t.is_floating_point() else t for t in inputs.values()])
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    sum((o * s.double()).sum() for o, s in zip(outputs, seeds)).backward()
    return {name: p.grad.numpy() for name, p in model.named_parameters() if p.grad is not None}


def check(name, a):
    torch.manual_seed(0)
    model, inputs = NETWORKS[name]()
    model.train()
    with torch.no_grad():
        shapes = copy.deepcopy(model)(*inputs.values())
    shapes = shapes if isinstance(shapes, tuple) else (shapes,)
    seeds = [torch.randn(o.shape) for o in shapes]
    wanted = double_gradients(model, inputs, seeds)
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f'output_{i}' for i in range(len(shapes))]
        onnx = os.path.join(folder, 'model.onnx')
        torch.onnx.export(copy.deepcopy(model), tuple(inputs.values()), onnx, opset_version=a.opset, input_names=list(inputs), output_names=outputs,
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, dynamic_axes={n: {0: 'N'} for n in list(inputs) + outputs})
        data = {n: t.numpy() for n, t in inputs.items()}
        data.update({f'gradient.{n}': s.numpy() for n, s in zip(outputs, seeds)})
        np.savez(os.path.join(folder, 'data.npz'), **data)
        command = shlex.split(a.emulator) + [a.program, onnx, os.path.join(folder, 'data.npz'), folder] + ([a.kernels] if a.kernels else [])
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            print(f'{name}: FAILED\n{run.stdout}{run.stderr}')
            return False
        return compare(name, wanted, folder)


def compare(name, wanted, folder):
    largest = max(float(np.abs(g).max()) for g in wanted.values())
    worst, missing = (0, None), []
    for parameter, gradient in wanted.items():
        path = os.path.join(folder, parameter + '.npy')
        if not os.path.exists(path):
            missing.append(parameter)
            continue
        got = np.load(path)
        bound = TOLERANCE * max(float(np.abs(gradient).max()), largest / 1000)
        error = float(np.abs(got - gradient).max()) if got.shape == gradient.shape and np.isfinite(got).all() else np.inf
        worst = max(worst, (error / bound, parameter), key=lambda w: w[0])
    good = worst[0] <= 1 and not missing
    print(f'{name}: {len(wanted)} parameters, worst {worst[1]} at {worst[0]:.3f} of the bound: {"ok" if good else "FAILED"}'
          + (f'; missing {missing}' if missing else ''))
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--emulator', default='')
    parser.add_argument('--kernels')
    parser.add_argument('--opset', type=int, default=15)
    parser.add_argument('names', nargs='+')
    a = parser.parse_args()
    return 0 if all([check(name, a) for name in a.names]) else 1


if __name__ == '__main__':
    sys.exit(main())
