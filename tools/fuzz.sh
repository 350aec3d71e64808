#!/bin/sh
# Installs what is missing, builds the fuzzers (clang, libFuzzer, address and undefined-behaviour sanitizers, kernel set reference) and runs
# every target of fuzz/, one after the other, from its corpus. A crash, an input of more than 30 s, of which 10 s are the
# processor's, or 1 GiB of memory (the sanitizers' own and libFuzzer's included) is a finding: then it ends with 1 and says where the input
# is.
#
#   tools/fuzz.sh [SECONDS] [TARGET...]      for example: tools/fuzz.sh 300 model subgraph; default: 30 s of every target
#
# What is found on the way that covers more stays in build/fuzz/corpus/TARGET for the next time.
set -eu
cd "$(dirname "$0")/.."
seconds=30
case ${1-} in [0-9]*) seconds=$1; shift ;; esac
export SVENGINE_CHECK_CONTRACTS=1 SVENGINE_VERIFY_PASSES=1
tools/setup.sh build fuzz
tools/build.sh fuzz fuzzer fuzz_replay
build=build/fuzz
targets=$($build/fuzz_replay --targets)
names=${*:-$(echo "$targets" | cut -d' ' -f1)}

# number NAME LOG: what libFuzzer's last line with NAME says
number() { sed -n "s/.*$1: *\([0-9]*\).*/\1/p" "$2" | tail -1; }

# is_slow NAME LOG: whether a run ended for an input that takes 10 s of the processor. libFuzzer counts the clock's seconds, of which a busy
# machine needs more: it stops at 30, and the input is then run once more by itself.
is_slow() {
  input=$(sed -n 's/.*Test unit written to \(.*timeout-.*\)/\1/p' "$2")
  [ -n "$input" ] || return 0
  if (ulimit -t 10 && exec $build/fuzzer --target="$1" -timeout=600 -rss_limit_mb=1024 "$input") >>"$2" 2>&1 </dev/null; then
    rm "$input"
    return 1
  fi
}

mkdir -p $build/found $build/logs
failed=0
printf '%-12s %12s %9s %9s\n' target executions coverage findings
for name in $names; do
  most=$(echo "$targets" | sed -n "s/^$name //p")
  if [ -z "$most" ]; then
    echo "fuzz.sh: no target '$name'; targets: $(echo "$targets" | cut -d' ' -f1 | tr '\n' ' ')" >&2
    exit 2
  fi
  grown=$build/corpus/$name
  log=$build/logs/$name.txt
  dictionary=
  [ ! -f "fuzz/$name.dict" ] || dictionary=-dict=fuzz/$name.dict
  mkdir -p "$grown"
  findings=0
  OMP_NUM_THREADS=1 nice -n 5 $build/fuzzer --target="$name" -max_total_time="$seconds" -max_len="$most" -timeout=30 -entropic=0 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$build/found/$name-" $dictionary "$grown" "fuzz/corpus/$name" >"$log" 2>&1 </dev/null || findings=1
  [ $findings -eq 0 ] || is_slow "$name" "$log" || findings=0
  printf '%-12s %12s %9s %9s\n' "$name" "$(number stat::number_of_executed_units "$log")" "$(number cov "$log")" $findings
  if [ $findings -ne 0 ]; then
    failed=1
    grep -E 'FINDING:|runtime error:|ERROR: (Address|Leak)|ERROR: libFuzzer|^SUMMARY|Test unit written to' "$log" | head -8 | sed 's/^/    /'
  fi
done
exit $failed
