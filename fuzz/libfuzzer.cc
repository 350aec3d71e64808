// One program for all targets: fuzzer --target=NAME [libFuzzer's options and corpora]. tools/fuzz.sh knows the options.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuzz/targets.h"

namespace {
const svengine::fuzz::Target* target = nullptr;
}  // namespace

/// Memory that is not there is an error value of the engine's.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:quarantine_size_mb=32"; }

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kOption = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with(kOption)) target = svengine::fuzz::find_target(word.substr(kOption.size()));
  }
  if (target) return 0;
  std::fprintf(stderr, "fuzzer: --target= one of");
  for (const auto& t : svengine::fuzz::all_targets()) std::fprintf(stderr, " %s", t.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  target->run(std::as_bytes(std::span(data, size)));
  return 0;
}
