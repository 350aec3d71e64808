"""What a peer computed, kept small: files of a few kilobytes beside the tests, written by their record_*.py and read without the peer.

A recording is a JSON file: who computed it ("peer"), how to make it again ("command"), and for every tensor a digest:

  shape   of the whole tensor
  max     its largest absolute value
  sample  elements at places drawn by the tensor's name
  sums    of every stretch of 1/`len(sums)` of its elements: with signs drawn by the name, over the square root of their number

A sum of elements that each have an independent error is off by about as much as one element, so every figure is held to the bound of
the elements. A wrong element that the sample misses shows in its sum when it is off by sqrt(length of the stretch) bounds.

Networks lie beside it as NAME.onnx.gz without their weights, which are drawn anew (see Weights).
"""
import gzip
import hashlib
import json
import os

import numpy as np

import onnx_file
import seeded


def places(key, count, most):
    return np.arange(count) if count <= most else np.sort(seeded.integers(key + '/places', [most], 0, count))


def sums_of(key, flat, pieces):
    signed = flat * (seeded.integers(key + '/signs', flat.shape, 0, 2) * 2 - 1)
    ends = np.linspace(0, flat.size, pieces + 1).astype(np.int64)
    return [float(signed[a:b].sum() / max(1, b - a) ** 0.5) for a, b in zip(ends, ends[1:])]


def rounded(values):
    return [float(f'{v:.8g}') for v in values]


def digest(key, values, sample=64, pieces=32):
    """A tensor that has at most `sample` elements is kept whole."""
    flat = np.asarray(values, np.float64).ravel()
    out = {'shape': list(np.shape(values)), 'max': float(f'{np.abs(flat).max():.8g}'), 'sample': rounded(flat[places(key, flat.size, sample)])}
    if flat.size > sample:
        out['sums'] = rounded(sums_of(key, flat, pieces))
    return out


def largest_error(key, wanted, got):
    """The largest absolute difference of `got` from a digest; infinite where shapes differ or a number is not finite."""
    if list(got.shape) != wanted['shape'] or not np.isfinite(got).all():
        return np.inf
    flat = got.astype(np.float64).ravel()
    error = np.abs(flat[places(key, flat.size, len(wanted['sample']))] - wanted['sample']).max()
    if 'sums' in wanted:
        error = max(error, np.abs(np.subtract(sums_of(key, flat, len(wanted['sums'])), wanted['sums'])).max())
    return max(float(error), abs(float(np.abs(flat).max()) - wanted['max']))


class Weights:
    """A network's weights, by name: drawn uniformly between two numbers, or constant where they are equal.

    fills: {name: [low, high]}. An initializer of the exported file is the weight of its name, or has a recipe:
      "NAME"                                     a weight of another name
      {"transposed": NAME}                       of a matrix
      {"fold": [CONV, NORM, EPSILON]}            a convolution's weight times the scale of the batch norm behind it
      {"fold_bias": [CONV, NORM, EPSILON]}       its bias then; "has_bias" where the convolution has one of its own
    """

    def __init__(self, key, fills, recipes=None):
        self.key, self.fills, self.recipes = key, fills, recipes or {}

    def draw(self, name, shape):
        low, high = self.fills[name]
        return np.full(shape, low, np.float32) if low == high else seeded.uniform(f'{self.key}/{name}', shape, low, high)

    def norm(self, name, channels, epsilon):
        scale, bias, mean, var = (self.draw(f'{name}.{part}', [channels]).astype(np.float64) for part in ('weight', 'bias', 'running_mean', 'running_var'))
        scale = scale / np.sqrt(var + epsilon)
        return scale, bias - mean * scale

    def has(self, name):
        return name in self.recipes or name in self.fills

    def initializer(self, name, shape):
        return self.cook(self.recipes.get(name, name), shape)

    def cook(self, recipe, shape):
        if isinstance(recipe, str):
            return self.draw(recipe, shape)
        if 'transposed' in recipe:
            return self.draw(recipe['transposed'], shape[::-1]).T
        conv, norm, epsilon = recipe.get('fold') or recipe['fold_bias']
        scale, offset = self.norm(norm, shape[0], epsilon)
        if 'fold' in recipe:
            return (self.draw(conv + '.weight', shape) * scale.reshape([-1] + [1] * (len(shape) - 1))).astype(np.float32)
        own = self.draw(conv + '.bias', shape) * scale if recipe['has_bias'] else 0
        return (own + offset).astype(np.float32)


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def save(path, peer, command, **content):
    """One line for every entry of every part, so that a difference can be read."""
    lines = [f'"peer": {json.dumps(peer)}', f'"command": {json.dumps(command)}']
    for key, value in content.items():
        if isinstance(value, dict):
            rows = ',\n'.join(f'  {json.dumps(k)}: {json.dumps(v)}' for k, v in value.items())
            lines.append(f'{json.dumps(key)}: {{\n{rows}\n}}')
        else:
            lines.append(f'{json.dumps(key)}: {json.dumps(value)}')
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{' + ',\n'.join(lines) + '}\n')


def save_network(path, model):
    """model: bytes of an ONNX file without its weights."""
    with open(path, 'wb') as raw, gzip.GzipFile('', 'wb', 9, raw, 0) as file:  # no name and no time: the same bytes every time
        file.write(model)


def network(path, weights):
    """The ONNX file with its weights."""
    with gzip.open(path) as file:
        model = file.read()
    return onnx_file.replace_initializers(model, lambda t: weights.initializer(t.name, t.dims) if weights.has(t.name) else None)


def identity(*paths):
    """A text that changes when a file does."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, 'rb') as file:
            total.update(file.read())
    return total.hexdigest()[:16]
