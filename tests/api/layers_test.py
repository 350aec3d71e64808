#!/usr/bin/python3
"""The layers of nn.hpp against PyTorch's modules with the same weights: outputs, gradients of all parameters, first values.

  layers_test.py LAYER_NETWORKS NETWORK_GRADIENTS [--emulator COMMAND] [--kernels SET]

PyTorch computes in double precision. Bounds: 2e-5 of the largest output, 2e-4 of a parameter's largest gradient (as in
tests/gradients/networks_test.py). Skipped (exit code 77) without Debian's python3-torch and python3-onnx.
"""
import argparse
import copy
import os
import shlex
import subprocess
import sys
import tempfile

import numpy as np

try:
    import onnx
    import onnx.numpy_helper
    import torch
except ImportError:
    print('skipped: no PyTorch, or no onnx')
    sys.exit(77)

from torch import nn

BATCH = 3


class Attention(nn.MultiheadAttention):
    def __init__(self, heads, bias=True, causal=False):
        super().__init__(24, heads, bias=bias, batch_first=True)
        self.causal = causal

    def forward(self, q, *rest):
        k, v = rest if len(rest) == 2 else (q, q)
        mask = rest[0] if len(rest) == 1 else torch.full((7, 7), -torch.inf, dtype=q.dtype).triu(1) if self.causal else None
        return super().forward(q, k, v, attn_mask=mask, need_weights=False)[0]


class Layer(nn.Module):
    """A transformer layer with a causal mask, under the layer's own names."""

    def __new__(cls, layer, causal):
        if causal:
            forward, mask = layer.forward, torch.full((7, 7), -torch.inf, dtype=torch.float64).triu(1)
            key = 'src_mask' if isinstance(layer, nn.TransformerEncoderLayer) else 'tgt_mask'
            layer.forward = lambda *inputs: type(layer).forward(layer, *inputs, **{key: mask})
        return layer


class Last(nn.Module):
    """A recurrent network that gives the last layer's last state."""

    def __new__(cls, network):
        def forward(x):
            y, state = type(network).forward(network, x)
            return (y,) + tuple(s[-1] for s in (state if isinstance(state, tuple) else (state,)))
        network.forward = forward
        return network


class Residual(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


def transformer(kind, **options):
    return Layer(kind(24, 3, 40, 0.0, batch_first=True, **options), options.get('norm_first', False))


def norm_first(kind):
    return transformer(kind, norm_first=True, activation='gelu')


ACTIVATIONS = {'relu': nn.ReLU, 'gelu': nn.GELU, 'silu': nn.SiLU, 'tanh': nn.Tanh, 'sigmoid': nn.Sigmoid, 'softplus': nn.Softplus,
               'leaky_relu': nn.LeakyReLU, 'elu': nn.ELU, 'hardswish': nn.Hardswish, 'softmax': lambda: nn.Softmax(-1),
               'log_softmax': lambda: nn.LogSoftmax(-1)}
MODULES = {
    'linear': lambda: nn.Linear(37, 29),
    'linear_sequence': lambda: nn.Linear(37, 29, bias=False),
    'conv': lambda: nn.Conv2d(6, 10, 3, 2, 1, groups=2),
    'conv_dilated': lambda: nn.Conv2d(3, 5, 3, 1, 2, 2, bias=False),
    'conv_transpose': lambda: nn.ConvTranspose2d(6, 4, 3, 2, 1, 1, groups=2),
    'batch_norm': lambda: nn.BatchNorm2d(7, 1e-3),
    'layer_norm': lambda: nn.LayerNorm((5, 6)),
    'embedding': lambda: nn.Embedding(11, 6),
    'max_pool': lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(3, 2, 1)),
    'avg_pool': lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.AvgPool2d(3, 2, 1)),
    'global_pool': lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3)),
    'flatten': lambda: nn.Sequential(nn.Linear(4, 6), nn.Flatten(2), nn.Linear(18, 5)),
    'residual': lambda: Residual(nn.Linear(9, 5), nn.GELU(), nn.Dropout(0.3), nn.Linear(5, 9)),
    'attention': lambda: Attention(3),
    'attention_masked': lambda: Attention(3, bias=False),
    'attention_causal': lambda: Attention(3, causal=True),
    'attention_cross': lambda: Attention(4),
    'encoder': lambda: transformer(nn.TransformerEncoderLayer),
    'decoder': lambda: transformer(nn.TransformerDecoderLayer),
    'encoder_norm_first': lambda: nn.Sequential(norm_first(nn.TransformerEncoderLayer), norm_first(nn.TransformerEncoderLayer)),
    'decoder_norm_first': lambda: norm_first(nn.TransformerDecoderLayer),
    'lstm': lambda: Last(nn.LSTM(6, 9, batch_first=True)),
    'lstm_deep': lambda: Last(nn.LSTM(6, 9, 3, batch_first=True)),
    'gru': lambda: Last(nn.GRU(6, 9, batch_first=True)),
    'gru_deep': lambda: Last(nn.GRU(6, 9, 2, batch_first=True)),
}
MODULES.update({f'activation_{name}': lambda make=make: nn.Sequential(nn.Linear(9, 8), make()) for name, make in ACTIVATIONS.items()})


def inputs_of(graph, rng):
    out = {}
    for value in graph.input:
        dims = [d.dim_value or BATCH for d in value.type.tensor_type.shape.dim]
        integer = value.type.tensor_type.elem_type == onnx.TensorProto.INT64
        out[value.name] = rng.integers(0, 11, dims) if integer else rng.standard_normal(dims).astype(np.float32)
    return out


def check_first_values(weights, module):
    """Drawn as PyTorch's are: the same constant, or the same bounds and spread as far as so many numbers show it."""
    problems = []
    for name, p in module.state_dict().items():
        if name.endswith('num_batches_tracked'):
            continue
        w, p = weights[name], p.numpy()
        if p.std() == 0:
            good = (w == p).all()
        else:
            bound = np.abs(p).max()
            good = p.size < 200 or (abs(w.std() / p.std() - 1) < 0.15 and abs(np.abs(w).max() / bound - 1) < 0.4 and len(np.unique(w)) > w.size * 0.99)
        if not good:
            problems.append(f'{name}: deviation {w.std():.4f} to {np.abs(w).max():.4f}, PyTorch {p.std():.4f} to {np.abs(p).max():.4f}')
    return problems


def check(name, folder, a):
    torch.manual_seed(1)
    rng = np.random.default_rng(2)
    graph = onnx.load(os.path.join(folder, name + '.onnx')).graph
    weights = {t.name: onnx.numpy_helper.to_array(t) for t in graph.initializer}
    module = MODULES[name]()
    problems = check_first_values(weights, module)
    module.load_state_dict({n: torch.tensor(weights[n]) if n in weights else p for n, p in module.state_dict().items()})
    for w in weights:
        if weights[w].dtype == np.float32 and weights[w].ndim > 0 and w not in module.state_dict():
            problems.append(f'parameter {w} is not in PyTorch')
    data = inputs_of(graph, rng)
    outputs = [v.name for v in graph.output]
    module = module.double().eval()
    for p in module.parameters():
        p.requires_grad_()
    results = module(*[torch.tensor(x).double() if x.dtype == np.float32 else torch.tensor(x) for x in data.values()])
    results = dict(zip(outputs, results if isinstance(results, tuple) else (results,)))
    seeds = {n: rng.standard_normal(r.shape).astype(np.float32) for n, r in results.items()}
    sum((r * torch.tensor(seeds[n])).sum() for n, r in results.items()).backward()
    np.savez(os.path.join(folder, 'data.npz'), **data, **{f'gradient.{n}': s for n, s in seeds.items()})
    command = shlex.split(a.emulator) + [a.gradients, os.path.join(folder, name + '.onnx'), os.path.join(folder, 'data.npz'), folder] + ([a.kernels] if a.kernels else [])
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        print(f'{name}: FAILED\n{run.stdout}{run.stderr}')
        return False
    wanted = {p: (g.grad.numpy(), 2e-4) for p, g in module.named_parameters()}
    largest = max(float(np.abs(g).max()) for g, _ in wanted.values())
    wanted.update({n: (r.detach().numpy(), 2e-5) for n, r in results.items()})
    worst = 0
    for n, (want, tolerance) in wanted.items():
        got = np.load(os.path.join(folder, n + '.npy'))
        bound = tolerance * max(float(np.abs(want).max()), largest / 1000 if tolerance == 2e-4 else 0)
        error = float(np.abs(got - want).max()) if got.shape == want.shape and np.isfinite(got).all() else np.inf
        worst = max(worst, error / bound)
        if error > bound:
            problems.append(f'{n} is off by {error:.2e}, {bound:.2e} is allowed')
    print(f'{name}: {len(wanted)} tensors, worst at {worst:.3f} of its bound: {"ok" if not problems else "FAILED"}')
    for p in problems:
        print('  ' + p)
    return not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('networks')
    parser.add_argument('gradients')
    parser.add_argument('--emulator', default='')
    parser.add_argument('--kernels')
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(shlex.split(a.emulator) + [a.networks, folder], check=True)
        names = sorted(f[:-5] for f in os.listdir(folder) if f.endswith('.onnx'))
        if set(names) != set(MODULES):
            print('not compared with PyTorch:', set(names) ^ set(MODULES))
            return 1
        return 0 if all([check(name, folder, a) for name in names]) else 1


if __name__ == '__main__':
    sys.exit(main())
