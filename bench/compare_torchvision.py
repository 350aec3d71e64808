#!/usr/bin/python3
"""Every network of torchvision, as its exporter writes it, beside PyTorch (answers) and ONNX Runtime (time): a line each.

  compare_torchvision.py [NAME...] [--group GROUP]... [--svengine FILE] [--peer-python FILE] [--kernels SET]... [--folder DIR] [--keep]
                         [--opset N] [--rounds N] [--iterations N] [--goal RATIO]

A NAME is one of torchvision's, a GROUP classification, segmentation, detection, video or optical_flow: of classification the smallest
of every family, or all with --every. Weights are seeded; batch norms get statistics of what they really see, and the heads of detectors are
widened, so that there are detections and their scores differ. Networks are exported one after the other, and deleted.

error      the largest difference from PyTorch's outputs, over the largest absolute value of the output. Detections are compared in
           order, or, where rounding has turned two of them about, as sets: "97 of 100" are the same. Beside it ONNX Runtime's.
ms         the processor's time of a run on one thread, in turns, the median of the rounds: a busy machine hardly changes it.

Exits with 1 when a network is refused, differs, or is slower than --goal times ONNX Runtime.
Needs Debian's python3-torch, python3-torchvision, python3-onnx; --peer-python the packages onnxruntime and numpy.
"""
import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import warnings

import numpy as np
import torch
import torchvision
from torchvision.ops.misc import FrozenBatchNorm2d

HERE = pathlib.Path(__file__).resolve().parent
SMALLEST = ['alexnet', 'convnext_tiny', 'densenet121', 'efficientnet_b0', 'efficientnet_v2_s', 'googlenet', 'inception_v3', 'maxvit_t', 'mnasnet0_5',
            'mobilenet_v2', 'mobilenet_v3_small', 'mobilenet_v3_large', 'regnet_x_400mf', 'regnet_y_400mf', 'resnet18', 'resnet50', 'resnext50_32x4d',
            'shufflenet_v2_x0_5', 'squeezenet1_1', 'swin_t', 'swin_v2_t', 'vgg11_bn', 'vit_b_32', 'wide_resnet50_2']
KEYPOINTS, CLASSES = 17, 91
MATCHED = 0.97  # of the detections: a score or an overlap within rounding of its threshold may fall on either side of it
TOLERANCE = 2e-3  # of an output's largest value; ONNX's backend tests ask for 1e-3 of every element of one operator


def groups():
    models = torchvision.models
    parts = {'segmentation': models.segmentation, 'detection': models.detection, 'video': models.video, 'optical_flow': models.optical_flow}
    named = {name: group for group, part in parts.items() for name in models.list_models(part)}
    return {**{name: 'classification' for name in models.list_models(models)}, **named}


class Flat(torch.nn.Module):
    """A network whose answer is a tuple of tensors."""

    def __init__(self, model, group):
        super().__init__()
        self.model, self.group = model, group

    def forward(self, *inputs):
        if self.group == 'detection':
            found = self.model(list(inputs))[0]
            return tuple(found[key] for key in ('boxes', 'scores', 'labels', 'masks', 'keypoints', 'keypoints_scores') if key in found)
        out = self.model(*inputs)
        if isinstance(out, dict):
            return tuple(out.values())
        return out[-1] if isinstance(out, list) else out


def picture(*shape):
    """Noise of several scales, which has edges and areas as pictures have."""
    planes = [torch.nn.functional.interpolate(torch.rand(1, 3, max(2, shape[-2] // s), max(2, shape[-1] // s)), shape[-2:], mode='bilinear')
              for s in (1, 8, 32, 96)]
    image = sum(planes)[0] / len(planes)
    return image.expand(*shape[:-3], 3, *shape[-2:]).clone()


def inputs_of(name, group):
    if group == 'detection':
        return [picture(3, 300, 400)]
    if group == 'video':
        size = {'mvit_v1_b': 224, 'mvit_v2_s': 224, 's3d': 224}.get(name, 112)
        frames = torch.stack([picture(3, size, size) for _ in range(16)], 1)
        return [frames[None] * 2 - 1]
    if group == 'optical_flow':
        return [picture(1, 3, 128, 160) * 2 - 1 for _ in range(2)]
    size = 299 if name == 'inception_v3' else 224
    return [picture(1, 3, size, size) * 4 - 2]


def build(name, group):
    options = {'weights': None}
    if group in ('detection', 'segmentation'):
        options['weights_backbone'] = None
    if group == 'detection':
        options['num_classes'] = 2 if 'keypoint' in name else CLASSES
        if not name.startswith('ssd'):
            options |= {'min_size': 320, 'max_size': 512}
    if name in ('googlenet', 'inception_v3'):
        options['init_weights'] = False
    torch.manual_seed(0)
    model = torchvision.models.get_model(name, **options).eval()
    with torch.no_grad():
        for path, p in model.named_parameters():  # first values that would hide what is behind them
            if p.ndim > 1 and not p.any():
                p.normal_(0, 0.05)
            elif path.endswith('layer_scale'):
                p.fill_(0.3)
    return model


def settle(model, inputs):
    """Statistics of what batch norms really see, one behind the other; of a detector's heads, outputs as wide as trained ones. Residual
    branches add little, as they do in trained networks: otherwise every block doubles rounding errors."""
    blocks = {path.rpartition('.')[0] for path, _ in model.named_modules() if path.endswith('bn3')}

    def norm(m, x):
        axes = [0, *range(2, x[0].ndim)]
        if m.ends_branch:
            m.weight.fill_(0.3)
        m.running_mean.copy_(x[0].mean(axes)), m.running_var.copy_(x[0].var(axes, unbiased=False) + 1e-3)

    def widen(m, x, out):
        if m in settled:  # by the first of a pyramid's levels, as all share its weights
            return None
        settled.add(m)
        wanted = m.wanted_deviation / max(out.std().item(), 1e-6)
        m.weight.mul_(wanted)
        return m.forward(*x)

    hooks, settled = [], set()
    for path, m in model.named_modules():
        if isinstance(m, (torch.nn.BatchNorm2d, torch.nn.BatchNorm3d, FrozenBatchNorm2d)):
            m.ends_branch = path.endswith('bn3') or (path.endswith('bn2') and path.rpartition('.')[0] not in blocks)
            hooks.append(m.register_forward_pre_hook(norm))
        parts = path.replace('.', '_').lower()
        if isinstance(m, (torch.nn.Conv2d, torch.nn.Linear)) and ('head' in parts or 'predictor' in parts or 'rpn' in parts) and len(list(m.parameters())):
            m.wanted_deviation = 0.4 if 'bbox' in parts or 'regression' in parts else 1.5
            hooks.append(m.register_forward_hook(widen))
    with torch.no_grad():
        for _ in range(2):  # the second time proposals come from heads that are settled
            settled = set()
            model(*inputs)
    for hook in hooks:
        hook.remove()


def export(name, group, folder, opset):
    """Writes model.onnx, inputs and PyTorch's outputs; says how many inputs and outputs there are."""
    model, inputs = Flat(build(name, group), group).eval(), inputs_of(name, group)
    with torch.no_grad():
        settle(model, inputs)
        outputs = model(*inputs)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    names = [f'in{i}' for i in range(len(inputs))], [f'out{i}' for i in range(len(outputs))]
    with warnings.catch_warnings():  # and with gradients, without which attention is one operator that the exporter does not know
        warnings.simplefilter('ignore')
        torch.onnx.export(model, tuple(inputs), str(folder / 'model.onnx'), opset_version=opset, input_names=names[0], output_names=names[1])
    for kind, tensors in zip(names, (inputs, outputs)):
        for port, t in zip(kind, tensors):
            np.save(folder / f'{port}.npy', t.numpy())
    return names


def difference(got, want):
    if got.shape != want.shape:
        return float('inf')
    if got.size == 0:
        return 0.0
    return float(np.abs(got.astype(np.float64) - want).max() / max(np.abs(want).max(), 1e-6))


def matched(got, want):
    """How many of the detections that are wanted are there, and the largest difference of those. Masks and key points are judged by
    their means: where a box is cut to whole pixels, or which pixel is the highest, may change by one."""
    count, worst, left = 0, 0.0, set(range(len(got[0])))
    for i in range(len(want[0])):
        best = min(left, key=lambda j: max(difference(g[j], w[i]) for g, w in zip(got[:3], want)), default=None)
        if best is None:
            break
        off = max(difference(g[best], w[i]) for g, w in zip(got[:3], want))
        off_mean = max([np.abs(g[best] - w[i]).mean() / max(np.abs(w[i]).max(), 1e-6) for g, w in zip(got[3:], want[3:])], default=0)
        if off <= TOLERANCE and off_mean <= TOLERANCE:
            count, worst = count + 1, max(worst, off)
            left.discard(best)
    return count, worst


def judge(folder, ports, want, group):
    """What the outputs in a folder are worth: (agrees, words)."""
    got = [np.load(folder / f'{port}.npy') for port in ports]
    worst = max(difference(g, w) for g, w in zip(got, want))
    if group != 'detection':
        return worst <= TOLERANCE, f'{worst:.1e}'
    found = len(want[0])
    if worst <= TOLERANCE:
        return found > 0, f'{worst:.1e} ({found})'
    count, off = matched(got, want)
    return found > 0 and count >= MATCHED * max(found, len(got[0])), f'{off:.1e} ({count} of {found}, {len(got[0])})'


def run(command):
    """Standard output, or why there is none."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or f'exit status {done.returncode}').splitlines()
        return None, ' / '.join(lines[-3:])[:400]
    return done.stdout, None


def time_both(model, feeds, options):
    """Medians of the processor's milliseconds: ours, theirs."""
    ours = [options.svengine, 'bench', model, '--json', '--threads', '1', '--iterations', options.iterations, *feeds]
    theirs = [options.peer_python, HERE / 'onnxruntime_bench.py', model, '--threads', '1', '--duration', '0.5', *feeds]
    times = ([], [])
    for _ in range(options.rounds):
        for command, kept in zip((ours, theirs), times):
            text, reason = run(command)
            if reason:
                return None, reason
            kept.append(json.loads(text)['cpu_ms'])
    return tuple(statistics.median(t) for t in times), None


def check(name, group, options):
    """Prints the network's line; whether all is well."""
    folder = pathlib.Path(options.folder) / name
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / 'ports.json').exists():
        ins, outs = json.loads((folder / 'ports.json').read_text())
    else:
        try:
            ins, outs = export(name, group, folder, options.opset or (11 if group == 'detection' else 16 if group == 'optical_flow' else 17))
        except Exception as problem:  # whatever torch's exporter cannot do is no statement about this engine
            shutil.rmtree(folder)
            print(f'{name:38} not exported: {str(problem).strip().splitlines()[0][:120]}', flush=True)
            return True
        (folder / 'ports.json').write_text(json.dumps((ins, outs)))
    model, feeds = folder / 'model.onnx', [word for port in ins for word in ('--input', f'{port}={folder}/{port}.npy')]
    want = [np.load(folder / f'{port}.npy') for port in outs]
    good, words = True, []
    for kernels in options.kernels or [None]:
        out = folder / (kernels or 'native')
        out.mkdir(exist_ok=True)
        _, reason = run([options.svengine, 'run', model, '--output-dir', out, '--threads', '2', *feeds, *(['--kernels', kernels] if kernels else [])])
        agrees, said = (False, f'refused: {reason}') if reason else judge(out, outs, want, group)
        good &= agrees
        words.append(f'{"" if agrees or reason else "DIFFERS "}{kernels + " " if kernels else ""}{said}')
    if options.rounds and not any('refused' in w for w in words):
        (folder / 'peer').mkdir(exist_ok=True)
        _, reason = run([options.peer_python, HERE / 'onnxruntime_bench.py', model, '--duration', '0', '--output-dir', folder / 'peer', *feeds])
        words.append('peer ' + (reason or judge(folder / 'peer', outs, want, group)[1]))
        times, reason = (None, reason) if reason else time_both(model, feeds, options)
        if times:
            words.append(f'{times[0]:9.2f} ms {times[1]:9.2f} ms {times[0] / times[1]:5.2f}{" SLOW" if times[0] > options.goal * times[1] else ""}')
            good &= times[0] <= options.goal * times[1]
    print(f'{name:38} {"  ".join(words)}', flush=True)
    if not options.keep:
        shutil.rmtree(folder)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', metavar='NAME')
    parser.add_argument('--group', action='append', default=[])
    parser.add_argument('--every', action='store_true', help='all sizes of every family')
    parser.add_argument('--svengine', default='build/release/svengine')
    parser.add_argument('--peer-python', default='build/peers/bin/python')
    parser.add_argument('--kernels', action='append', default=[], metavar='SET')
    parser.add_argument('--folder', default='build/torchvision')
    parser.add_argument('--keep', action='store_true', help='leave what was exported, and use it again')
    parser.add_argument('--opset', type=int)
    parser.add_argument('--rounds', type=int, default=3, help='0: answers only')
    parser.add_argument('--iterations', type=int, default=3, help='of ours in a round')
    parser.add_argument('--goal', type=float, default=1.0)
    options = parser.parse_args()
    known = groups()
    names = options.names or [n for n, g in known.items() if (g in options.group or not options.group) and
                              (options.every or g != 'classification' or n in SMALLEST)]
    torch.set_num_threads(2)
    bad = [name for name in names if not check(name, known[name], options)]
    print(f'{len(names)} networks; refused, different or slow: {", ".join(bad) or "none"}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
