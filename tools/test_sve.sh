#!/bin/sh
# Passes the kernel tests at every SVE vector length, under QEMU: tools/test_sve.sh [TEST...]
#
# TEST is the beginning of a file's name, as conv for engine/kernels/conv_test.cc; without one, all. A test runs the kernel set of the
# processor's vector length, which is QEMU's here: A64FX (512 bits), then any processor with 256 and 128.
set -eu
cd "$(dirname "$0")/.."
tools/sysroot.sh
tools/build.sh sve kernels_tests
tags=
for test; do tags="$tags${tags:+,}[#${test}_test]"; done
failed=
for cpu in a64fx max,sve256=on max,sve128=on; do
  echo "== $cpu"
  # shellcheck disable=SC2086  # no word where there are no tags
  QEMU_CPU=$cpu tools/qemu-a64fx.sh build/sve/tests/kernels_tests --filenames-as-tags $tags || failed="$failed $cpu"
done
[ -z "$failed" ] || { echo "tools/test_sve.sh: failed on$failed" >&2; exit 1; }
