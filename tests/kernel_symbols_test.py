#!/usr/bin/python3
"""Code compiled for one instruction set must never be what the linker keeps for everybody.

    kernel_symbols_test.py BUILD_DIR

Looks at the object files of every kernel set (svengine_kernels_SET.dir) and of the intrinsics' test (svengine_acle_SET.dir)
below BUILD_DIR: each symbol they define for others must lie in namespace svengine::kernels::SET or svengine::acle::SET. An
inline function of the standard library, say, would be a weak symbol outside it: the linker keeps one of all equal ones, and if
that is the one compiled for AVX-512, the program dies on a processor without it, far away from any kernel.

The environment variable NM names the nm program (a cross build's own), default nm.
"""
import os
import pathlib
import re
import subprocess
import sys

DIRECTORY = re.compile(r"svengine_(kernels|acle)_(\w+)\.dir$")
# Functions, variables, and what belongs to them: virtual tables, type information, guards of local statics.
MANGLED = r"_Z(GV|T[VIST])?Z?N[rVK]*8svengine{0}{1}"


def length_prefixed(name):
    return f"{len(name)}{name}"


def symbols(nm, path):
    """(type, name) of each symbol that the object defines and others can see."""
    lines = subprocess.run([nm, "--defined-only", "--extern-only", "--format=posix", str(path)], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [(line.split()[1], line.split()[0]) for line in lines if len(line.split()) >= 2]


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    nm = os.environ.get("NM") or "nm"
    build = pathlib.Path(arguments[0])
    kernel_sets, checked, wrong = set(), 0, []
    for directory in sorted(path for path in build.rglob("svengine_*.dir") if DIRECTORY.search(path.name)):
        part, name = DIRECTORY.search(directory.name).groups()
        allowed = re.compile(MANGLED.format(length_prefixed(part), length_prefixed(name)))
        objects = sorted(directory.rglob("*.o"))
        found = 0
        for path in objects:
            for kind, symbol in symbols(nm, path):
                found += 1
                if not allowed.match(symbol):
                    wrong.append(f"{path.relative_to(build)}: {kind} {symbol} is not in svengine::{part}::{name}")
        if part == "kernels" and found:
            kernel_sets.add(name)
        checked += found
    for line in wrong:
        print(line)
    if not kernel_sets:
        print(f"no kernel objects with symbols below {build}: nothing was checked")
        return 1
    print(f"{checked} symbols of kernel sets {', '.join(sorted(kernel_sets))}: {len(wrong)} outside their namespace")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
