#!/bin/sh
# Runs a static aarch64 program as on an A64FX core (SVE, 512-bit vectors) under user-mode QEMU.
#
#   tools/qemu-a64fx.sh PROGRAM [ARGUMENT...]
#
# QEMU_CPU names another processor, for example max,sve128=on. On x86-64 hosts with AVX2 the preload of
# tools/qemu_vzeroupper.c makes QEMU about 7 times faster; it is compiled on first use, into build/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$here/qemu_vzeroupper.c
preload=
if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then
  preload=$here/../build/qemu_vzeroupper.so
  if [ ! "$preload" -nt "$source" ]; then
    # Many tests may start at once: each writes its own file, and the last rename wins.
    mkdir -p "$here/../build"
    gcc -O2 -mavx2 -mfma -shared -fPIC "$source" -o "$preload.$$"
    mv -f "$preload.$$" "$preload"
  fi
fi
# -U keeps the x86 library out of the guest's environment.
LD_PRELOAD=$preload exec qemu-aarch64 -U LD_PRELOAD -cpu "${QEMU_CPU:-a64fx}" "$@"
