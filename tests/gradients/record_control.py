#!/usr/bin/python3
"""Prints PyTorch's gradients of the loop in control_test.cc, which has them written out. Needs Debian's python3-torch."""
import torch

h = torch.tensor([0.9, -0.8, 0.7], requires_grad=True)
w = torch.tensor([0.5, 0.6, 0.7], requires_grad=True)
total, carried = 0, h
while True:
    after = torch.tanh(carried * w)
    total = total + (after * carried).sum()
    carried = after
    if after.abs().sum() <= 0.4:
        break
(total + carried.sum()).backward()
for gradient in (h.grad, w.grad):
    print([round(float(x), 7) for x in gradient])
