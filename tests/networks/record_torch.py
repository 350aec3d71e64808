#!/usr/bin/python3
"""Records PyTorch's outputs of the networks in cases.py, and the networks as PyTorch exports them: recorded/ beside this file.

  record_torch.py NAME...      all of cases.py without names, with every opset; takes some minutes

Weights are drawn by their names; batch norms get statistics that keep what the input says alive to the output. Needs Debian's python3-torch and python3-torchvision.
"""
import os
import sys
import warnings

import cases  # puts tests/peers on the path
import recording
import torch
import torch_models
import torchvision
from encoders import Encoder

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'recorded')
warnings.filterwarnings('ignore')  # the exporter's, about shapes that it takes for constants


def network(name):
    if name in cases.IMAGES:
        options = {'init_weights': False, 'aux_logits': True} if name in ('googlenet', 'inception_v3') else {}
        return getattr(torchvision.models, name)(weights=None, **options)
    layers, width, heads, segments, fill_mask = cases.ENCODERS[name]
    return Encoder(layers, width, heads, cases.VOCABULARY, segments, fill_mask)


def record(name):
    torch.manual_seed(0)
    model = network(name).eval()
    weights = torch_models.redraw(name, model)
    torch_models.settle_norms(model, weights, [torch.tensor(t) for t in cases.inputs(name)[0].values()])
    sets, outputs = cases.inputs(name), cases.outputs(name)
    sequences = ['last_hidden_state', *sets[0]] if name in cases.ENCODERS else []
    axes = {n: {0: 'N', 1: 'S'} if n in sequences else {0: 'N'} for n in [*sets[0], *outputs]}
    content = {}
    for opset in cases.OPSETS.get(name, (17,)):
        file = os.path.join(RECORDED, f'{name}@{opset}')
        drawn = torch_models.export(model, weights, sets[0].values(), file, opset_version=opset, input_names=list(sets[0]), output_names=outputs,
                                    dynamic_axes=axes)
        content['fills'] = {**content.get('fills', {}), **drawn['fills']}
        content[f'recipes@{opset}'] = drawn['recipes']
    for i, tensors in enumerate(sets):
        with torch.no_grad():
            results = model(*[torch.tensor(t) for t in tensors.values()])
        results = results if isinstance(results, (tuple, list)) else (results,)
        content[f'set_{i}'] = {n: recording.digest(f'{name}/{n}', r.numpy(), 128, 64) for n, r in zip(outputs, results)}
    recording.save(os.path.join(RECORDED, name + '.json'), torch_models.peer(), torch_models.command(name), **content)
    print(name, flush=True)


if __name__ == '__main__':
    os.makedirs(RECORDED, exist_ok=True)
    for network_name in sys.argv[1:] or cases.NAMES:
        record(network_name)
