#!/bin/sh
# Estimates what kernels and networks cost on A64FX, in cycles of one core, and prints a line for each goal.
#
#   bench/a64fx_cycles.sh [--layers] [--networks] [--json] [LINE...]     bench/a64fx_cycles.sh --help lists the lines
#
# Needs a64fx-cycles and qemu-a64fx in ../shared/a64fx beside this checkout, which also have the figures of oneDNN's kernels; without
# them there is nothing to print, and it says so. About 5 minutes; each whole network (--networks) adds 5 to 15.
set -eu
cd "$(dirname "$0")/.."
tools=$PWD/../shared/a64fx
if [ ! -x "$tools/a64fx-cycles" ]; then
  echo "a64fx_cycles.sh: the estimator is not here: it is expected as ../shared/a64fx/a64fx-cycles beside this checkout." >&2
  exit 2
fi
case " $* " in
  *" --help "* | *" -h "*) ;;
  *)
    {
      tools/setup.sh build a64fx
      tools/sysroot.sh
      tools/build.sh a64fx svengine kernel_costs
    } >&2
    ;;
esac
exec /usr/bin/python3 bench/a64fx_cycles.py --tools "$tools" --build build/a64fx "$@"
