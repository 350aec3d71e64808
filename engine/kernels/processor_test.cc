// A kernel set may run where the processor has every extension that its files are compiled with, and nowhere else.
#include "engine/kernels/processor.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace processor_test {
using namespace svengine::kernels;

namespace {

/// "avx512=-mavx512f -mfma ..|avx2=..": what CMake compiles each set with.
constexpr std::string_view kFlags = SVENGINE_KERNEL_SET_FLAGS;

std::set<std::string> extensions(std::string_view kernel_set) {
  std::stringstream sets{std::string(kFlags)};
  std::set<std::string> out;
  for (std::string line; std::getline(sets, line, '|');) {
    if (line.substr(0, line.find('=')) != kernel_set) continue;
    std::stringstream flags(line.substr(line.find('=') + 1));
    for (std::string flag; flags >> flag;)
      if (flag.starts_with("-m") && flag.find('=') == flag.npos) out.insert(flag.substr(2));
  }
  return out;
}

}  // namespace

TEST_CASE("what is asked of the processor is what the compiler was allowed") {
  for (const std::string_view set : {"avx512", "avx512_vnni", "avx2", "sve512"}) {
    std::set<std::string> asked;
    for (const Feature& feature : features_of(set)) asked.emplace(feature.name);
    INFO(set);
    CHECK(asked == extensions(set));
  }
}

TEST_CASE("features are those the system lists") {
  std::ifstream info("/proc/cpuinfo");
  std::set<std::string> listed;
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with("flags")) continue;
    std::stringstream words(line);
    for (std::string word; words >> word;) listed.insert(word);
    break;
  }
  if (listed.erase("avx512_vnni")) listed.insert("avx512vnni");  // the one whose flag is another word
  for (const std::string_view set : {"avx512", "avx512_vnni", "avx2"}) {
    bool all = !features_of(set).empty();
    for (const Feature& feature : features_of(set)) {
      INFO(feature.name);
      CHECK(feature.there() == listed.contains(std::string(feature.name)));
      all = all && feature.there();
    }
    CHECK((set == "avx2" ? processor_has_avx2() : set == "avx512" ? processor_has_avx512() : processor_has_avx512_vnni()) == all);
  }
}
}  // namespace processor_test
