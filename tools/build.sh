#!/bin/sh
# Configures a preset once and builds it: tools/build.sh PRESET [NINJA ARGUMENT...]
#
# Only the first call configures; later ones leave it to ninja, which does so again when a CMake file has changed.
# ccache is used where it is installed, in depend mode, which compares the bytes of every header. Compared after preprocessing, a header
# of which only macros or comments changed would bring back a precompiled header that GCC does not take for that file any more.
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
if [ ! -f "build/$preset/build.ninja" ]; then
  if command -v ccache >/dev/null; then
    CMAKE_C_COMPILER_LAUNCHER="env;CCACHE_DEPEND=1;ccache" CMAKE_CXX_COMPILER_LAUNCHER="env;CCACHE_DEPEND=1;ccache"
    export CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
  fi
  cmake --preset "$preset"
fi
ninja -C "build/$preset" "$@"
