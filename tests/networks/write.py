#!/usr/bin/python3
"""Writes networks as PyTorch exported them, with weights drawn by their names: FOLDER/NAME@OPSET/model.onnx and inputs set_I/INPUT.npy.

  write.py FOLDER NAME...      NAME is a network of cases.py, with @opset behind it where it is not 17: resnet50@11

What is there already, and made of the same, is left alone. Needs NumPy, not PyTorch. Prints the files' paths.
"""
import os
import shutil
import sys

import cases  # puts tests/peers on the path
import numpy as np
import onnx_file
import recording
import seeded

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'recorded')


def write_network(folder, spec):
    """The folder of one network's files."""
    name, opset = cases.split(spec)
    stem = os.path.join(RECORDED, name)
    final, skeleton = os.path.join(folder, f'{name}@{opset}'), f'{stem}@{opset}.onnx.gz'
    made_of = recording.identity(stem + '.json', skeleton, cases.__file__, recording.__file__, onnx_file.__file__, seeded.__file__)
    try:
        with open(os.path.join(final, 'complete'), encoding='utf-8') as file:
            if file.read() == made_of:
                return final
    except FileNotFoundError:
        pass
    partial = f'{final}.partial{os.getpid()}'
    os.makedirs(partial)
    record = recording.load(stem + '.json')
    weights = recording.Weights(name, record['fills'], record[f'recipes@{opset}'])
    with open(os.path.join(partial, 'model.onnx'), 'wb') as file:
        file.write(recording.network(skeleton, weights))
    for i, tensors in enumerate(cases.inputs(name)):
        os.makedirs(os.path.join(partial, f'set_{i}'))
        for key, values in tensors.items():
            np.save(os.path.join(partial, f'set_{i}', key + '.npy'), values)
    with open(os.path.join(partial, 'complete'), 'w', encoding='utf-8') as file:
        file.write(made_of)
    shutil.rmtree(final, ignore_errors=True)
    os.rename(partial, final)
    return final


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for network in sys.argv[2:]:
        print(os.path.join(write_network(sys.argv[1], network), 'model.onnx'))
