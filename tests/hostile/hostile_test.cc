// Hostile relatives of every operator's samples, on every kernel set: a result of the inferred type or an error, within bounded
// time and memory. SVENGINE_HOSTILE_OPS ("Conv MaxPool") restricts the operators, SVENGINE_HOSTILE_PAIRS says how many pairs of
// changes a sample gets.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "engine/ops/registry.h"
#include "tests/hostile/attempt.h"
#include "tests/hostile/isolation.h"

using namespace svengine;
using namespace svengine::tests;

namespace {

bool wanted(const OpDef& op) {
  const char* list = std::getenv("SVENGINE_HOSTILE_OPS");
  if (!list) return true;
  std::istringstream words(list);
  for (std::string word; words >> word;)
    if (word == op.name) return true;
  return false;
}

size_t pairs() {
  const char* given = std::getenv("SVENGINE_HOSTILE_PAIRS");
  return given ? static_cast<size_t>(std::atoll(given)) : SVENGINE_HOSTILE_DEFAULT_PAIRS;
}

/// All relatives of all samples of an operator, numbered.
class Relatives {
 public:
  explicit Relatives(const OpDef& op) {
    for (const Sample& sample : op.samples) {
      families_.push_back({relative_of(sample), changes_of(op, sample), count_});
      count_ += static_cast<int64_t>(families_.back().changes.size() + pairs());
    }
  }
  int64_t count() const { return (count_ + SVENGINE_HOSTILE_STRIDE - 1) / SVENGINE_HOSTILE_STRIDE; }

  Relative at(int64_t number) const {
    const int64_t index = number * SVENGINE_HOSTILE_STRIDE;
    size_t sample = families_.size() - 1;
    while (families_[sample].first > index) --sample;
    const Family& family = families_[sample];
    Relative r = changed(family.sample, family.changes, static_cast<size_t>(index - family.first));
    r.what = fmt::format("sample {}: {}", sample, r.what);
    return r;
  }

 private:
  struct Family {
    Relative sample;
    std::vector<Change> changes;
    int64_t first;
  };
  std::vector<Family> families_;
  int64_t count_ = 0;
};

}  // namespace

TEST_CASE("hostile relatives of every sample give an error or a right result") {
  // Shared with the processes that count.
  void* shared = mmap(nullptr, sizeof(AttemptCount), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& count = *static_cast<AttemptCount*>(shared);
  for (const OpDef& op : all_ops().all()) {
    if (!wanted(op) || op.samples.empty()) continue;
    const Relatives relatives(op);
    for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
      for (const Finding& f : run_isolated(relatives.count(), {.cpu_seconds = SVENGINE_HOSTILE_CPU_SECONDS},
                                           [&](int64_t i) { return attempt(op, relatives.at(i), *set, count); })) {
        FAIL_CHECK(op.name << " on " << set->name << ", " << relatives.at(f.index).what << "\n    " << f.what);
      }
    }
  }
  WARN(count.refused << " refused, " << count.planned << " planned, " << count.run << " run");
  CHECK(count.refused > 0);
  CHECK(count.run > count.planned / 2);
  munmap(shared, sizeof(AttemptCount));
}
