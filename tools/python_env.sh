#!/bin/sh
# Makes the virtual environment with which the Python module is built and tested: tools/python_env.sh
#
# By pip, into build/python or $SVENGINE_PYTHON_ENV: nanobind, which the bindings are written with, scikit-build-core for the wheel, NumPy and
# ml_dtypes, and onnx, whose own test runner the tests use, with what its report asks for. When all is there it does nothing. A build folder configured afterwards has
# target svengine_python; one that was configured before: cmake build/release.
set -eu
cd "$(dirname "$0")/.."
env=${SVENGINE_PYTHON_ENV:-$PWD/build/python}
packages="nanobind==3.1.0 scikit-build-core==1.1.2 numpy ml_dtypes onnx==1.23.2 pytest tabulate"
if "$env/bin/python" -c "import ml_dtypes, nanobind, numpy, onnx, pytest, scikit_build_core, tabulate; assert onnx.__version__ == '1.23.2'" 2>/dev/null; then
  exit 0
fi
echo "Installing $packages into $env"
"${PYTHON:-python3}" -m venv "$env"
# shellcheck disable=SC2086  # a list of words
if ! "$env/bin/pip" install -q --disable-pip-version-check $packages; then
  echo "tools/python_env.sh: pip could not install them (no network, or no package index?)" >&2
  exit 1
fi
