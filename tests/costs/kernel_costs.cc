// Runs kernels for somebody who counts what the processor does meanwhile; measures nothing itself.
//
//   kernel_costs WORK...               prints each name; every work runs once to warm up and once between two marks
//   kernel_costs --repeat N WORK       prepares the work and calls it N times (0: not at all), without marks
//   kernel_costs --winograd WORK       prints the cycles that Winograd's plan counts for a convolution on A64FX
//
// Works are named in works.h. A mark is a system call that no system has, which tests/costs/instruction_count.c looks
// out for; anywhere else it fails and does nothing.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/costs/works.h"

namespace {

constexpr long kMark = 0x535645;  // known to instruction_count.c

int unknown(const char* name) {
  std::fprintf(stderr, "kernel_costs: there is no work '%s' (tests/costs/works.h)\n", name);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--repeat") == 0) {
    const auto call = svengine::tests::make_work(argv[3]);
    if (!call) return unknown(argv[3]);
    for (long i = std::atol(argv[2]); i > 0; --i) call();
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--winograd") == 0) {
    const double cycles = svengine::tests::winograd_cycles(argv[2]);
    if (cycles == 0) return unknown(argv[2]);
    std::printf("%.0f\n", cycles);
    return 0;
  }
  for (int i = 1; i < argc; ++i) {
    const auto call = svengine::tests::make_work(argv[i]);
    if (!call) return unknown(argv[i]);
    call();
    syscall(kMark);
    call();
    syscall(kMark);
    std::puts(argv[i]);
  }
  return 0;
}
