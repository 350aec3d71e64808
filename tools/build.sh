#!/bin/sh
# Configures a preset once and builds it: tools/build.sh PRESET [NINJA ARGUMENT...]
#
# Only the first call configures; later ones leave it to ninja, which does so again when a CMake file has changed.
# ccache is used where it is installed.
set -eu
cd "$(dirname "$0")/.."
preset=$1
shift
if [ ! -f "build/$preset/build.ninja" ]; then
  if command -v ccache >/dev/null; then
    CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
  fi
  cmake --preset "$preset"
fi
ninja -C "build/$preset" "$@"
