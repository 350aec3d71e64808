"""The networks that are compared with PyTorch's, and inputs for them that anyone can draw again.

A name is a network, with @opset behind it where it is not 17: resnet50@11.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'peers'))
import seeded  # noqa: E402

IMAGES = {  # torchvision's name, image size
    'resnet18': 224, 'resnet50': 224, 'mobilenet_v2': 224, 'squeezenet1_1': 224, 'vgg11': 224, 'densenet121': 224,
    'googlenet': 224, 'inception_v3': 299, 'shufflenet_v2_x1_0': 224,
}
ENCODERS = {  # layers, width, heads, with segments and a pooled output, fill_mask of encoders.Layer
    'bert': (12, 768, 12, True, False), 'bert-2': (2, 768, 12, True, False), 'minilm': (6, 384, 12, True, False),
    'distilbert': (6, 768, 12, False, True),
}
VOCABULARY = 30522
OPSETS = {'resnet50': (11, 13, 17), 'bert': (11, 13, 17)}  # of the others 17
NAMES = [*IMAGES, *ENCODERS]


def split(spec):
    """Network and opset."""
    name, _, opset = spec.partition('@')
    return name, int(opset or 17)


def inputs(name):
    """Sets of inputs: [{input: array}]."""
    if name in IMAGES:
        return [{'input': seeded.normal(f'{name}/input/{n}', [n, 3, IMAGES[name], IMAGES[name]])} for n in (1, 2)]
    sets = []
    for batch, length, used in ((1, 128, 100), (2, 37, 20)):
        mask = np.ones([batch, length], np.int64)
        mask[-1, used:] = 0
        draw = lambda key, high: seeded.integers(f'{name}/{key}/{length}', [batch, length], 0, high)
        sets.append({'input_ids': draw('input_ids', VOCABULARY), 'attention_mask': mask})
        if ENCODERS[name][3]:
            sets[-1]['token_type_ids'] = draw('token_type_ids', 2)
    return sets


def outputs(name):
    return ['logits'] if name in IMAGES else ['last_hidden_state', 'pooler_output'] if ENCODERS[name][3] else ['last_hidden_state']


def bound(name, largest):
    """What an element may be off by: 5e-5 of the largest absolute output for images, 1e-4 for encoders."""
    return 5e-5 * largest if name in IMAGES else 1e-4
