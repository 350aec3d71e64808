#!/usr/bin/python3
"""Records PyTorch's losses of the trainings in cases.py, and their networks as PyTorch exports them: recorded/ beside this file.

  record_torch.py NAME...      all of cases.py without names; ResNet-50 takes five minutes of a core with OpenBLAS, twenty with Debian's BLAS

Needs Debian's python3-torch and python3-torchvision.
"""
import os
import sys
import warnings

import cases  # puts tests/peers on the path
import recording
import torch
import torch_models
import torchvision
from layerwise import Lamb, Lars

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'networks'))
from encoders import Encoder  # noqa: E402

RECORDED = os.path.join(HERE, 'recorded')
warnings.filterwarnings('ignore')  # the exporter's, about training mode


class Block(torch.nn.Module):
    def __init__(self, activation, channels, outs, stride):
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.activation = activation()
        self.body = torch.nn.Sequential(conv(channels, outs, 3, stride, 1, bias=False), norm(outs), activation(),
                                        conv(outs, outs, 3, 1, 1, bias=False), norm(outs))
        same = stride == 1 and channels == outs
        self.shortcut = torch.nn.Identity() if same else torch.nn.Sequential(conv(channels, outs, 1, stride, bias=False), norm(outs))

    def forward(self, x):
        return self.activation(self.body(x) + self.shortcut(x))


def resnet(activation):
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 7, 2, 3, bias=False), torch.nn.BatchNorm2d(16), activation(), torch.nn.MaxPool2d(3, 2, 1),
        Block(activation, 16, 16, 1), Block(activation, 16, 32, 2), Block(activation, 32, 48, 2),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(48, 10))


class MaskedLanguageModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(2, 64, 4, cases.VOCABULARY)
        self.head = torch.nn.Linear(64, cases.VOCABULARY)

    def forward(self, *inputs):
        return self.head(self.encoder(*inputs)[0])


NETWORKS = {
    'resnet': lambda: resnet(torch.nn.ReLU),
    'smooth_resnet': lambda: resnet(torch.nn.SiLU),
    # As it is trained in practice: the last norm of each block begins at 0 (Goyal et al. 2017, section 5.1), so that it begins as a
    # shallow one. Within 20 steps the loss falls from 7 to 2 or 3.
    'resnet50': lambda: torchvision.models.resnet50(weights=None, zero_init_residual=True),
    'bert': MaskedLanguageModel,
}
OPTIMIZERS = {
    'resnet': lambda p, rate: torch.optim.SGD(p, rate, momentum=0.9, weight_decay=5e-4),
    'resnet50': lambda p, rate: torch.optim.SGD(p, rate, momentum=0.9, weight_decay=1e-4),
    'resnet-nesterov': lambda p, rate: torch.optim.SGD(p, rate, momentum=0.9, nesterov=True),
    'bert': lambda p, rate: torch.optim.AdamW(p, rate),
    'bert-adam': lambda p, rate: torch.optim.Adam(p, rate, weight_decay=1e-3),
    'resnet-lars': lambda p, rate: Lars(p, rate, trust=0.01, weight_decay=1e-3),
    'bert-lamb': lambda p, rate: Lamb(p, rate, skip_vectors=True),
    'bert-groups': lambda p, rate: torch.optim.AdamW(p, rate),
    'resnet-weights': lambda p, rate: torch.optim.SGD(p, rate, momentum=0.9),
}


def losses(model, data, target, case, optimizer):
    """The loss of every batch that a step follows: with --accumulate N of every N-th and the last."""
    model.train()
    out = []
    clip, weights, group = float(case.option('--clip-norm', 0)), case.option('--class-weights', ''), int(case.option('--accumulate', 1))
    weights = torch.tensor([float(w) for w in weights.split(',')]) if weights else None
    batches = range(0, len(target), case.batch)
    for number, i in enumerate(batches):
        scores = model(*[torch.tensor(t[i:i + case.batch]) for t in data.values()])
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, -2), torch.tensor(target[i:i + case.batch]).flatten(), weights)
        (loss / min(group, len(batches) - number // group * group)).backward()
        if (number + 1) % group and number + 1 < len(batches):
            continue
        if clip:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        optimizer.zero_grad()
        out.append(float(f'{loss.item():.8g}'))
    return out


def record(name):
    case = cases.CASES[name]
    torch.manual_seed(0)
    model = NETWORKS[case.network]().train()
    weights = torch_models.redraw(case.network, model)
    data, _, target = case.data()
    sequences = len(target.shape) > 1
    axes = {n: {0: 'N', 1: 'S'} if sequences else {0: 'N'} for n in list(data) + ['output']}
    drawn = torch_models.export(model, weights, [t[:case.batch] for t in data.values()], os.path.join(RECORDED, case.network), opset_version=15,
                                  input_names=list(data), output_names=['output'], training=torch.onnx.TrainingMode.TRAINING,
                                  do_constant_folding=False, dynamic_axes=axes)
    values = {n: torch.tensor(weights.draw(n, list(p.shape))) if p.is_floating_point() else torch.zeros_like(p) for n, p in model.state_dict().items()}
    model.load_state_dict(values)  # tracing in training mode has moved the running statistics
    wanted = losses(model, data, target, case, OPTIMIZERS[name](model.parameters(), case.rate))
    recording.save(os.path.join(RECORDED, name + '.json'), torch_models.peer(), torch_models.command(name), network=case.network, losses=wanted, **drawn)
    print(f'{name}: losses {wanted[0]:.5f} to {wanted[-1]:.5f}')


if __name__ == '__main__':
    os.makedirs(RECORDED, exist_ok=True)
    for network in sys.argv[1:] or cases.CASES:
        record(network)
