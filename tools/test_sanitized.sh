#!/bin/sh
# Installs what is missing, builds everything with the address and undefined-behaviour sanitizers (preset asan: contracts of kernels are
# checked, the graph is verified after every pass, unwritten memory is NaN), and runs this machine's tests but for trainings that take long.
# What goes through a null pointer or beyond an object AddressSanitizer sees when it happens: the undefined-behaviour sanitizer's own checks
# of these, and of the classes of objects, are left out, for they are a fifth of the compile time.
#
#   tools/test_sanitized.sh [CTEST ARGUMENT...]      for example: tools/test_sanitized.sh -R hostile
set -eu
cd "$(dirname "$0")/.."
tools/setup.sh build test
tools/build.sh asan
OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} ctest --test-dir build/asan -j "$(nproc)" --output-on-failure -E 'training_torch|networks_(images|bert)' "$@"
