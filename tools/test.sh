#!/bin/sh
# Installs what is missing, builds svengine for this machine and for A64FX, and runs every test on both: natively, and on
# QEMU's A64FX. CTest's one summary at the end counts both; the names of the A64FX tests begin with "a64fx.". The slowest compiles and
# tests are shown before it.
#
#   tools/test.sh [CTEST ARGUMENT...]      for example: tools/test.sh -R gemm
#
# Works from a fresh Debian 12 clone, as root or with sudo. Leaves build/release/svengine and build/a64fx/svengine.
set -eu
cd "$(dirname "$0")/.."
free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1048576) }')
[ "$free" -ge 9 ] || echo "test.sh: $free GiB are free here; two builds, the networks and what tests write take 9: some may fail" >&2
tools/setup.sh build test a64fx python
# What comes by pip is for one test, which says so where there is no package index.
tools/python_env.sh || echo "test.sh: goes on without the Python module; its test will say that it was not run" >&2
tools/sysroot.sh
tools/build.sh release
tools/build.sh a64fx

# The two build folders as the parts of one test folder.
mkdir -p build/test
printf 'subdirs(../release ../a64fx)\n' >build/test/CTestTestfile.cmake
# One test a core is quickest: a test that is about threads asks for its number of them.
jobs=$(nproc)  # which goes by OMP_NUM_THREADS, so it is asked before
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
tools/slowest.py compiles build/release build/a64fx
tools/slowest.py tests --test-dir build/test -j "$jobs" --output-on-failure "$@"
