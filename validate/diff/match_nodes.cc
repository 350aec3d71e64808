#include "validate/diff/match_nodes.h"

#include <algorithm>

namespace svengine::validate {
namespace {

using Keys = std::vector<uint64_t>;  // of every node; 0: takes no part

size_t to_index(int i) { return static_cast<size_t>(i); }

/// What a match may rest on where several nodes have the same key.
enum class Ties { none, names, order };

class NodeMatcher {
 public:
  NodeMatcher(const DiffGraph& a, const Fingerprints& prints_a, const DiffGraph& b, const Fingerprints& prints_b)
      : a_(a),
        b_(b),
        prints_a_(prints_a),
        prints_b_(prints_b),
        pairs_(a.nodes.size(), b.nodes.size()),
        ops_a_(operators(a)),
        ops_b_(operators(b)) {}

  Pairs run() {
    const Fingerprints& fa = prints_a_;
    const Fingerprints& fb = prints_b_;
    by_key(both(fa.forward_exact, fa.backward_exact), both(fb.forward_exact, fb.backward_exact), Ties::order);
    by_key(fa.forward_exact, fb.forward_exact, Ties::names);
    by_key(fa.backward_exact, fb.backward_exact, Ties::names);
    careful_ = true;
    neighbours();
    by_key(fa.local, fb.local, Ties::none);
    careful_ = false;
    for (size_t i = 0; i < a_.nodes.size(); ++i)
      if (pairs_.of_a[i] >= 0) fresh_.push_back(static_cast<int>(i));
    neighbours();
    by_key(names(a_, ops_a_), names(b_, ops_b_), Ties::none);
    by_key(outputs(a_, ops_a_), outputs(b_, ops_b_), Ties::none);
    neighbours();
    by_key(both(fa.forward_loose, fa.backward_loose), both(fb.forward_loose, fb.backward_loose), Ties::order);
    by_key(fa.forward_loose, fb.forward_loose, Ties::order);
    by_key(fa.backward_loose, fb.backward_loose, Ties::order);
    neighbours();
    by_order();
    neighbours();
    replaced();
    return std::move(pairs_);
  }

 private:
  static Keys operators(const DiffGraph& graph) {
    Keys keys;
    for (const DiffNode& node : graph.nodes) keys.push_back(hash64(operator_key(*node.proto)));
    return keys;
  }
  static Keys both(const Keys& x, const Keys& y) {
    Keys keys(x.size());
    for (size_t i = 0; i < x.size(); ++i) keys[i] = hash64(std::as_bytes(std::span(&y[i], 1)), x[i]);
    return keys;
  }
  static Keys names(const DiffGraph& graph, const Keys& ops) {
    Keys keys;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      keys.push_back(graph.nodes[i].proto->name().empty() ? 0 : hash64(graph.nodes[i].proto->name(), ops[i]));
    return keys;
  }
  static Keys outputs(const DiffGraph& graph, const Keys& ops) {
    Keys keys;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto& made = graph.nodes[i].proto->output();
      keys.push_back(made.empty() || made.Get(0).empty() ? 0 : hash64(made.Get(0), ops[i]));
    }
    return keys;
  }

  void join(int a, int b) {
    pairs_.join(a, b);
    fresh_.push_back(a);
  }

  using Groups = std::unordered_map<uint64_t, std::vector<int>>;
  static Groups group(const Keys& keys, const std::vector<int>& partners) {
    Groups groups;
    for (size_t i = 0; i < keys.size(); ++i)
      if (partners[i] < 0 && keys[i] != 0) groups[keys[i]].push_back(static_cast<int>(i));
    return groups;
  }

  void by_key(const Keys& of_a, const Keys& of_b, Ties ties) {
    const Groups groups_a = group(of_a, pairs_.of_a), groups_b = group(of_b, pairs_.of_b);
    for (size_t i = 0; i < of_a.size(); ++i) {  // in the order of the nodes, not of the table
      if (pairs_.of_a[i] >= 0 || of_a[i] == 0) continue;
      const std::vector<int>& ga = groups_a.at(of_a[i]);
      const auto at = groups_b.find(of_a[i]);
      if (at == groups_b.end() || ga.front() != static_cast<int>(i)) continue;
      settle(ga, at->second, ties);
    }
  }

  void settle(const std::vector<int>& ga, const std::vector<int>& gb, Ties ties) {
    if (ga.size() == 1 && gb.size() == 1) return join(ga[0], gb[0]);
    if (ties == Ties::none) return;
    std::unordered_map<std::string_view, int> named;
    for (const int b : gb) named.emplace(b_.nodes[to_index(b)].proto->name(), b);
    for (const int a : ga) {
      const std::string& name = a_.nodes[to_index(a)].proto->name();
      const auto at = named.find(name);
      if (!name.empty() && at != named.end() && pairs_.is_free(a, at->second)) join(a, at->second);
    }
    if (ties == Ties::names) return;
    size_t next = 0;
    for (const int a : ga) {
      if (pairs_.of_a[to_index(a)] >= 0) continue;
      while (next < gb.size() && pairs_.of_b[to_index(gb[next])] >= 0) ++next;
      if (next < gb.size()) join(a, gb[next]);
    }
  }

  bool may_join(int a, int b) const {
    if (!pairs_.is_free(a, b) || ops_a_[to_index(a)] != ops_b_[to_index(b)]) return false;
    const std::string& name = a_.nodes[to_index(a)].proto->name();
    return !careful_ || prints_a_.local[to_index(a)] == prints_b_.local[to_index(b)] ||
           (!name.empty() && name == b_.nodes[to_index(b)].proto->name());
  }

  /// Along the edges of all new pairs, and of those that come of it.
  void neighbours() {
    for (; !fresh_.empty();) {
      const int a = fresh_.back();
      fresh_.pop_back();
      const DiffNode& na = a_.nodes[to_index(a)];
      const DiffNode& nb = b_.nodes[to_index(pairs_.of_a[to_index(a)])];
      for (size_t i = 0; i < std::min(na.inputs.size(), nb.inputs.size()); ++i) producers(na.inputs[i], nb.inputs[i]);
      for (size_t i = 0; i < std::min(na.outputs.size(), nb.outputs.size()); ++i) users(na.outputs[i], nb.outputs[i]);
    }
  }

  void producers(int a, int b) {
    if (a < 0 || b < 0) return;
    const DiffValue& va = a_.values[to_index(a)];
    const DiffValue& vb = b_.values[to_index(b)];
    if (va.origin == Origin::node && vb.origin == Origin::node && va.slot == vb.slot && may_join(va.index, vb.index))
      join(va.index, vb.index);
  }

  /// The only one on each side that has no partner, uses the value as that input, and is of that operator.
  void users(int a, int b) {
    if (a < 0 || b < 0) return;
    const auto kinds = [](const DiffValue& value, const Keys& ops, const std::vector<int>& partners) {
      std::unordered_map<uint64_t, std::vector<int>> out;
      for (const Use& use : value.uses)
        if (partners[to_index(use.node)] < 0) out[ops[to_index(use.node)] ^ static_cast<uint64_t>(use.slot)].push_back(use.node);
      return out;
    };
    const auto of_a = kinds(a_.values[to_index(a)], ops_a_, pairs_.of_a);
    if (of_a.empty()) return;
    const auto of_b = kinds(b_.values[to_index(b)], ops_b_, pairs_.of_b);
    for (const Use& use : a_.values[to_index(a)].uses) {
      const uint64_t kind = ops_a_[to_index(use.node)] ^ static_cast<uint64_t>(use.slot);
      const auto in_a = of_a.find(kind), in_b = of_b.find(kind);
      if (in_a == of_a.end() || in_b == of_b.end() || in_a->second.size() != 1 || in_b->second.size() != 1) continue;
      if (may_join(in_a->second[0], in_b->second[0])) join(in_a->second[0], in_b->second[0]);
    }
  }

  void by_order() {
    std::vector<int> left_a, left_b;
    for (size_t i = 0; i < a_.nodes.size(); ++i)
      if (pairs_.of_a[i] < 0) left_a.push_back(static_cast<int>(i));
    for (size_t i = 0; i < b_.nodes.size(); ++i)
      if (pairs_.of_b[i] < 0) left_b.push_back(static_cast<int>(i));
    const size_t windows = (std::max(left_a.size(), left_b.size()) + kWindow - 1) / kWindow;
    for (size_t w = 0; w < windows; ++w) {
      const auto part = [&](const std::vector<int>& all, const Keys& ops) {
        std::pair<std::vector<int>, Keys> out;
        for (size_t i = all.size() * w / windows; i < all.size() * (w + 1) / windows; ++i)
          out.first.push_back(all[i]), out.second.push_back(ops[to_index(all[i])]);
        return out;
      };
      const auto [nodes_a, keys_a] = part(left_a, ops_a_);
      const auto [nodes_b, keys_b] = part(left_b, ops_b_);
      // On trial: the neighbours of a pair that does not last are not to be looked at.
      for (const auto& [i, j] : common_subsequence(keys_a, keys_b)) pairs_.join(nodes_a[to_index(i)], nodes_b[to_index(j)]);
    }
    for (const int a : left_a) {
      const int b = pairs_.of_a[to_index(a)];
      if (b < 0) continue;
      if (have_common_input(a_.nodes[to_index(a)], b_.nodes[to_index(b)]) || have_common_user(a, b)) fresh_.push_back(a);
      else pairs_.of_a[to_index(a)] = pairs_.of_b[to_index(b)] = -1;  // the same operator, and nothing else
    }
  }

  bool have_common_user(int a, int b) const {
    const std::vector<int>& from = a_.nodes[to_index(a)].outputs;
    const std::vector<int>& to = b_.nodes[to_index(b)].outputs;
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      if (from[i] < 0 || to[i] < 0) continue;
      const DiffValue& va = a_.values[to_index(from[i])];
      const DiffValue& vb = b_.values[to_index(to[i])];
      if (!va.outputs.empty() && !vb.outputs.empty()) return true;
      for (const Use& use : va.uses) {
        const int partner = pairs_.of_a[to_index(use.node)];
        if (partner < 0) continue;
        const std::vector<int>& inputs = b_.nodes[to_index(partner)].inputs;
        if (to_index(use.slot) < inputs.size() && inputs[to_index(use.slot)] == to[i]) return true;
      }
    }
    return false;
  }

  /// Whether an input of one belongs to the same input of the other.
  bool have_common_input(const DiffNode& na, const DiffNode& nb) const {
    for (size_t i = 0; i < std::min(na.inputs.size(), nb.inputs.size()); ++i) {
      if (na.inputs[i] < 0 || nb.inputs[i] < 0) continue;
      const DiffValue& va = a_.values[to_index(na.inputs[i])];
      const DiffValue& vb = b_.values[to_index(nb.inputs[i])];
      if (va.origin != vb.origin) continue;
      const bool same = va.origin != Origin::node
                            ? prints_a_.values_loose[to_index(na.inputs[i])] == prints_b_.values_loose[to_index(nb.inputs[i])]
                            : pairs_.of_a[to_index(va.index)] == vb.index && va.slot == vb.slot;
      if (same) return true;
    }
    return false;
  }

  void replace(int a, int b) {
    if (a < 0 || b < 0) return;
    const DiffValue& va = a_.values[to_index(a)];
    const DiffValue& vb = b_.values[to_index(b)];
    if (va.origin != Origin::node || vb.origin != Origin::node || va.slot != vb.slot || !pairs_.is_free(va.index, vb.index)) return;
    if (have_common_input(a_.nodes[to_index(va.index)], b_.nodes[to_index(vb.index)])) join(va.index, vb.index);
  }

  void replaced() {
    for (size_t n = 0; n < a_.nodes.size(); ++n) {
      if (pairs_.of_a[n] < 0) continue;
      const DiffNode& nb = b_.nodes[to_index(pairs_.of_a[n])];
      for (size_t i = 0; i < std::min(a_.nodes[n].inputs.size(), nb.inputs.size()); ++i) replace(a_.nodes[n].inputs[i], nb.inputs[i]);
    }
    for (const int output : a_.outputs) {
      const int other = b_.find(a_.values[to_index(output)].name);
      if (other >= 0 && !b_.values[to_index(other)].outputs.empty()) replace(output, other);
    }
    fresh_.clear();
  }

  const DiffGraph& a_;
  const DiffGraph& b_;
  const Fingerprints& prints_a_;
  const Fingerprints& prints_b_;
  Pairs pairs_;
  Keys ops_a_, ops_b_;
  std::vector<int> fresh_;  // nodes of A whose neighbours have not been looked at
  bool careful_ = false;    // neighbours must also have the same weights, or the same name
};

}  // namespace

std::vector<std::pair<int, int>> common_subsequence(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  // length[i][j]: of the longest one of a[i..] and b[j..]
  const size_t width = b.size() + 1;
  std::vector<uint16_t> length((a.size() + 1) * width, 0);
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      length[i * width + j] = a[i] == b[j] ? static_cast<uint16_t>(length[(i + 1) * width + j + 1] + 1)
                                           : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
  std::vector<std::pair<int, int>> out;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) out.emplace_back(static_cast<int>(i++), static_cast<int>(j++));
    else if (length[(i + 1) * width + j] >= length[i * width + j + 1]) ++i;
    else ++j;
  }
  return out;
}

Pairs match_nodes(const DiffGraph& a, const Fingerprints& prints_a, const DiffGraph& b, const Fingerprints& prints_b) {
  return NodeMatcher(a, prints_a, b, prints_b).run();
}

}  // namespace svengine::validate
