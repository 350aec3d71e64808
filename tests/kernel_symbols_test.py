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

PLACES = ("engine/CMakeFiles/svengine_kernels_*.dir", "tests/acle/CMakeFiles/svengine_acle_*.dir")
DIRECTORY = re.compile(r"svengine_(kernels|acle)_(\w+)\.dir$")
# Functions, variables, and what belongs to them: virtual tables, type information, guards of local statics.
MANGLED = r"_Z(GV|T[VIST])?Z?N[rVK]*8svengine{0}{1}"


def length_prefixed(name):
    return f"{len(name)}{name}"


def symbols(nm, objects):
    """(object, type, name) of each symbol that the objects define and others can see."""
    if not objects:
        return
    command = [nm, "--defined-only", "--extern-only", "--format=posix", "--print-file-name", *map(str, objects)]
    for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        path, _, rest = line.partition(": ")
        fields = rest.split()
        if len(fields) >= 2:
            yield path, fields[1], fields[0]


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 2
    nm = os.environ.get("NM") or "nm"
    build = pathlib.Path(arguments[0])
    kernel_sets, checked, wrong = set(), 0, []
    directories = [path for pattern in PLACES for path in build.glob(pattern)]
    for directory in sorted(directories):
        part, name = DIRECTORY.search(directory.name).groups()
        allowed = re.compile(MANGLED.format(length_prefixed(part), length_prefixed(name)))
        found = 0
        for path, kind, symbol in symbols(nm, sorted(directory.rglob("*.o"))):
            found += 1
            if not allowed.match(symbol):
                wrong.append(f"{path}: {kind} {symbol} is not in svengine::{part}::{name}")
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
