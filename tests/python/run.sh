#!/bin/sh
# run.sh PYTHON built|missing: the tests of the Python module with that interpreter, or what is missing for them (exit code 77).
here=$(dirname "$0")
if [ "$2" != built ]; then
  echo "NOT RUN: this build has no Python module: $1 was not there, or not complete, when it was configured, or this is a build with sanitizers."
  echo "tools/python_env.sh makes the environment (pip: nanobind, NumPy, onnx); cmake on the build folder then adds the module."
  exit 77
fi
exec "$1" -W error::ResourceWarning -m unittest discover -s "$here" -t "$here" -p '*_test.py' -v
