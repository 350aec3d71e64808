#include "tests/differential/minimise.h"

#include <algorithm>

namespace svengine::differential {
namespace {

class Minimiser {
 public:
  Minimiser(const WorkerOptions& options, uint64_t seed, const Outcome& whole)
      : options_(options), seed_(seed), part_{std::vector<bool>(whole.nodes, true), std::vector<bool>(whole.outputs, true)} {}

  Part run() {
    reduce_outputs();
    for (bool smaller = true; smaller;) {
      smaller = false;
      // From the back: what only fed dropped outputs goes. From the front: what is left reads given values.
      for (size_t i = part_.nodes.size(); i-- > 0;) smaller |= drop(part_.nodes, i);
      for (size_t i = 0; i < part_.outputs.size(); ++i) smaller |= drop(part_.outputs, i);
    }
    return part_;
  }

 private:
  bool fails() const { return run_one(options_, seed_, &part_, false).failed; }

  bool drop(std::vector<bool>& kept, size_t i) {
    if (!kept[i]) return false;
    kept[i] = false;
    if (fails()) return true;
    kept[i] = true;
    return false;
  }

  /// One output is enough for most findings.
  void reduce_outputs() {
    const std::vector<bool> all = part_.outputs;
    for (size_t i = 0; i < all.size(); ++i) {
      part_.outputs.assign(all.size(), false);
      part_.outputs[i] = true;
      if (fails()) return;
    }
    part_.outputs = all;
  }

  const WorkerOptions& options_;
  uint64_t seed_;
  Part part_;
};

}  // namespace

Outcome minimise(const WorkerOptions& options, uint64_t seed) {
  const Outcome whole = run_one(options, seed, nullptr, true);
  if (!whole.failed || whole.nodes == 0) return whole;
  const Part part = Minimiser(options, seed, whole).run();
  const Outcome small = run_one(options, seed, &part, true);
  return small.failed ? small : whole;
}

}  // namespace svengine::differential
