#include "engine/graph/op_registry.h"

#include <algorithm>
#include <tuple>

namespace svengine {

struct OpRegistry::Entry {
  uint64_t key = 0;
  OpDef (*define)() = nullptr;
  std::once_flag once = {};
  std::unique_ptr<const OpDef> op = {};  // null until it is asked for
};

OpRegistry::OpRegistry(std::span<const OpDefinition> definitions, std::span<const DomainOpset> domains, MoreOperators more)
    : entries_(std::make_unique<Entry[]>(definitions.size())), size_(definitions.size()), domains_(domains), more_(more) {
  std::vector<OpDefinition> sorted(definitions.begin(), definitions.end());
  std::sort(sorted.begin(), sorted.end(), [](const OpDefinition& a, const OpDefinition& b) { return a.key < b.key; });
  for (size_t i = 0; i < size_; ++i) {
    entries_[i].key = sorted[i].key;
    entries_[i].define = sorted[i].define;
  }
}

OpRegistry::OpRegistry(std::vector<OpDef> ops) : entries_(std::make_unique<Entry[]>(ops.size())), size_(ops.size()) {
  const auto key = [](const OpDef& op) { return operator_key(op.name); };
  std::sort(ops.begin(), ops.end(), [&key](const OpDef& a, const OpDef& b) { return key(a) < key(b); });
  for (size_t i = 0; i < size_; ++i) {
    entries_[i].key = key(ops[i]);
    entries_[i].op = std::make_unique<const OpDef>(std::move(ops[i]));
  }
}

OpRegistry::~OpRegistry() = default;

const OpDef& OpRegistry::made(Entry& entry) const {
  std::call_once(entry.once, [&entry] {
    if (!entry.op) entry.op = std::make_unique<const OpDef>(entry.define());
  });
  return *entry.op;
}

const OpDef* OpRegistry::find(std::string_view domain, std::string_view name) const {
  const OpDef* own = find_own(domain, name);
  return own || !more_.find ? own : more_.find(canonical_domain(domain), name);
}

const OpDef* OpRegistry::find_own(std::string_view domain, std::string_view name) const {
  const uint64_t key = operator_key(name);
  Entry* const end = entries_.get() + size_;
  Entry* entry = std::lower_bound(entries_.get(), end, key, [](const Entry& e, uint64_t k) { return e.key < k; });
  for (; entry != end && entry->key == key; ++entry)
    if (const OpDef& op = made(*entry); op.name == name && op.domain == canonical_domain(domain)) return &op;
  return nullptr;
}

const std::vector<std::reference_wrapper<const OpDef>>& OpRegistry::all() const {
  std::call_once(sorted_once_, [this] {
    for (size_t i = 0; i < size_; ++i) sorted_.push_back(std::cref(made(entries_[i])));
    const auto place = [](const OpDef& op) { return std::pair<std::string_view, std::string_view>(op.domain, op.name); };
    std::sort(sorted_.begin(), sorted_.end(), [&place](const OpDef& a, const OpDef& b) { return place(a) < place(b); });
  });
  return sorted_;
}

int OpRegistry::newest_opset(std::string_view domain) const {
  if (canonical_domain(domain).empty()) return kNewestOpset;
  int newest = more_.newest_opset ? more_.newest_opset(domain) : 0;
  for (const DomainOpset& known : domains_)
    if (domain == known.domain) newest = std::max(newest, known.newest);
  return newest;
}

}  // namespace svengine
