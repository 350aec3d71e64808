// Steps of plain code, for types that no kernel is made for: the compiler makes of the loops what it can.
#pragma once
#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/round.h"
#include "engine/ops/lowering.h"

namespace svengine::ops::wide {

/// A step over `items` results, `each` of them a task: body(run, begin, end) computes results [begin, end) in any thread.
template <class Body>
void emit_items(LowerContext& c, std::string name, int64_t items, int64_t each, Body body, int64_t scratch_bytes = 0) {
  each = std::max<int64_t>(each, 1);
  c.emit(
      std::move(name), ceil_div(items, each),
      [items, each, body](const Run& run, int64_t begin, int64_t end) -> const char* {
        body(run, begin * each, std::min(items, end * each));
        return nullptr;
      },
      scratch_bytes);
}

/// Items of a task where one takes about `work` operations.
inline int64_t items_of_work(int64_t work) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(work, 1)); }

}  // namespace svengine::ops::wide
