#!/usr/bin/python3
"""Checks that the sources obey the layers of ARCHITECTURE.md and the limits of CONTRIBUTING.md. Usage: layers_test.py ROOT

  includes    go down the layers only; a kernel includes kernels' headers alone, and its intrinsics through vec.h
  processors  are asked for in their places only; a kernel has no conditional compilation
  sizes       files under 400 lines (kernels 300), functions under 60, in C++ and Python; lines of C++ as long as .clang-format has them
  library     prints nothing, never ends the process, throws nothing
  classes     have one definition: two of one name in one namespace crash, wherever they are
  operators   an OpDef is defined in engine/ops, by define_<operator>() in the file of that operator
"""
import ast
import os
import re
import sys

# Each layer and what it may include besides itself. api, bench, fuzz and python, like tools and tests, see all.
ALLOWED = {
    'engine/base': [],
    'engine/kernels': ['engine/base'],
    'engine/graph': ['engine/base'],
    'engine/ops': ['engine/base', 'engine/graph', 'engine/kernels'],
    'engine/plan': ['engine/base', 'engine/graph', 'engine/kernels', 'engine/ops'],
    'importers': ['engine/base', 'engine/graph', 'engine/ops'],
    'runtime': ['engine/base', 'engine/graph', 'engine/kernels', 'engine/ops', 'engine/plan'],
    'runtime/dataset': ['engine/base', 'importers'],
    'validate': ['engine/base', 'engine/graph', 'engine/kernels', 'engine/ops', 'engine/plan', 'importers', 'runtime'],
}
TOPS = ('api', 'bench', 'engine', 'examples', 'fuzz', 'importers', 'python', 'runtime', 'tests', 'tools', 'validate')
LIBRARY = ('api/', 'engine/', 'importers/', 'runtime/', 'validate/')
ANYBODYS = ('bench/', 'examples/', 'fuzz/', 'python/', 'tests/', 'tools/')
KERNEL_SOURCES = 'engine/kernels/sve/'
PROCESSOR = re.compile(r'__ARM_FEATURE_SVE\b|__aarch64__|__x86_64__|__AVX512F__|__AVX2__')
# The processor's name decides only here: the host's intrinsics, what a processor can run, and registers without portable names.
PROCESSOR_PLACES = ('engine/kernels/host/', 'engine/kernels/processor.cc', 'runtime/float_mode.cc', 'runtime/spin_wait.h', 'bench/', 'tests/')
CALLS = re.compile(r'\b(?:std::)?(printf|fprintf|puts|abort|exit|_exit|terminate)\s*\(|\bstd::(cout|cerr)\b|\bthrow\s+\w')
# A number of a file wraps to another type's: dtype_from_number() and dtype_attribute() ask whether it is one.
NUMBERED_TYPE = re.compile(r'static_cast<DType>\((?!i\))')
# What a broken contract says and how it ends the program, in presets dev and asan alone.
CONTRACTS = 'engine/kernels/contract.cc'
# What stands for a part of protobuf throws what that does.
PROTOBUF = 'api/protobuf_parts.cc'
MOST_LINES, MOST_KERNEL_LINES, MOST_FUNCTION_LINES = 399, 299, 59


def is_test(path):
    return path.startswith('tests/') or path.endswith(('_test.cc', '_bench.cc', '_test.py', '_test_util.h'))


def layer_of(path):
    return max((layer for layer in ALLOWED if path.startswith(layer + '/')), key=len, default=None)


def without_comments(text):
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', '', text, flags=re.DOTALL)


def include_problems(path, text):
    layer = layer_of(path)
    for include in re.findall(r'#include "([^"]+)"', text):
        target = layer_of(include)
        if path.startswith(KERNEL_SOURCES) and not include.startswith('engine/kernels/'):
            yield f'a kernel includes {include}'
        if layer and target and target != layer and target not in ALLOWED[layer] and not is_test(path):
            yield f'{layer} must not include {include}'
        if path.startswith(LIBRARY) and include.startswith(ANYBODYS) and not is_test(path):
            yield f'the library must not include {include}'
    if path.startswith(KERNEL_SOURCES) and not path.endswith('/vec.h') and '<arm_sve.h>' in text:
        yield 'a kernel gets its intrinsics through vec.h'


def processor_problems(path, text):
    if PROCESSOR.search(text) and not path.startswith(PROCESSOR_PLACES) and not is_test(path):
        yield 'asks for the processor'
    if path.startswith(KERNEL_SOURCES):
        yield from (f'a kernel has #{word}' for word in sorted(set(re.findall(r'^\s*#\s*(if|ifdef|ifndef|elif|else)\b', text, re.MULTILINE))))


def library_problems(path, text):
    if path.startswith(LIBRARY) and not is_test(path) and path not in (CONTRACTS, PROTOBUF):
        for found in CALLS.finditer(without_comments(text)):
            yield f'the library has {found[0].strip()}'
        if NUMBERED_TYPE.search(text):
            yield 'makes a DType of a number'


def catch_problems(path, text):
    """Debian 13 has Catch2 3, of which tests/support/catch2_3 makes version 2 only as far as this."""
    for name in sorted(set(re.findall(r'Catch::((?:Contains|Equals|StartsWith|EndsWith|Matches|Within\w+)\()', text))):
        yield f'uses Catch::{name}, which Catch2 3 has in Catch::Matchers'


def classes_of(path, text):
    """Classes that the library's headers define at the top of a namespace: two of one name there are one for the linker."""
    hosts = path.startswith('engine/kernels/host/')  # of two processors, never compiled together
    if path.startswith(LIBRARY) and path.endswith('.h') and not is_test(path) and not hosts:
        namespace = re.findall(r'^namespace ([\w:]+) \{', text, re.MULTILINE)[-1:]
        for name in re.findall(r'^(?:class|struct) (\w+)[^;\n]*\{', text, re.MULTILINE):
            yield namespace[0] if namespace else '', name


def operator_problems(path, text):
    for name in re.findall(r'^OpDef define_(\w+)\(\) \{', text, re.MULTILINE):
        if not path.startswith('engine/ops/'):
            yield f'defines operator {name}'


NO_FUNCTION = re.compile(r'(namespace|struct|class|enum|extern|#|\}|//|\*|if|for|while|switch|do|else|return|case|using|static_assert)\b|[#}/*]')


def indent_of(line):
    return len(line) - len(line.lstrip())


def opens_function(lines, i):
    """Line i, at the left or in a class, begins a declaration that ends in an opening brace."""
    line = lines[i]
    if indent_of(line) not in (0, 2) or '(' not in line or NO_FUNCTION.match(line.lstrip()):
        return False
    for j in range(i, min(i + 8, len(lines))):
        if j > i and indent_of(lines[j]) <= indent_of(line):
            return False
        code = re.sub(r'\s*//.*', '', lines[j]).rstrip()
        if code.endswith((';', '}')):
            return False
        if code.endswith('{'):
            return True
    return False


def cpp_functions(lines):
    """(first line, number of lines) of every function that stands at the left or in a class."""
    begin = None
    for i, line in enumerate(lines):
        if begin is None:
            begin = i if opens_function(lines, i) else None
        elif line.startswith(' ' * indent_of(lines[begin]) + '}'):
            yield lines[begin].strip(), i - begin + 1
            begin = None


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1


def size_problems(path, text):
    lines = text.splitlines()
    most = MOST_KERNEL_LINES if path.startswith('engine/kernels/') and not path.startswith('engine/kernels/host/') and not is_test(path) else MOST_LINES
    if len(lines) > most:
        yield f'{len(lines)} lines; {most + 1} are too many'
    for name, length in (python_functions(text) if path.endswith('.py') else cpp_functions(lines)):
        if length > MOST_FUNCTION_LINES:
            yield f'{name[:60]} has {length} lines; {MOST_FUNCTION_LINES + 1} are too many'


def column_limit(root):
    with open(os.path.join(root, '.clang-format'), encoding='utf-8') as style:
        return int(re.search(r'^ColumnLimit: (\d+)$', style.read(), re.MULTILINE)[1])


def width_problems(text, limit):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > limit:
            yield f'line {number} has {len(line)} characters; {limit + 1} are too many'


def problems(root):
    defined, columns = {}, column_limit(root)
    for top in TOPS:
        for folder, _, files in os.walk(os.path.join(root, top)):
            for file in sorted(files):
                path = os.path.relpath(os.path.join(folder, file), root)
                if not file.endswith(('.h', '.hpp', '.cc', '.c', '.py')):
                    continue
                with open(os.path.join(root, path), encoding='utf-8') as source:
                    text = source.read()
                found = list(size_problems(path, text))
                if not file.endswith('.py'):
                    found += width_problems(text, columns)
                    for check in (include_problems, processor_problems, library_problems, operator_problems, catch_problems):
                        found += check(path, text)
                    for name in classes_of(path, text):
                        if defined.setdefault(name, path) != path:
                            found.append(f'{"::".join(name)} is another class in {defined[name]}')
                yield from (f'{path}: {p}' for p in found)


def main():
    found = list(problems(sys.argv[1]))
    print('\n'.join(found) or 'layers hold')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
