"""Random nodes of detection's operators, for against_runtime.py. Coordinates are not halves, where rounding would decide."""
import numpy as np

from random_nodes import F32, F64, I64, Case, maker


def somewhere(g, dims, low, high, dtype=F32):
    return (low + (high - low) * g.r.random(dims)).astype(dtype)


@maker("GridSample")
def grid_sample(g, op):
    opset = max(g.opset(), 16)
    axes = g.pick(2, 2, 3) if opset >= 20 else 2
    mode = g.pick("nearest", "linear", "cubic" if axes == 2 else "linear")
    if opset < 20:
        mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    n, channels, dtype = g.int(1, 2), g.size(), g.pick(F32, F32, F32, F64)
    x = g.values([n, channels] + [g.int(1, 6) for _ in range(axes)], dtype)
    grid = somewhere(g, [n] + [g.int(1, 6) for _ in range(axes)] + [axes], -g.pick(1, 1.5, 4), g.pick(1, 1.5, 4), dtype)
    attributes = {"mode": mode, "padding_mode": g.pick(None, "border", "reflection"), "align_corners": g.pick(None, 1)}
    return Case(op, [x, grid], attributes, opset=opset)


@maker("AffineGrid")
def affine_grid(g, op):
    axes, n = g.pick(2, 2, 3), g.int(1, 3)
    size = np.array([n, g.int(1, 3)] + [g.int(1, 40) for _ in range(axes)], I64)
    return Case(op, [g.values([n, axes, axes + 1], g.pick(F32, F32, F64)), size], {"align_corners": g.pick(None, 1)}, opset=max(g.opset(), 20))


@maker("Col2Im")
def col2im(g, op):
    axes = g.pick(1, 2, 2, 3)
    pick = lambda low, high: np.array([g.int(low, high) for _ in range(axes)], I64)
    image, block, strides, dilations, pads = pick(1, 20), pick(1, 3), pick(1, 3), pick(1, 3), [pick(0, 2), pick(0, 2)]
    image = np.maximum(image, dilations * (block - 1) + 1)
    columns = (image + pads[0] + pads[1] - dilations * (block - 1) - 1) // strides + 1
    x = g.values([g.int(1, 2), g.int(1, 3) * int(block.prod()), int(columns.prod())])
    attributes = {"strides": strides.tolist(), "dilations": dilations.tolist(), "pads": np.concatenate(pads).tolist()}
    return Case(op, [x, image, block], attributes, opset=max(g.opset(), 18))


@maker("RoiAlign")
def roi_align(g, op):
    opset, n, rois, dtype = max(g.opset(), 10), g.int(1, 3), g.int(0, 4), g.pick(F32, F32, F64)
    x = g.values([n, g.size(), g.int(1, 9), g.int(1, 9)], dtype)
    corners = somewhere(g, [rois, 2, 2], -4, 16, dtype)
    if g.chance(0.8):
        corners.sort(axis=1)
    attributes = {"mode": g.pick(None, "max"), "output_height": g.int(1, 5), "output_width": g.int(1, 5), "sampling_ratio": g.int(0, 3),
                  "spatial_scale": g.pick(None, 0.5, 0.3)}
    if opset >= 16:
        attributes["coordinate_transformation_mode"] = g.pick(None, "output_half_pixel")
    return Case(op, [x, corners.reshape(rois, 4), g.r.integers(0, n, rois).astype(I64)], attributes, opset=opset)


@maker("MaxRoiPool")
def max_roi_pool(g, op):
    n, rois = g.int(1, 3), g.int(1, 4)
    x = g.values([n, g.size(), g.int(1, 9), g.int(1, 9)])
    corners = somewhere(g, [rois, 2, 2], -4, 16)
    corners.sort(axis=1)
    regions = np.concatenate([g.r.integers(0, n, (rois, 1)).astype(F32), corners.reshape(rois, 4)], axis=1)
    return Case(op, [x, regions], {"pooled_shape": [g.int(1, 4), g.int(1, 4)], "spatial_scale": g.pick(None, 0.5)}, opset=g.opset())


@maker("DeformConv")
def deform_conv(g, op):
    n, group, offsets, kernel, stride, pad = g.int(1, 2), g.int(1, 2), g.int(1, 2), [g.int(1, 3), g.int(1, 3)], g.int(1, 2), g.int(0, 1)
    ins, outs, size = 2 * g.int(1, 2), group * g.int(1, 3), [g.int(3, 7), g.int(3, 7)]
    out = [(s + 2 * pad - k) // stride + 1 for s, k in zip(size, kernel)]
    taps = kernel[0] * kernel[1]
    inputs = [g.values([n, ins] + size), g.values([outs, ins // group] + kernel), somewhere(g, [n, offsets * taps * 2] + out, -2, 2)]
    inputs.append(g.values([outs]) if g.chance() else None)
    inputs.append(somewhere(g, [n, offsets * taps] + out, 0, 1) if g.chance() else None)
    return Case(op, inputs, {"group": group, "offset_group": offsets, "strides": [stride] * 2, "pads": [pad] * 4, "kernel_shape": kernel},
                opset=max(g.opset(), 19))


@maker("MaxUnpool")
def max_unpool(g, op):
    axes = g.int(1, 3)
    kernel, strides = [g.int(1, 3) for _ in range(axes)], [g.int(1, 3) for _ in range(axes)]
    dims = [g.int(1, 2), g.int(1, 3)] + [g.int(1, 4) for _ in range(axes)]
    out = dims[:2] + [(d - 1) * s + k for d, s, k in zip(dims[2:], strides, kernel)]
    places = g.r.permutation(int(np.prod(out)))[: int(np.prod(dims))]
    places = np.resize(places, int(np.prod(dims))).reshape(dims).astype(I64)
    return Case(op, [g.values(dims, g.pick(F32, F32, F64)), places], {"kernel_shape": kernel, "strides": strides}, opset=max(g.opset(), 9))


@maker("NonMaxSuppression")
def non_max_suppression(g, op):
    n, boxes, classes = g.int(1, 2), g.int(1, 12), g.int(1, 3)
    inputs = [somewhere(g, [n, boxes, 4], 0, 4), g.values([n, classes, boxes]) / F32(10), g.ints([g.int(0, 6)])]
    inputs.append(np.array([g.pick(0.1, 0.4, 0.7)], F32) if g.chance(0.8) else None)
    inputs.append(np.array([g.pick(-0.2, 0.1)], F32) if g.chance() else None)
    return Case(op, inputs, {"center_point_box": g.pick(None, 1)}, opset=max(g.opset(), 10))
