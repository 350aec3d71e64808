#include "tools/predict/traffic.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "engine/graph/op_def.h"

namespace svengine::tool {
namespace {

// A cache that forgets what was not used for longest keeps a value until as many other bytes as it holds have passed.
// The clock counts those bytes, through two runs, and the second is what a run costs.
class Cache {
 public:
  Cache(double l2_bytes, int groups) : l2_bytes_(l2_bytes), groups_(groups) {}

  /// Of a workspace, which is written and then read. True if it does not stay in between.
  bool pass(double bytes) {
    clock_ += bytes / groups_;
    return bytes / groups_ > l2_bytes_;
  }

  /// Touches `bytes` of the value. True if they had to come from memory. Activations are new in every run.
  bool use(const Value* value, double bytes, int run) {
    if (value->is_constant())
      run = 0;
    else
      bytes /= groups_;
    const auto [it, fresh] = last_use_.emplace(std::pair(value, run), 0);
    const bool missed = fresh || clock_ - it->second + bytes > l2_bytes_;
    clock_ += bytes;
    it->second = clock_;
    return missed;
  }

 private:
  double l2_bytes_;
  int groups_;
  double clock_ = 0;
  std::map<std::pair<const Value*, int>, double> last_use_;
};

/// Views have their input's bytes.
const Value* storage_of(const Value* v) {
  while (v->producer() && v->producer()->op().traits.is_view && v->producer()->input(0)) v = v->producer()->input(0);
  return v;
}

}  // namespace

std::vector<Traffic> memory_traffic(const Graph& graph, const std::vector<Work>& works, double l2_bytes, int groups) {
  Cache cache(l2_bytes, groups);
  std::vector<Traffic> out;
  std::unordered_map<const Value*, size_t> producers;
  for (int run = 0; run < 2; ++run) {
    out.assign(graph.nodes().size(), {});
    size_t here = 0;
    for (const auto& node : graph.nodes()) {
      for (size_t i = 0; i < node->inputs().size() && !node->op().traits.is_view; ++i) {
        if (!node->input(i)) continue;
        const Value* source = storage_of(node->input(i));
        const double bytes = i == 1 && works[here].packed > 0 ? works[here].packed : bytes_read(*node, i);
        if (!cache.use(source, bytes, run)) continue;
        (source->is_constant() ? out[here].weights : out[here].activations) += bytes;
        if (const auto it = producers.find(source); it != producers.end()) out[it->second].activations += 2 * bytes;
      }
      if (cache.pass(works[here].workspace)) out[here].activations += 3 * works[here].workspace;
      for (const Value* v : node->outputs()) {
        if (!v || node->op().traits.is_view) continue;
        producers[v] = here;
        cache.use(v, stored_bytes(v->type), run);
        if (graph.is_output(v)) out[here].activations += 2 * stored_bytes(v->type);
      }
      ++here;
    }
  }
  return out;
}

}  // namespace svengine::tool
