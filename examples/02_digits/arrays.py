#!/usr/bin/python3
"""Writes Debian's handwritten digits as arrays for svengine: arrays.py DIGITS.csv.gz FOLDER

The file is of the package python3-sklearn: /usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz, 1797 scans of 8 x 8
pixels of 0 to 16, a line each, the digit last (UCI "Optical Recognition of Handwritten Digits"). Pixels become 3 x 3 of the same
value with a border of 2, which gives the 28 x 28 that `svengine zoo resnet-28` reads. The last 360 scans are
the test set. FOLDER/train.npz and FOLDER/test.npz: image N x 1 x 28 x 28 float32 in [0, 1], label N int64.
"""
import os
import sys

import numpy as np

TEST = 360


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = np.loadtxt(sys.argv[1], delimiter=',')
    images = (rows[:, :64] / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    images = np.pad(images.repeat(3, axis=2).repeat(3, axis=3), ((0, 0), (0, 0), (2, 2), (2, 2)))
    labels = rows[:, 64].astype(np.int64)
    os.makedirs(sys.argv[2], exist_ok=True)
    for name, part in (('train', slice(None, -TEST)), ('test', slice(-TEST, None))):
        np.savez(os.path.join(sys.argv[2], name + '.npz'), image=images[part], label=labels[part])


if __name__ == '__main__':
    main()
