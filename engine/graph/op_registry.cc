#include "engine/graph/op_registry.h"

#include <algorithm>
#include <numeric>

namespace svengine {

OpRegistry::OpRegistry(std::vector<OpDef> ops, MoreOperators more) : more_(more) {
  // Every program that reads a model begins so: an OpDef is long, so each is moved once, and of its names the lengths are counted once.
  std::vector<std::pair<std::string_view, std::string_view>> keys;
  for (const OpDef& op : ops) keys.emplace_back(op.domain, op.name);
  std::vector<size_t> order(ops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  ops_.reserve(ops.size());
  keys_.reserve(ops.size());
  for (const size_t i : order) {
    ops_.push_back(std::move(ops[i]));
    keys_.push_back(keys[i]);
  }
}

const OpDef* OpRegistry::find(std::string_view domain, std::string_view name) const {
  const OpDef* own = find_own(domain, name);
  return own || !more_.find ? own : more_.find(canonical_domain(domain), name);
}

const OpDef* OpRegistry::find_own(std::string_view domain, std::string_view name) const {
  const std::pair<std::string_view, std::string_view> wanted(canonical_domain(domain), name);
  const auto it = std::lower_bound(keys_.begin(), keys_.end(), wanted);
  return it != keys_.end() && *it == wanted ? &ops_[static_cast<size_t>(it - keys_.begin())] : nullptr;
}

int OpRegistry::newest_opset(std::string_view domain) const {
  if (canonical_domain(domain).empty()) return kNewestOpset;
  int newest = more_.newest_opset ? more_.newest_opset(domain) : 0;
  for (const OpDef& op : ops_)
    if (op.domain == domain) newest = std::max(newest, op.until);
  return newest;
}

}  // namespace svengine
