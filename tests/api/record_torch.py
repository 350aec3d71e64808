#!/usr/bin/python3
"""Records what PyTorch's modules compute with the layers of nn.hpp, in double precision: recorded/layers.json beside this file.

  record_torch.py build/release/tests/layer_networks      a minute; the program says the layers' names and inputs

For every layer: the weights that both get, outputs and gradients of all parameters, and of PyTorch's own first values each parameter's
constant, or number, deviation and largest. Needs Debian's python3-torch.
"""
import os
import subprocess
import sys
import tempfile

import layers  # puts tests/peers on the path
import onnx_file
import recording
import torch
import torch_models
from torch import nn


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



def first_values(module):
    """{parameter: a constant, or [number, deviation, largest]}"""
    out = {}
    for name, p in module.state_dict().items():
        if not name.endswith('num_batches_tracked'):
            p = p.numpy()
            out[name] = float(p.flat[0]) if p.std() == 0 else [p.size, float(f'{p.std():.6g}'), float(f'{abs(p).max():.6g}')]
    return out


def record(name, path):
    torch.manual_seed(1)
    with open(path, 'rb') as file:
        model = file.read()
    module = MODULES[name]()
    first = first_values(module)
    weights = torch_models.redraw(name, module)
    module = module.double().eval()
    inputs = layers.inputs(name, onnx_file.ports(model, onnx_file.GRAPH_INPUT))
    results = module(*[torch.tensor(x).double() if x.dtype == 'float32' else torch.tensor(x) for x in inputs.values()])
    outputs = [n for n, _, _ in onnx_file.ports(model, onnx_file.GRAPH_OUTPUT)]
    results = dict(zip(outputs, results if isinstance(results, tuple) else (results,)))
    sum((r * torch.tensor(layers.seed(name, n, list(r.shape)))).sum() for n, r in results.items()).backward()
    return {'first_values': first, 'fills': weights.fills, 'inputs': {n: list(x.shape) for n, x in inputs.items()},
            'outputs': {n: recording.digest(f'{name}/{n}', r.detach().numpy(), 24, 12) for n, r in results.items()},
            'gradients': {n: recording.digest(f'{name}/{n}', p.grad.numpy(), 12, 8) for n, p in module.named_parameters()}}


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        names = sorted(f[:-5] for f in os.listdir(folder))
        if set(names) != set(MODULES):
            sys.exit(f'not compared with PyTorch: {set(names) ^ set(MODULES)}')
        content = {name: record(name, os.path.join(folder, name + '.onnx')) for name in names}
    recording.save(layers.RECORDED, torch_models.peer(), torch_models.command(sys.argv[1]), **content)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
