#!/bin/sh
# Passes the kernel tests at every SVE vector length, under QEMU: tools/test_sve.sh [TEST...]
#
# TEST is the middle of a name, as conv for engine_kernels_conv_test; without one, all. A test runs the kernel set of the processor's
# vector length, which is QEMU's here: A64FX (512 bits), then any processor with 256 and 128.
set -eu
cd "$(dirname "$0")/.."
tools/sysroot.sh
if [ $# -gt 0 ]; then
  targets=$(printf 'engine_kernels_%s_test ' "$@")
else
  targets=$(find engine/kernels -name '*_test.cc' | sed 's|^engine/||; s|/|_|g; s|^|engine_|; s|\.cc$||' | sort)
fi
# shellcheck disable=SC2086  # a list of words
tools/build.sh sve $targets
failed=
for cpu in a64fx max,sve256=on max,sve128=on; do
  for target in $targets; do
    echo "$cpu $target"
    QEMU_CPU=$cpu tools/qemu-a64fx.sh "build/sve/tests/$target" || failed="$failed $cpu:$target"
  done
done
[ -z "$failed" ] || { echo "tools/test_sve.sh: failed:$failed" >&2; exit 1; }
