#include "engine/graph/op_registry.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace svengine {
namespace {

auto key(const OpDef& op) { return std::pair<std::string_view, std::string_view>(op.domain, op.name); }

}  // namespace

OpRegistry::OpRegistry(std::vector<OpDef> ops, MoreOperators more) : more_(more) {
  std::vector<size_t> order(ops.size());  // each is moved once: every program that reads a model begins so, and an OpDef is long
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(ops[a]) < key(ops[b]); });
  ops_.reserve(ops.size());
  for (const size_t i : order) ops_.push_back(std::move(ops[i]));
}

const OpDef* OpRegistry::find(std::string_view domain, std::string_view name) const {
  const OpDef* own = find_own(domain, name);
  return own || !more_.find ? own : more_.find(canonical_domain(domain), name);
}

const OpDef* OpRegistry::find_own(std::string_view domain, std::string_view name) const {
  const std::pair<std::string_view, std::string_view> wanted(canonical_domain(domain), name);
  const auto it = std::lower_bound(ops_.begin(), ops_.end(), wanted, [](const OpDef& op, const auto& k) { return key(op) < k; });
  return it != ops_.end() && key(*it) == wanted ? &*it : nullptr;
}

int OpRegistry::newest_opset(std::string_view domain) const {
  if (canonical_domain(domain).empty()) return kNewestOpset;
  int newest = more_.newest_opset ? more_.newest_opset(domain) : 0;
  for (const OpDef& op : ops_)
    if (op.domain == domain) newest = std::max(newest, op.until);
  return newest;
}

}  // namespace svengine
