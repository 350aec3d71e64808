// Hostile relatives of every operator's samples, on every kernel set: a result of the inferred type or an error, within bounded
// time and memory. SVENGINE_HOSTILE_OPS ("Conv MaxPool") restricts the operators, SVENGINE_HOSTILE_PAIRS says how many pairs of
// changes a sample gets, SVENGINE_HOSTILE_STRIDE that of so many relatives one is tried.
#include <sys/mman.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <sstream>

#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "tests/hostile/attempt.h"
#include "tests/hostile/isolation.h"

namespace hostile_test {
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

int64_t number_of(const char* variable, int64_t otherwise) {
  const char* given = std::getenv(variable);
  return given ? std::atoll(given) : otherwise;
}

size_t pairs() { return static_cast<size_t>(std::max<int64_t>(number_of("SVENGINE_HOSTILE_PAIRS", SVENGINE_HOSTILE_DEFAULT_PAIRS), 0)); }
int64_t stride() { return std::max<int64_t>(number_of("SVENGINE_HOSTILE_STRIDE", SVENGINE_HOSTILE_DEFAULT_STRIDE), 1); }

/// All relatives of all samples of all wanted operators, numbered.
class Relatives {
 public:
  Relatives() {
    for (const OpDef& op : all_ops().all()) {
      if (!wanted(op)) continue;
      for (size_t i = 0; i < samples_of(op).size(); ++i) {
        families_.push_back({&op, i, relative_of(samples_of(op)[i]), changes_of(op, samples_of(op)[i]), count_});
        count_ += static_cast<int64_t>(families_.back().changes.size() + pairs());
      }
    }
  }
  int64_t count() const { return count_; }
  const OpDef& op_of(int64_t index) const { return *family(index).op; }

  Relative at(int64_t index) const {
    const Family& of = family(index);
    Relative r = changed(of.sample, of.changes, static_cast<size_t>(index - of.first));
    r.what = fmt::format("sample {}: {}", of.number, r.what);
    return r;
  }

 private:
  struct Family {
    const OpDef* op;
    size_t number;  // of the sample
    Relative sample;
    std::vector<Change> changes;
    int64_t first;
  };
  const Family& family(int64_t index) const {
    const auto behind = [](int64_t i, const Family& f) { return i < f.first; };
    return *(std::upper_bound(families_.begin(), families_.end(), index, behind) - 1);
  }
  std::vector<Family> families_;
  int64_t count_ = 0;
};

}  // namespace

// One process for all operators: what an emulator has translated of the passes ends with the process.
TEST_CASE("hostile relatives of every sample give an error or a right result") {
  // Shared with the processes that count.
  void* shared = mmap(nullptr, sizeof(AttemptCount), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& count = *static_cast<AttemptCount*>(shared);
  const Relatives relatives;
  const int64_t every = stride();
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
    const auto attempted = [&](int64_t i) { return attempt(relatives.op_of(i * every), relatives.at(i * every), *set, count); };
    for (const Finding& f : run_isolated(relatives.count() / every, {.cpu_seconds = SVENGINE_HOSTILE_CPU_SECONDS, .most_findings = 32}, attempted)) {
      const int64_t i = f.index * every;
      FAIL_CHECK(relatives.op_of(i).name << " on " << set->name << ", " << relatives.at(i).what << "\n    " << f.what);
    }
  }
  WARN(count.refused << " refused, " << count.planned << " planned, " << count.run << " run");
  CHECK(count.refused > 0);
  CHECK(count.run > count.planned / 2);
  munmap(shared, sizeof(AttemptCount));
}
}  // namespace hostile_test
