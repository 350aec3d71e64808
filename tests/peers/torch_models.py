"""For the scripts that record PyTorch: weights that tests can draw again, and exported networks without them."""
import os
import sys

import numpy as np
import onnx_file
import recording
import torch

KEPT_WHOLE = 64  # elements of a constant that is none of the weights and stays in the file


def peer():
    names = [f'PyTorch {torch.__version__}']
    if 'torchvision' in sys.modules:
        names.append(f'torchvision {sys.modules["torchvision"].__version__}')
    return ', '.join(names)


def command(argument):
    """What makes a recording again, from the repository's root."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return f'{os.path.relpath(os.path.abspath(sys.argv[0]), root)} {argument}'


def redraw(key, model):
    """Gives every float weight and statistic of the model new values, as wide as PyTorch's own first ones. Returns the Weights."""
    fills = {}
    for name, p in model.state_dict().items():
        if not p.is_floating_point():
            continue
        p = p.double()
        width = float(f'{3 ** 0.5 * p.std(unbiased=False).item():.4g}')
        fills[name] = [-width, width] if width else [p.flatten()[0].item()] * 2
    weights = recording.Weights(key, fills)
    model.load_state_dict({n: torch.tensor(weights.draw(n, list(p.shape))) if n in fills else p for n, p in model.state_dict().items()})
    return weights


def settle_norms(model, weights, inputs):
    """Gives batch norms, one behind the other, statistics around those of what they really get, and gains around 1. With others a deep
    network's output soon depends on its last bias alone, and a comparison of it says nothing."""
    def settle(name, norm, x):
        mean, deviation = x.mean().item(), max(x.std().item(), 1e-3)
        ranges = {'running_mean': (mean - deviation / 4, mean + deviation / 4), 'running_var': (0.7 * deviation ** 2, 1.4 * deviation ** 2),
                  'weight': (0.7, 1.3), 'bias': (-0.2, 0.2)}
        for part, bounds in ranges.items():
            weights.fills[f'{name}.{part}'] = [float(f'{b:.4g}') for b in bounds]
            with torch.no_grad():
                getattr(norm, part).copy_(torch.tensor(weights.draw(f'{name}.{part}', [norm.num_features])))

    hooks = [m.register_forward_pre_hook(lambda m, x, n=n: settle(n, m, x[0])) for n, m in model.named_modules() if isinstance(m, torch.nn.BatchNorm2d)]
    with torch.no_grad():
        model(*inputs)
    for hook in hooks:
        hook.remove()


def match(tensor, state, folds):
    """The recipe for an initializer of the exported file."""
    values = tensor.values
    if tensor.name in state and ('running_' in tensor.name or np.array_equal(state[tensor.name], values)):  # tracing for training moves statistics
        return tensor.name
    for name, p in state.items():
        if p.shape == values.shape and np.array_equal(p, values):
            return name
        if p.ndim == 2 and p.T.shape == values.shape and np.array_equal(p.T, values):
            return {'transposed': name}
    for recipe, folded in folds:
        if folded.shape == values.shape and np.allclose(folded, values, rtol=1e-5, atol=1e-6 * np.abs(values).max()):
            return recipe
    if values.size <= KEPT_WHOLE:
        return None
    sys.exit(f'initializer {tensor.name} {tensor.dims} is none of the weights')


def all_folds(model, weights):
    """Every convolution with the batch norm that may follow it: [(recipe, values)]."""
    norms = [(n, m) for n, m in model.named_modules() if isinstance(m, torch.nn.BatchNorm2d)]
    out = []
    for conv_name, conv in ((n, m) for n, m in model.named_modules() if isinstance(m, torch.nn.Conv2d)):
        at = [n for n, _ in model.named_modules()].index(conv_name)
        following = {n for n, _ in list(model.named_modules())[at:at + 12]}
        for norm_name, norm in norms:
            if norm_name not in following or norm.num_features != conv.out_channels:
                continue
            place = [conv_name, norm_name, norm.eps]
            for recipe, shape in (({'fold': place}, list(conv.weight.shape)),
                                  ({'fold_bias': place, 'has_bias': conv.bias is not None}, [conv.out_channels])):
                out.append((recipe, weights.cook(recipe, shape)))
    return out


def export(model, weights, inputs, path, **options):
    """Writes PATH.onnx.gz, the network without its weights, and returns what a recording must say to draw them again."""
    file = path + '.whole'
    torch.onnx.export(model, tuple(torch.tensor(t) for t in inputs), file, **options)
    with open(file, 'rb') as f:
        whole = f.read()
    os.remove(file)
    state = {n: weights.draw(n, list(p.shape)) for n, p in model.state_dict().items() if p.is_floating_point()}
    folds = all_folds(model, weights) if not model.training else []
    recipes = {n: match(t, state, folds) for n, t in onnx_file.initializers(whole).items() if t.type == onnx_file.FLOAT}
    recipes = {n: r for n, r in recipes.items() if r is not None}
    recording.save_network(path + '.onnx.gz', onnx_file.replace_initializers(whole, lambda t: 'none' if t.name in recipes else None))
    names = {n for r in recipes.values() for n in weights_of(r)}
    return {'fills': {n: f for n, f in weights.fills.items() if n in names}, 'recipes': {n: r for n, r in recipes.items() if r != n}}


def weights_of(recipe):
    """The weights that a recipe speaks of."""
    if isinstance(recipe, str):
        return [recipe]
    if 'transposed' in recipe:
        return [recipe['transposed']]
    conv, norm, _ = recipe.get('fold') or recipe['fold_bias']
    return [conv + '.weight', conv + '.bias'] + [f'{norm}.{part}' for part in ('weight', 'bias', 'running_mean', 'running_var')]
