"""Compiles and runs the snippets of C.md, CPP.md or FORTRAN.md.

snippets_test.py DOCUMENT LANGUAGE ROOT LINK... -- COMPILER FLAG...      LINK: what programs are linked with

A block of code in LANGUAGE (c, cpp, fortran) that is a whole program is compiled as it stands. The others are put into one program, each in a scope
of its own. Both run in a folder with the networks that the documents name, and have to end with 0.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
C_FRAME = '''#include <stdio.h>
#include <svengine/svengine.h>
static int fail(void) { return fprintf(stderr, "%s\\n", svengine_last_error()), 1; }
'''
CPP_FRAME = '''#include <svengine/nn.hpp>
#include <svengine/svengine.hpp>
#include <cstdio>
static int fail(const std::string& error) { return std::fprintf(stderr, "%s\\n", error.c_str()), 1; }
'''
FORTRAN_FRAME = '''program snippets
use, intrinsic :: iso_fortran_env
use svengine
implicit none
'''
SUFFIXES = {'c': '.c', 'cpp': '.cc', 'fortran': '.f90'}
WHOLE = re.compile(r'^(#include|program )', re.MULTILINE)


def blocks_of(document, language):
    with open(document, encoding='utf-8') as file:
        return re.findall(r'^```%s\n(.*?)^```' % language, file.read(), re.MULTILINE | re.DOTALL)


def joined(blocks, language):
    """One program of all snippets."""
    if language == 'fortran':
        return FORTRAN_FRAME + ''.join('block\n%send block\n' % b for b in blocks) + 'end program\n'
    functions = ['static int snippet_%d(void) {\n%sreturn 0;\n}\n' % (i, b) for i, b in enumerate(blocks)]
    main = 'int main(void) {\n%sreturn 0;\n}\n' % ''.join('if (snippet_%d()) return %d;\n' % (i, i + 1) for i in range(len(blocks)))
    return (C_FRAME if language == 'c' else CPP_FRAME) + ''.join(functions) + main


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit('%s\n%s\nexit code %d' % (' '.join(command), done.stdout, done.returncode))
    return done.stdout


def main():
    document, language, root, *rest = sys.argv[1:]
    link, (compiler, *flags) = rest[:rest.index('--')], rest[rest.index('--') + 1:]
    blocks = blocks_of(os.path.join(root, document), language)
    snippets = [b for b in blocks if not WHOLE.search(b)]
    programs = [b for b in blocks if WHOLE.search(b)] + [joined(snippets, language)]
    assert len(programs) > 1 and len(snippets) > 2, document
    with tempfile.TemporaryDirectory(prefix='svengine_snippets_') as folder:
        run(folder, sys.executable, os.path.join(HERE, '../fortran/models.py'), folder)
        for i, text in enumerate(programs):
            source, program = 'program%d%s' % (i, SUFFIXES[language]), os.path.join(folder, 'program%d' % i)
            with open(os.path.join(folder, source), 'w', encoding='utf-8') as file:
                file.write(text)
            run(folder, compiler, *flags, '-fopenmp', '-Wall', '-Werror', '-c', source, '-o', program + '.o')
            run(folder, compiler, *flags, program + '.o', '-o', program, *link, '-fopenmp', '-lstdc++', '-lm')
            print(run(folder, program))
    print('%s: %d programs of %d blocks' % (document, len(programs), len(blocks)))


if __name__ == '__main__':
    main()
