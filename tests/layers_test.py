#!/usr/bin/python3
"""Checks that includes obey the layers of ARCHITECTURE.md, and that processor checks stay in their place. Usage: layers_test.py ROOT"""
import os
import re
import sys

# Each layer and what it may include besides itself.
ALLOWED = {
    'engine/base': [],
    'engine/kernels': ['engine/base'],
    'engine/graph': ['engine/base'],
    'engine/ops': ['engine/base', 'engine/graph', 'engine/kernels'],
    'engine/plan': ['engine/base', 'engine/graph', 'engine/kernels', 'engine/ops'],
    'importers': ['engine/base', 'engine/graph', 'engine/ops'],
    'runtime': ['engine/base', 'engine/graph', 'engine/kernels', 'engine/ops', 'engine/plan'],
    'runtime/dataset': ['engine/base', 'importers'],
}
KERNEL_SOURCES = 'engine/kernels/sve/'
PROCESSOR = re.compile(r'__ARM_FEATURE_SVE\b|__aarch64__|__x86_64__|__AVX512F__|__AVX2__')
# The processor's name decides only here: the host's intrinsics, what a processor can run, and registers without portable names.
PROCESSOR_PLACES = ('engine/kernels/host/', 'engine/kernels/processor.cc', 'runtime/denormals.cc', 'runtime/barrier.cc')


def layer_of(path):
    return max((layer for layer in ALLOWED if path.startswith(layer + '/')), key=len, default=None)


def problems(root):
    for top in ('engine', 'importers', 'runtime', 'tools'):
        for folder, _, files in os.walk(os.path.join(root, top)):
            for file in files:
                if not file.endswith(('.h', '.cc')):
                    continue
                path = os.path.relpath(os.path.join(folder, file), root)
                text = open(os.path.join(root, path), encoding='utf-8').read()
                layer = layer_of(path)
                if PROCESSOR.search(text) and not path.startswith(PROCESSOR_PLACES) and '_test' not in file:
                    yield f'{path}: asks for the processor'
                for include in re.findall(r'#include "([^"]+)"', text):
                    target = layer_of(include)
                    if path.startswith(KERNEL_SOURCES) and not include.startswith('engine/kernels/'):
                        yield f'{path}: a kernel includes {include}'
                    if layer and target and target != layer and target not in ALLOWED[layer] and not file.endswith(('_test.cc', '_bench.cc')):
                        yield f'{path}: {layer} must not include {include}'
                lines = text.count('\n')
                if lines > 600:
                    yield f'{path}: {lines} lines; 600 is the limit'


found = list(problems(sys.argv[1]))
print('\n'.join(found) or 'layers hold')
sys.exit(1 if found else 0)
