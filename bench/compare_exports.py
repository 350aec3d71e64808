#!/usr/bin/env python3
"""Networks of timm and transformers as PyTorch 2 exports them, beside PyTorch (answers) and ONNX Runtime (time): a line each.

  compare_exports.py [timm:NAME | transformers:TYPE]... [--family timm|transformers] [--seed N] [--svengine FILE] [--folder DIR] [--keep]
                     [--rounds N] [--iterations N] [--goal RATIO] [--seconds N]

Without names: of timm a small network of every module, of transformers every type of model, made small by its configuration. Weights are
those that the library draws. The seed decides the exporter (torch.export's or TorchScript's), the opset, sizes, and whether dimensions are
symbolic. What the exporters cannot do, or transformers cannot make small, is counted and is no finding.

error      the largest difference from PyTorch's outputs, over the largest absolute value of the output
ms         the processor's time of a run on one thread, in turns, the median of the rounds

Exits with 1 when a network is refused, differs, or is slower than --goal times ONNX Runtime. Needs a virtual environment:

  python3 -m venv build/exports
  build/exports/bin/pip install torch torchvision timm transformers onnxscript onnx onnxruntime
  build/exports/bin/python bench/compare_exports.py --rounds 0
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import warnings
import zlib

import numpy as np
import torch

from compare_torchvision import difference, run, time_both

MOST_PARAMETERS = 8e7
TOLERANCE = 1e-3
LARGE = ('large', 'huge', 'giant', 'xl', 'so400m', '1024', 'base', '512', '448', '384', 'medium')
SMALL = ('tiny', 'nano', 'atto', 'femto', 'pico', 'small', '18', 'test')
# What configurations call their sizes, and what is enough of each.
SIZES = {'hidden_size': 64, 'd_model': 64, 'n_embd': 64, 'embed_dim': 64, 'dim': 64, 'embedding_size': 64, 'encoder_hidden_dim': 64,
         'intermediate_size': 96, 'ffn_dim': 96, 'encoder_ffn_dim': 96, 'decoder_ffn_dim': 96, 'd_ff': 96, 'd_inner': 96, 'n_inner': 96,
         'num_hidden_layers': 2, 'n_layer': 2, 'n_layers': 2, 'num_layers': 2, 'encoder_layers': 2, 'decoder_layers': 2,
         'num_decoder_layers': 2, 'num_encoder_layers': 2, 'num_attention_heads': 4, 'n_head': 4, 'n_heads': 4, 'num_heads': 4,
         'encoder_attention_heads': 4, 'decoder_attention_heads': 4, 'num_key_value_heads': 2, 'num_kv_heads': 2, 'vocab_size': 300,
         'moe_intermediate_size': 48, 'num_experts': 4, 'n_routed_experts': 4, 'num_local_experts': 4, 'num_experts_per_tok': 2,
         'max_position_embeddings': 128, 'n_positions': 128, 'image_size': 64, 'num_mel_bins': 16, 'max_source_positions': 32,
         'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, 'sliding_window': 8}
HEADS = {'head_dim': 16, 'd_kv': 16, 'kv_lora_rank': 16, 'q_lora_rank': 24, 'qk_rope_head_dim': 8, 'qk_nope_head_dim': 8, 'v_head_dim': 16,
         'state_size': 8, 'rotary_dim': 8}


def tensors_in(value):
    if torch.is_tensor(value):
        return [value]
    parts = value.values() if hasattr(value, 'values') else value if isinstance(value, (list, tuple)) else ()
    return [t for part in parts for t in tensors_in(part)]


class Flat(torch.nn.Module):
    """A network whose inputs are in order and whose answer is a tuple of tensors."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        out = self.model(**dict(zip(self.names, inputs))) if self.names else self.model(*inputs)
        return tuple(tensors_in(out))


def few_enough(make):
    with torch.device('meta'):
        count = sum(p.numel() for p in make().parameters())
    if count > MOST_PARAMETERS:
        raise RuntimeError(f'{count} parameters are too many')
    return make().eval()


def timm_network(name, draw):
    import timm
    model = few_enough(lambda: timm.create_model(name, pretrained=False))
    for m in model.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.1), m.running_var.uniform_(0.7, 1.4)
    usual = model.default_cfg.get('input_size', (3, 224, 224))
    for size in ([(3, draw.choice([96, 128, 160]), draw.choice([96, 128, 160]))] if draw.random() < 0.5 else []) + [usual]:
        try:
            image = torch.randn(draw.choice([1, 1, 2]), *size)
            with torch.no_grad():
                model(image)
            return model, {}, (image,)
        except (RuntimeError, AssertionError, ValueError):  # networks of one size only
            continue
    raise RuntimeError('takes no image of its own size')


def shrink(config, sizes):
    for key, value in config.to_dict().items():
        part = getattr(config, key, None)
        if hasattr(part, 'to_dict'):
            shrink(part, sizes)
        elif key in sizes and isinstance(part, int) and not isinstance(part, bool) and part:
            setattr(config, key, min(part, sizes[key]))
        elif key == 'layer_types' and isinstance(value, list):
            setattr(config, key, value[:1] + value[-1:])


def inputs_of(config, model, draw):
    batch, length = draw.choice([(1, 9), (2, 16), (1, 24), (3, 8)])
    main = getattr(model, 'main_input_name', 'input_ids')
    takes = model.forward.__code__.co_varnames
    tokens = lambda count: torch.randint(3, 300, (batch, count))  # noqa: E731
    if main == 'pixel_values':
        size = getattr(getattr(config, 'vision_config', config), 'image_size', 64) or 64
        return {main: torch.randn(batch, getattr(config, 'num_channels', 3) or 3, *([size] * 2 if isinstance(size, int) else size))}
    if main == 'input_values':
        return {main: torch.randn(batch, 2400)}
    if main == 'input_features':
        out = {main: torch.randn(batch, getattr(config, 'num_mel_bins', 80), 2 * getattr(config, 'max_source_positions', 32))}
    else:
        out = {'input_ids': tokens(length)}
        if 'attention_mask' in takes and draw.random() < 0.7:
            out['attention_mask'] = torch.ones(batch, length, dtype=torch.long)
            out['attention_mask'][-1, length - 2:] = 0
    if 'decoder_input_ids' in takes:
        out['decoder_input_ids'] = tokens(7)
    return out


def transformers_network(name, draw):
    from transformers import AutoConfig, AutoModel
    problem = None
    for sizes in (SIZES | HEADS, SIZES, {k: v for k, v in SIZES.items() if 'layers' in k or k in ('vocab_size', 'image_size')}):
        for attention in (draw.choice(['eager', 'sdpa']), 'eager'):
            try:
                config = AutoConfig.for_model(name)
                shrink(config, sizes)
                config.use_cache = False
                model = few_enough(lambda: AutoModel.from_config(config, attn_implementation=attention).float())  # noqa: B023
                inputs = inputs_of(config, model, draw)
                with torch.no_grad():
                    model(**inputs)
                return model, list(inputs), tuple(inputs.values())
            except Exception as tried:  # a configuration whose sizes belong together otherwise
                problem = tried
    raise problem


def export(network, seed, folder):
    """Writes model.onnx, inputs and PyTorch's outputs; what is known of them to ports.json."""
    family, name = network.split(':')
    draw = random.Random(seed * 7919 + zlib.crc32(name.encode()))
    torch.manual_seed(seed)
    model, names, inputs = (timm_network if family == 'timm' else transformers_network)(name, draw)
    model = Flat(model, names).eval()
    with torch.no_grad():
        outputs = model(*inputs)
    youngest = draw.random() < 0.7
    opset = draw.choice([18, 20, 21, 22, 23] if youngest else [14, 15, 16, 17, 18, 19, 20])
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter('ignore')
        if youngest:
            any_size = tuple({i: torch.export.Dim.AUTO for i in range(2 if t.ndim == 2 else 1)} for t in inputs)
            symbolic = {'dynamic_shapes': (any_size,)} if draw.random() < 0.3 else {}
            torch.onnx.export(model, inputs, dynamo=True, opset_version=opset, verbose=False, **symbolic).save(str(folder / 'model.onnx'))
        else:
            torch.onnx.export(model, inputs, str(folder / 'model.onnx'), dynamo=False, opset_version=opset)
    import onnx
    graph = onnx.load(str(folder / 'model.onnx'), load_external_data=False).graph
    weights = {w.name for w in graph.initializer}
    ins = [i.name for i in graph.input if i.name not in weights]
    for i, t in enumerate(inputs):
        np.save(folder / f'in{i}.npy', t.numpy())
    for i, t in enumerate(outputs):
        np.save(folder / f'out{i}.npy', t.numpy())
    (folder / 'ports.json').write_text(json.dumps((ins, [o.name for o in graph.output], f'opset {opset}{", torch.export" if youngest else ""}')))


def check(network, options):
    """Prints the network's line: 'fine', 'bad', or 'not exported'."""
    folder = pathlib.Path(options.folder) / network.replace(':', '_')
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / 'ports.json').exists():
        command = [sys.executable, __file__, '--export', network, '--seed', str(options.seed), '--folder', str(folder)]
        try:  # in a process of its own: libraries crash, and wait for the network
            subprocess.run(command, capture_output=True, timeout=options.seconds, env={**os.environ, 'HF_HUB_OFFLINE': '1'}, check=True)
        except (subprocess.SubprocessError, OSError):
            shutil.rmtree(folder)
            return 'not exported'
    ins, outs, how = json.loads((folder / 'ports.json').read_text())
    model, feeds = folder / 'model.onnx', [word for i, port in enumerate(ins) for word in ('--input', f'{port}={folder}/in{i}.npy')]
    (folder / 'ours').mkdir(exist_ok=True)
    _, reason = run([options.svengine, 'run', model, '--output-dir', folder / 'ours', '--threads', '2', *feeds])
    words, good = [f'refused: {reason}'], not reason
    if good:
        got = [np.load(folder / 'ours' / f'{port}.npy') for port in outs]
        worst = max(difference(g, np.load(folder / f'out{i}.npy')) for i, g in enumerate(got))
        words, good = [f'{worst:.1e}' if worst <= TOLERANCE else f'DIFFERS {worst:.1e}'], worst <= TOLERANCE
    if good and options.rounds:
        times, reason = time_both(model, feeds, options)
        words.append(f'peer: {reason}' if reason else f'{times[0]:9.2f} ms {times[1]:9.2f} ms {times[0] / times[1]:5.2f}')
        if times and times[0] > options.goal * times[1]:
            words.append('SLOW')
            good = False
    print(f'{network:48} {how:24} {"  ".join(words)}', flush=True)
    if good and not options.keep:
        shutil.rmtree(folder)
    return 'fine' if good else 'bad'


def every_network(family):
    out = []
    if family != 'transformers':
        import timm
        size = lambda name: (sum(w in name for w in LARGE) - sum(w in name for w in SMALL), name)  # noqa: E731
        out += ['timm:' + min(timm.list_models(module=m), key=size) for m in timm.list_modules() if timm.list_models(module=m)]
    if family != 'timm':
        from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES
        out += ['transformers:' + name for name in sorted(MODEL_MAPPING_NAMES)]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('names', nargs='*', metavar='NAME')
    parser.add_argument('--family', choices=['timm', 'transformers'])
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--svengine', default='build/release/svengine')
    parser.add_argument('--folder', default='build/exported')
    parser.add_argument('--keep', action='store_true', help='leave what was exported, and use it again; what is bad stays in any case')
    parser.add_argument('--rounds', type=int, default=3, help='0: answers only')
    parser.add_argument('--iterations', type=int, default=3, help='of ours in a round')
    parser.add_argument('--goal', type=float, default=1.0)
    parser.add_argument('--seconds', type=int, default=120, help='that an export may take')
    parser.add_argument('--export', metavar='NAME', help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.peer_python = sys.executable
    if options.export:
        return export(options.export, options.seed, pathlib.Path(options.folder))
    kinds = collections.defaultdict(list)
    for network in options.names or every_network(options.family):
        kinds[check(network, options)].append(network)
    print(f'{len(kinds["fine"])} fine, {len(kinds["not exported"])} not exported; refused, different or slow: {", ".join(kinds["bad"]) or "none"}')
    return 1 if kinds['bad'] else 0


if __name__ == '__main__':
    sys.exit(main())
