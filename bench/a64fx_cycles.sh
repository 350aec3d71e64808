#!/bin/sh
# Estimates what kernels and networks cost on A64FX, in cycles of one core, and prints a line for each goal.
#
#   bench/a64fx_cycles.sh [--layers] [--networks] [--json] [LINE...]     bench/a64fx_cycles.sh --help lists the lines
#
# Installs what is missing and builds. About 5 minutes; each whole network (--networks) adds 5 to 15.
set -eu
cd "$(dirname "$0")/.."
case " $* " in
  *" --help "* | *" -h "*) ;;
  *)
    {
      tools/setup.sh build a64fx bench
      tools/sysroot.sh
      tools/build.sh a64fx svengine kernel_costs
    } >&2
    ;;
esac
exec /usr/bin/python3 bench/a64fx_cycles.py --build build/a64fx "$@"
