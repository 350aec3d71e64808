#!/bin/sh
# Configures a preset once and builds it: tools/build.sh PRESET [NINJA ARGUMENT...]
#
# Only the first call configures; later ones leave it to ninja, which does so again when a CMake file has changed.
# ccache is used where it is installed. It is told to mind comments: a precompiled header from before a comment changed knows its headers
# by sums that no longer hold, and GCC then includes them again.
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
if [ ! -f "build/$preset/build.ninja" ]; then
  if command -v ccache >/dev/null; then
    CMAKE_C_COMPILER_LAUNCHER="env;CCACHE_COMMENTS=1;ccache" CMAKE_CXX_COMPILER_LAUNCHER="env;CCACHE_COMMENTS=1;ccache"
    export CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
  fi
  cmake --preset "$preset"
fi
ninja -C "build/$preset" "$@"
