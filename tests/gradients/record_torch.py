#!/usr/bin/python3
"""Records PyTorch's gradients of the networks in cases.py, computed in double precision, and the networks as PyTorch exports them in
training mode: recorded/ beside this file.

  record_torch.py NAME...      all of cases.py without names; takes a minute

Needs Debian's python3-torch and python3-torchvision.
"""
import copy
import os
import sys
import warnings

import cases  # puts tests/peers on the path
import recording
import torch
import torch_models
import torchvision

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'networks'))
from encoders import Encoder  # noqa: E402

RECORDED = os.path.join(HERE, 'recorded')
OPSET = 15
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
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.MaxPool2d(3, 2, 1),
        Block(16, 24, 1, 1), Block(24, 40, 2, 4), Block(40, 40, 1, 40), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(40, 10))


def mobile():
    """Depthwise, clipped, dilated, average-pooled."""
    conv = torch.nn.Conv2d
    return torch.nn.Sequential(
        conv(3, 12, 3, 2, 1), torch.nn.BatchNorm2d(12), torch.nn.ReLU6(), conv(12, 12, 5, 1, 4, dilation=2, groups=12), torch.nn.Hardswish(),
        torch.nn.AvgPool2d(3, 2, 1), conv(12, 20, 1), torch.nn.SiLU(), torch.nn.Flatten(), torch.nn.Linear(20 * 36, 7), torch.nn.LogSoftmax(1))


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
        self.word = torch.nn.Embedding(cases.VOCABULARY['tied'], 24)
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


NETWORKS = {
    'small_resnet': small_resnet,
    'mobile': mobile,
    'bert2': lambda: Encoder(2, 64, 4, cases.VOCABULARY['bert2']),
    'segmentation': Segmentation,
    'tied': TiedModel,
    'resnet18': lambda: smooth(torchvision.models.resnet18(weights=None)),
    'mobilenet_v2': lambda: smooth(torchvision.models.mobilenet_v2(weights=None)),
}


def double_gradients(model, inputs, name):
    """Gradients by parameter, from PyTorch in double precision, and the shapes of the outputs by name."""
    outputs = model(*[torch.tensor(t).double() if t.dtype == 'float32' else torch.tensor(t) for t in inputs.values()])
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    outputs = {f'output_{i}': o for i, o in enumerate(outputs)}
    sum((o * torch.tensor(cases.seed(name, n, list(o.shape))).double()).sum() for n, o in outputs.items()).backward()
    gradients = {n: p.grad.numpy() for n, p in model.named_parameters() if p.grad is not None}
    return gradients, {n: list(o.shape) for n, o in outputs.items()}


def record(name):
    torch.manual_seed(0)
    model, inputs = NETWORKS[name]().train(), cases.inputs(name)
    weights = torch_models.redraw(name, model)
    gradients, outputs = double_gradients(copy.deepcopy(model).double(), inputs, name)
    drawn = torch_models.export(copy.deepcopy(model), weights, inputs.values(), os.path.join(RECORDED, name), opset_version=OPSET,
                                input_names=list(inputs), output_names=list(outputs), training=torch.onnx.TrainingMode.TRAINING,
                                do_constant_folding=False, dynamic_axes={n: {0: 'N'} for n in [*inputs, *outputs]})
    digests = {p: recording.digest(f'{name}/{p}', g, 24, 12) for p, g in gradients.items()}
    recording.save(os.path.join(RECORDED, name + '.json'), torch_models.peer(), torch_models.command(name), outputs=outputs, gradients=digests, **drawn)
    print(f'{name}: {len(gradients)} parameters')


if __name__ == '__main__':
    os.makedirs(RECORDED, exist_ok=True)
    for network in sys.argv[1:] or cases.NAMES:
        record(network)
