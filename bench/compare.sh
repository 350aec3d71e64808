#!/bin/sh
# Measures SVEngine beside ONNX Runtime on this machine, and prints a line for each goal: ours, theirs, ratio, goal, pass or short.
#
#   bench/compare.sh [--quick] [--threads N] [--rounds N] [--json] [LINE...]        bench/compare.sh --help lists the lines
#
# Installs what is missing (Debian packages by tools/setup.sh, ONNX Runtime by pip into a virtual environment in build/peers,
# or in $SVENGINE_PEERS), builds the program and the product benchmark, writes the networks into build/networks,
# and hands over to compare.py. About 20 minutes, --quick about 6. Run it on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/.."
version=1.30.0  # of ONNX Runtime: the goals were set against it

prepare() {
  tools/setup.sh build bench
  tools/build.sh release svengine
  # A build folder made before Google Benchmark was there has no such target yet.
  ninja -C build/release -t query gemm_bench >/dev/null 2>&1 || cmake build/release >/dev/null
  tools/build.sh release gemm_bench || echo "compare.sh: gemm_bench was not built, so sgemm cannot be measured" >&2
  if ! "$peers/bin/python" -c "import numpy, onnxruntime; assert onnxruntime.__version__ == '$version'" 2>/dev/null; then
    echo "Installing ONNX Runtime $version into $peers"
    if ! { /usr/bin/python3 -m venv "$peers" &&
      "$peers/bin/pip" install -q --disable-pip-version-check "onnxruntime==$version" numpy; }; then
      echo "compare.sh: pip could not install ONNX Runtime $version (no network, or no package index?):" >&2
      echo "compare.sh: lines that compare with it will fail; the others are measured" >&2
    fi
  fi
}

peers=${SVENGINE_PEERS:-$PWD/build/peers}
case " $* " in
  *" --help "* | *" -h "*) ;;
  *) prepare >&2 ;;
esac
exec /usr/bin/python3 bench/compare.py --svengine build/release/svengine --gemm-bench build/release/bench/gemm_bench \
  --peer-python "$peers/bin/python" --networks build/networks "$@"
