#!/usr/bin/python3
"""Writes networks as PyTorch exports them, with PyTorch's own outputs: FOLDER/<name>/model.onnx and test_data_set_<i>.

  export.py FOLDER NAME...      NAME is a network below, with @opset behind it (default 17): resnet50@11

Weights are seeded; batch norms get statistics that do something. A folder that is complete already is left alone.
Needs Debian's python3-torch, python3-torchvision and python3-onnx.
"""
import os
import shutil
import sys

import numpy as np
import torch
import torchvision

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from encoders import Encoder  # noqa: E402

ENCODERS = {
    'bert': lambda: Encoder(12, 768, 12),
    'bert-2': lambda: Encoder(2, 768, 12),
    'minilm': lambda: Encoder(6, 384, 12),
    'distilbert': lambda: Encoder(6, 768, 12, segments=False, fill_mask=True),
}
IMAGES = {  # torchvision name, image size
    'resnet18': 224, 'resnet50': 224, 'mobilenet_v2': 224, 'squeezenet1_1': 224, 'vgg11': 224, 'densenet121': 224,
    'googlenet': 224, 'inception_v3': 299, 'shufflenet_v2_x1_0': 224,
}


def image_network(name):
    options = {'init_weights': False, 'aux_logits': True} if name in ('googlenet', 'inception_v3') else {}
    model = getattr(torchvision.models, name)(weights=None, **options)
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
            module.weight.data.uniform_(0.2, 0.6)
    size = IMAGES[name]
    return model, [[torch.randn(n, 3, size, size)] for n in (1, 2)], ['input'], ['logits'], {'input': {0: 'N'}, 'logits': {0: 'N'}}


def encoder_network(name):
    model = ENCODERS[name]()
    segments = model.segment is not None
    names = ['input_ids', 'attention_mask'] + (['token_type_ids'] if segments else [])
    outputs = ['last_hidden_state'] + (['pooler_output'] if segments else [])
    sets = []
    for batch, length, used in ((1, 128, 100), (2, 37, 20)):
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[-1, used:] = 0
        ids = torch.randint(0, 30522, (batch, length))
        sets.append([ids, mask] + ([torch.randint(0, 2, (batch, length))] if segments else []))
    axes = {n: {0: 'N', 1: 'S'} for n in names + ['last_hidden_state']}
    if segments:
        axes['pooler_output'] = {0: 'N'}
    return model, sets, names, outputs, axes


def export(folder, spec):
    name, _, opset = spec.partition('@')
    final = os.path.join(folder, spec)
    if os.path.exists(os.path.join(final, 'complete')):
        return
    torch.manual_seed(0)
    model, sets, inputs, outputs, axes = (encoder_network if name in ENCODERS else image_network)(name)
    model.eval()
    partial = final + '.partial'
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    torch.onnx.export(model, tuple(sets[0]), os.path.join(partial, 'model.onnx'), opset_version=int(opset or 17), input_names=inputs,
                      output_names=outputs, dynamic_axes=axes)
    for i, tensors in enumerate(sets):
        data = os.path.join(partial, f'test_data_set_{i}')
        os.makedirs(data)
        with torch.no_grad():
            results = model(*tensors)
        results = results if isinstance(results, (tuple, list)) else (results,)
        for kind, values in (('input', tensors), ('output', results)):
            for j, t in enumerate(values):
                np.save(os.path.join(data, f'{kind}_{j}.npy'), t.numpy())
    open(os.path.join(partial, 'complete'), 'w').close()
    shutil.rmtree(final, ignore_errors=True)
    os.rename(partial, final)


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for spec in sys.argv[2:]:
        export(sys.argv[1], spec)
