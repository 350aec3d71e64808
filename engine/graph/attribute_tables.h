// What operators make of attributes alone (maps of keys, trees of n-grams, compiled expressions): made once, not in every run.
//
//     SV_ASSIGN(const auto words, table_of<stop_words>(c.attributes()));  // stop_words: Result<T>(const Attributes&)
//
// The first who asks makes it, and inference does so as a rule: clones of the graph, plans for other shapes and runs in any thread then
// share it. It cannot be out of date, for the function sees nothing but the attributes, and changed attributes have tables of their own.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/graph/attribute.h"

namespace svengine {

/// Of one set of attributes, by the functions that made them. Thread-safe.
class AttributeTables {
 public:
  /// Null: not made yet.
  std::shared_ptr<const void> find(const void* maker) const;
  /// Keeps a table, and gives the one that all take: somebody else's, who was faster.
  std::shared_ptr<const void> keep(const void* maker, std::shared_ptr<const void> table);

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<const void*, std::shared_ptr<const void>>> tables_;
};

/// Tells functions apart.
template <auto make>
inline char table_maker = 0;

/// The table that `make`, a function Result<T>(const Attributes&), makes of these attributes. An error is found again by whoever asks again.
template <auto make>
auto table_of(const Attributes& attributes) {
  using Table = std::remove_cvref_t<decltype(make(attributes).value())>;
  using Shared = std::shared_ptr<const Table>;
  const void* maker = &table_maker<make>;
  if (attributes.tables())
    if (std::shared_ptr<const void> kept = attributes.tables()->find(maker))
      return Result<Shared>(std::static_pointer_cast<const Table>(std::move(kept)));
  Result<Table> made = make(attributes);
  if (!made.ok()) return Result<Shared>(std::move(made).error());
  Shared table = std::make_shared<const Table>(std::move(made).value());
  if (!attributes.tables()) return Result<Shared>(std::move(table));
  return Result<Shared>(std::static_pointer_cast<const Table>(attributes.tables()->keep(maker, std::move(table))));
}

}  // namespace svengine
