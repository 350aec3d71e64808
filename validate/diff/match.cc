#include "validate/diff/match.h"

#include <algorithm>

#include "validate/diff/match_nodes.h"

namespace svengine::validate {
namespace {

size_t to_size(int i) { return static_cast<size_t>(i); }

/// By name, then what is left in its order.
Pairs pair_ports(const DiffGraph& a, const std::vector<int>& of_a, const DiffGraph& b, const std::vector<int>& of_b) {
  Pairs pairs(of_a.size(), of_b.size());
  std::unordered_map<std::string_view, int> by_name;
  for (size_t i = 0; i < of_b.size(); ++i) by_name.emplace(b.values[to_size(of_b[i])].name, static_cast<int>(i));
  for (size_t i = 0; i < of_a.size(); ++i) {
    const auto at = by_name.find(a.values[to_size(of_a[i])].name);
    if (at != by_name.end() && pairs.is_free(static_cast<int>(i), at->second)) pairs.join(static_cast<int>(i), at->second);
  }
  size_t j = 0;
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (pairs.of_a[i] >= 0) continue;
    while (j < of_b.size() && pairs.of_b[j] >= 0) ++j;
    if (j < of_b.size()) pairs.join(static_cast<int>(i), static_cast<int>(j));
  }
  return pairs;
}

/// The number of a pair; of what has no partner a hash of side and place.
std::vector<uint64_t> anchors_of(const std::vector<int>& partners, bool is_a) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < partners.size(); ++i) {
    const int pair = is_a ? static_cast<int>(i) : partners[i];
    out.push_back(partners[i] >= 0 ? hash64(fmt::format("pair {}", pair)) : hash64(fmt::format("{} {}", is_a ? "a" : "b", i)));
  }
  return out;
}

struct WeightKeys {
  std::vector<uint64_t> content;  // or of types and shapes
};

Result<WeightKeys> weight_keys(const DiffGraph& graph, TensorReader& tensors, bool contents) {
  WeightKeys keys;
  for (const DiffWeight& weight : graph.weights) {
    const onnx_proto::TensorProto& proto = weight.dense ? *weight.dense : weight.sparse->values();
    SV_ASSIGN(const uint64_t key, contents ? tensors.content_hash(proto) : tensors.shape_hash(proto));
    keys.content.push_back(key);
  }
  return keys;
}

/// Weights belong together by where they are used, unless name and content say otherwise.
class WeightMatcher {
 public:
  WeightMatcher(const DiffGraph& a, const DiffGraph& b, const Pairs& nodes, const WeightKeys& keys_a, const WeightKeys& keys_b)
      : a_(a), b_(b), nodes_(nodes), keys_a_(keys_a), keys_b_(keys_b), pairs_(a.weights.size(), b.weights.size()) {}

  Pairs run() {
    by_name(true);
    by_use(true);
    by_use(false);
    by_name(false);
    by_content();
    return std::move(pairs_);
  }

 private:
  bool equal(int a, int b) const { return keys_a_.content[to_size(a)] == keys_b_.content[to_size(b)]; }

  void join(int a, int b, bool only_equal) {
    if (pairs_.is_free(a, b) && (!only_equal || equal(a, b))) pairs_.join(a, b);
  }

  void by_name(bool only_equal) {
    for (size_t i = 0; i < a_.weights.size(); ++i) {
      const int value = b_.find(a_.weights[i].name);
      if (value >= 0 && b_.values[to_size(value)].origin == Origin::weight)
        join(static_cast<int>(i), b_.values[to_size(value)].index, only_equal);
    }
  }

  void by_use(bool only_equal) {
    for (size_t n = 0; n < a_.nodes.size(); ++n) {
      if (nodes_.of_a[n] < 0) continue;
      const std::vector<int>& from = a_.nodes[n].inputs;
      const std::vector<int>& to = b_.nodes[to_size(nodes_.of_a[n])].inputs;
      for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
        if (from[i] < 0 || to[i] < 0) continue;
        const DiffValue& va = a_.values[to_size(from[i])];
        const DiffValue& vb = b_.values[to_size(to[i])];
        if (va.origin == Origin::weight && vb.origin == Origin::weight) join(va.index, vb.index, only_equal);
      }
    }
  }

  void by_content() {
    std::unordered_multimap<uint64_t, int> free;
    for (size_t i = b_.weights.size(); i-- > 0;)
      if (pairs_.of_b[i] < 0) free.emplace(keys_b_.content[i], static_cast<int>(i));
    for (size_t i = 0; i < a_.weights.size(); ++i) {
      if (pairs_.of_a[i] >= 0) continue;
      const auto at = free.find(keys_a_.content[i]);
      if (at == free.end()) continue;
      pairs_.join(static_cast<int>(i), at->second);
      free.erase(at);
    }
  }

  const DiffGraph& a_;
  const DiffGraph& b_;
  const Pairs& nodes_;
  const WeightKeys& keys_a_;
  const WeightKeys& keys_b_;
  Pairs pairs_;
};

Pairs pair_values(const DiffGraph& a, const DiffGraph& b, const Matching& matching, const MatchContext& context) {
  Pairs values(a.values.size(), b.values.size());
  const auto join = [&](int va, int vb) {
    if (va >= 0 && vb >= 0 && values.is_free(va, vb)) values.join(va, vb);
  };
  for (size_t i = 0; i < a.weights.size(); ++i)
    if (matching.weights.of_a[i] >= 0) join(a.weight_values[i], b.weight_values[to_size(matching.weights.of_a[i])]);
  for (size_t i = 0; i < a.inputs.size(); ++i)
    if (matching.inputs.of_a[i] >= 0) join(a.inputs[i], b.inputs[to_size(matching.inputs.of_a[i])]);
  for (size_t n = 0; n < a.nodes.size(); ++n) {
    if (matching.nodes.of_a[n] < 0) continue;
    const DiffNode& other = b.nodes[to_size(matching.nodes.of_a[n])];
    for (size_t i = 0; i < std::min(a.nodes[n].outputs.size(), other.outputs.size()); ++i) join(a.nodes[n].outputs[i], other.outputs[i]);
  }
  std::unordered_map<uint64_t, int> outer;
  for (size_t v = 0; v < b.values.size(); ++v)
    if (b.values[v].origin == Origin::outer) outer.emplace(context.outer_b(b.values[v].name), static_cast<int>(v));
  for (size_t v = 0; v < a.values.size(); ++v) {
    if (a.values[v].origin != Origin::outer) continue;
    const auto at = outer.find(context.outer_a(a.values[v].name));
    if (at != outer.end()) join(static_cast<int>(v), at->second);
  }
  return values;
}

}  // namespace

Result<Matching> match_graphs(const DiffGraph& a, const DiffGraph& b, const MatchContext& context) {
  Matching out;
  out.inputs = pair_ports(a, a.inputs, b, b.inputs);
  out.outputs = pair_ports(a, a.outputs, b, b.outputs);
  const Anchors anchors_a{anchors_of(out.inputs.of_a, true), anchors_of(out.outputs.of_a, true), context.outer_a};
  const Anchors anchors_b{anchors_of(out.inputs.of_b, false), anchors_of(out.outputs.of_b, false), context.outer_b};
  SV_ASSIGN(const Fingerprints prints_a, fingerprints_of(a, anchors_a, context.tensors_a, context.contents));
  SV_ASSIGN(const Fingerprints prints_b, fingerprints_of(b, anchors_b, context.tensors_b, context.contents));
  out.nodes = match_nodes(a, prints_a, b, prints_b);
  SV_ASSIGN(const WeightKeys keys_a, weight_keys(a, context.tensors_a, context.contents));
  SV_ASSIGN(const WeightKeys keys_b, weight_keys(b, context.tensors_b, context.contents));
  out.weights = WeightMatcher(a, b, out.nodes, keys_a, keys_b).run();
  out.values = pair_values(a, b, out, context);
  return out;
}

}  // namespace svengine::validate
