#!/usr/bin/python3
"""Prints digests of PyTorch's gradients of an LSTM, a GRU and an RNN in float64; recurrent_test.cc has them written out. Needs Debian's
python3-torch.

Numbers are sin(0.7 i + k) of their place i, and k = 1, 2, .. for X, W, R, B; the loss is the sum of Y times such numbers of k = 9, and a
gradient's digest its sum times those of k = 11.
"""
import numpy
import torch

STEPS, BATCH, INS, HIDDEN = 3, 2, 4, 5
ORDERS = {'LSTM': [0, 2, 3, 1], 'GRU': [1, 0, 2], 'RNN': [0]}  # PyTorch's gates by their places in ONNX's weights


def numbers(dims, k):
    return numpy.sin(0.7 * numpy.arange(numpy.prod(dims)) + k).reshape(dims)


def main():
    for name, order in ORDERS.items():
        gates = len(order)
        given = [numbers([STEPS, BATCH, INS], 1), numbers([gates * HIDDEN, INS], 2), numbers([gates * HIDDEN, HIDDEN], 3),
                 numbers([2 * gates * HIDDEN], 4)]
        tensors = [torch.tensor(v, requires_grad=True) for v in given]
        x, w, r, b = tensors

        def turned(v):
            return torch.cat([v[g * HIDDEN:(g + 1) * HIDDEN] for g in order])

        halves = b.reshape(2, gates * HIDDEN)
        weights = [turned(w), turned(r), turned(halves[0]), turned(halves[1])]
        cell = getattr(torch._VF, {'RNN': 'rnn_tanh'}.get(name, name.lower()))
        first = torch.zeros(1, BATCH, HIDDEN, dtype=torch.float64)
        state = (first, first) if name == 'LSTM' else first
        y = cell(x, state, weights, True, 1, 0.0, True, False, False)[0]
        (y * torch.tensor(numbers([STEPS, BATCH, HIDDEN], 9))).sum().backward()
        digests = [float((t.grad.numpy() * numbers(t.shape, 11)).sum()) for t in tensors]
        print(name, ', '.join(f'{d:.12g}' for d in digests))


main()
