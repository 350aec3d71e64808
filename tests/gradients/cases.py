"""The networks whose gradients are compared with PyTorch's, and inputs for them that anyone can draw again."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'peers'))
import seeded  # noqa: E402

IMAGES = {'small_resnet': (4, 40, 44), 'mobile': (3, 24, 24), 'segmentation': (2, 24, 32), 'resnet18': (8, 64, 64), 'mobilenet_v2': (4, 64, 64)}
NAMES = [*IMAGES, 'bert2', 'tied']
VOCABULARY = {'bert2': 400, 'tied': 50}
TOLERANCE = 2e-4


def inputs(name):
    """{input: array}"""
    if name in IMAGES:
        batch, height, width = IMAGES[name]
        return {'input': seeded.normal(name + '/input', [batch, 3, height, width])}
    if name == 'tied':
        return {'ids': seeded.integers(name + '/ids', [4, 9], 0, VOCABULARY[name])}
    mask = np.ones([3, 20], np.int64)
    mask[-1, 10:] = 0
    return {'input_ids': seeded.integers(name + '/ids', [3, 20], 0, VOCABULARY[name] // 4),  # tokens repeat
            'attention_mask': mask, 'token_type_ids': seeded.integers(name + '/types', [3, 20], 0, 2)}


def seed(name, output, shape):
    """The gradient of an output that the backward pass begins with."""
    return seeded.normal(f'{name}/gradient.{output}', shape)


def bounds(largest):
    """What elements of a gradient may be off by, for {parameter: its largest absolute gradient}: TOLERANCE of that, or of a thousandth of
    the largest of all, for gradients that are zero but for rounding (a bias before a batch norm)."""
    of_all = max(largest.values())
    return {p: TOLERANCE * max(g, of_all / 1000) for p, g in largest.items()}
