#include "engine/graph/attribute_tables.h"

namespace svengine {

std::shared_ptr<const void> AttributeTables::find(const void* maker) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [by, table] : tables_)
    if (by == maker) return table;
  return nullptr;
}

std::shared_ptr<const void> AttributeTables::keep(const void* maker, std::shared_ptr<const void> table) {
  const std::lock_guard lock(mutex_);
  for (const auto& [by, kept] : tables_)
    if (by == maker) return kept;
  tables_.emplace_back(maker, std::move(table));
  return tables_.back().second;
}

}  // namespace svengine
