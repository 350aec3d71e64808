#!/bin/sh
# Installs what is missing, builds everything with the address and undefined-behaviour sanitizers (preset asan: contracts of kernels are
# checked, the graph is verified after every pass, unwritten memory is NaN), and runs this machine's tests but for trainings that take long.
# Three checks of the undefined-behaviour sanitizer are left out, a fifth of the compile time: null and object-size, for AddressSanitizer sees
# accesses through null pointers and beyond objects (not a reference to null that nobody reads through), and vptr, which nothing stands in for.
#
#   tools/test_sanitized.sh [CTEST ARGUMENT...]      for example: tools/test_sanitized.sh -R hostile
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build test
tools/build.sh asan
OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} ctest --test-dir build/asan -j "$(nproc)" --output-on-failure -E 'training_torch|networks_(images|bert)' "$@"
