#!/usr/bin/python3
"""Checks that the commands, paths, targets and options which the documents name exist.

  documents_test.py ROOT PROGRAM BUILD      the repository, svengine, and a build folder made by Ninja

Looked at is what stands in backquotes or in blocks of code, in every .md file under ROOT:
  paths       of this repository, also relative to the document, engine/ or engine/kernels/; <placeholders> and * stand for anything
  targets     behind `tools/build.sh PRESET` and `ninja -C build/PRESET`, and files under build/PRESET; the presets themselves
  commands    `svengine SUBCOMMAND`, its options against --help-all, the networks of `svengine zoo`
  options     that stand alone, against svengine's and those of the repository's scripts
OPERATORS.md has to be what `svengine ops --document` prints, and VALIDATING.md has the table that `svengine check --document` prints.
"""
import difflib
import glob
import itertools
import json
import os
import re
import subprocess
import sys

ROOT, PROGRAM, BUILD = sys.argv[1:4]
BASES = ('', 'engine', 'engine/kernels', 'engine/kernels/sve', 'engine/include')
SKIPPED = ('.git', 'build', '.cache')
SOURCE = re.compile(r'\.(cc|c|h|hpp|py|sh|md|inc|cmake)$')
OPTION = re.compile(r'--[a-z][a-z0-9-]*')
# Programs of others, whose options are not ours to check.
FOREIGN = ('cmake', 'cpack', 'pkg-config', 'ninja', 'apt-get', 'git', 'python3', 'gcc', 'g++', 'numactl', 'qemu-aarch64', 'perf')


def tree():
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in SKIPPED]
        for file in files:
            yield os.path.relpath(os.path.join(folder, file), ROOT)


FILES = sorted(tree())
NAMES = {os.path.basename(f) for f in FILES}


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def cmake_text():
    """Every CMake file as one text; what stands for a name there stands for every name."""
    return '\n'.join(read(f) for f in FILES if f.endswith(('CMakeLists.txt', '.cmake')))


class Known:
    """What there is, asked once."""

    def __init__(self):
        self.presets = {p['name'] for p in json.loads(read('CMakePresets.json'))['configurePresets']}
        self.targets = {line.rsplit(':', 1)[0] for line in output_of('ninja', '-C', BUILD, '-t', 'targets', 'all').splitlines() if ':' in line}
        self.cmake = cmake_text()
        self.help = {'': output_of(PROGRAM, '--help')}
        for command in re.findall(r'^  ([a-z]+) {2,}', self.help[''], re.MULTILINE):
            self.help[command] = output_of(PROGRAM, command, '--help-all')
        scripts = '\n'.join(read(f) for f in FILES if f.endswith(('.py', '.sh')) or f.startswith(('tests/backend/', 'tests/differential/')))
        self.options = set(OPTION.findall(scripts)) | {o for text in self.help.values() for o in OPTION.findall(text)}

    def is_target(self, name):
        """Of this build, or of one that finds more libraries (benchmarks)."""
        return name in self.targets or re.search(rf'\b{re.escape(name)}\b', self.cmake) is not None

    def is_made(self, name):
        """A file of the build folder: a target, or written by a test that CMake names."""
        patterns = re.findall(r'\$\{PROJECT_BINARY_DIR\}/([\w.${}]+)', self.cmake)
        return self.is_target(os.path.basename(name)) or any(
            re.fullmatch('.+'.join(map(re.escape, re.split(r'\$\{\w+\}', p))), name) for p in patterns)


def spans(text):
    """Lines of code: what is in blocks, with continued lines joined, and in backquotes."""
    blocks = re.findall(r'^```[^\n]*\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    rest = re.sub(r'^```[^\n]*\n.*?^```', '', text, flags=re.MULTILINE | re.DOTALL)
    blocks += re.findall(r'^(?:    .*\n)+', rest, re.MULTILINE)
    rest = re.sub(r'^    .*\n', '\n', rest, flags=re.MULTILINE)
    for block in blocks:
        if is_tree(block):
            continue
        for line in re.sub(r'\\\n\s*', ' ', block).splitlines():
            yield re.sub(r'\s(#|//) .*', '', line).strip()
    for span in re.findall(r'`([^`]+)`', rest):
        yield ' '.join(span.split())


def is_tree(block):
    """A picture of folders: names ending in a slash, those inside others further to the right."""
    lines = block.splitlines()
    return sum(bool(re.match(r' *[\w.]+/', line)) for line in lines) > max(3, len(lines) / 2)


def tree_problems(text):
    for block in filter(is_tree, re.findall(r'^```[^\n]*\n(.*?)^```', text, re.MULTILINE | re.DOTALL)):
        above = {}  # the folder at each indentation
        for line in block.splitlines():
            indent = len(line) - len(line.lstrip())
            names = [w.strip(',') for w in re.split(r'  +', line.strip())[0].split()]
            if not re.match(r'[\w.]+(/|,|$)', names[0]) or indent > 8:
                continue  # a description that goes on
            inside = above.get(max((i for i in above if i < indent), default=None), '')
            above = {**{i: f for i, f in above.items() if i < indent}, indent: os.path.join(inside, names[0])}
            yield from (f'there is no {os.path.join(inside, n)}' for n in names if not os.path.exists(os.path.join(ROOT, inside, n)))


def braces(word):
    """a{b,c} as ab and ac."""
    parts = [p[1:-1].split(',') if p.startswith('{') else [p] for p in re.split(r'(\{[^{}]*\})', word)]
    return [''.join(p) for p in itertools.product(*parts)]


def is_path(word, document):
    pattern = re.sub(r'<[^>]*>|\b[A-Z]{4,}\b', '*', word).rstrip('/')
    return any(glob.glob(os.path.join(ROOT, base, pattern)) for base in (os.path.dirname(document), *BASES))


def check_path(word, document, known):
    """What is wrong with a word that looks like a path of the repository or of a build folder."""
    built = re.fullmatch(r'build/([\w-]+)/(.+)', word)
    if built:
        if built[1] in known.presets and not known.is_made(built[2].removeprefix('tests/').removeprefix('bench/')):
            return f'no target makes {word}'
        return None
    if word.startswith('bench/') and os.path.exists(os.path.join(ROOT, word + '.cc')):
        return None  # a target where Google Benchmark is installed
    first = word.split('/')[0]
    tops = {f.split('/')[0] for f in FILES} | {f.split('/')[1] for f in FILES if f.startswith(('engine/', 'runtime/', 'tests/')) and f.count('/') > 1}
    if '/' in word and (first in tops or SOURCE.search(word)):
        if not re.fullmatch(r'[\w.*<>/@-]+', word) or word.startswith(('/', 'http')):
            return None
        return None if is_path(word, document) or is_path('runtime/' + word, document) or word in known.targets else f'there is no {word}'
    if SOURCE.search(word) and re.fullmatch(r'[\w.]+', word) and word not in NAMES:
        return f'there is no file {word}'
    return None


def check_targets(words, known):
    """Presets and targets behind the two commands that build."""
    for i, word in enumerate(words):
        rest = list(itertools.takewhile(lambda w: w not in ('&&', ';', '|'), words[i + 1:]))
        if word == '--preset' and rest and rest[0] not in known.presets:
            yield f'there is no preset {rest[0]}'
        if word == 'tools/build.sh' and rest:
            if rest[0] not in known.presets and rest[0] != 'PRESET':
                yield f'there is no preset {rest[0]}'
            yield from (f'there is no target {t}' for t in rest[1:] if re.fullmatch(r'[a-z]\w*', t) and not known.is_target(t))
        if word == 'ninja' and rest[:1] == ['-C']:
            if rest[1].removeprefix('build/') not in known.presets:
                yield f'there is no preset for {rest[1]}'
            yield from (f'there is no target {t}' for t in rest[2:] if re.fullmatch(r'[a-z]\w*', t) and not known.is_target(t))


def check_options(words, known):
    at = next((i for i, w in enumerate(words) if os.path.basename(w) == 'svengine'), None)
    if at is not None and at + 1 < len(words) and re.fullmatch(r'[a-z]+', words[at + 1]):
        command = words[at + 1]
        if command not in known.help:
            yield f'there is no svengine {command}'
            return
        for word in words[at + 2:]:
            yield from (f'svengine {command} has no option {o}' for o in OPTION.findall(word.split('=')[0])
                        if not re.search(rf'{o}(?![a-z-])', known.help[command]))
        if command == 'zoo' and at + 2 < len(words) and re.match(r'[a-z]', words[at + 2]) and words[at + 2] not in known.help['zoo']:
            yield f'svengine zoo has no {words[at + 2]}'
    elif not any(w in FOREIGN for w in words):
        yield from (f'nothing has the option {o}' for w in words for o in OPTION.findall(w.split('=')[0]) if w.startswith('--') and o not in known.options)


def problems(document, known):
    yield from (f'{document}: {p}' for p in tree_problems(read(document)))
    for line in spans(read(document)):
        words = line.split()
        found = list(check_targets(words, known)) + list(check_options(words, known))
        found += [p for w in words for b in braces(w.strip('.,;:()"\'')) for p in [check_path(b, document, known)] if p]
        yield from (f'{document}: {p}   (in `{line}`)' for p in found)


def table_problems():
    """Where the table of operators is not that of the program."""
    is_made, is_written = output_of(PROGRAM, 'ops', '--document').splitlines(), read('OPERATORS.md').splitlines()
    different = [line for line in difflib.unified_diff(is_written, is_made, lineterm='', n=0) if re.match(r'[+-]\|', line)]
    if is_made != is_written:
        yield f'OPERATORS.md is old: write it by `svengine ops --document > OPERATORS.md` ({"; ".join(different[:4])})'


def rule_problems():
    if output_of(PROGRAM, 'check', '--document') not in read('VALIDATING.md'):
        yield 'the rules in VALIDATING.md are old: the table is what `svengine check --document` prints'


def main():
    known = Known()
    documents = [f for f in FILES if f.endswith('.md')]
    found = [p for d in documents for p in problems(d, known)] + list(table_problems()) + list(rule_problems())
    print('\n'.join(found) or f'{len(documents)} documents name only what exists')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
