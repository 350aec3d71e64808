// Loops over elements as a step, for what is too rare for a kernel.
#pragma once
#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/round.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

inline constexpr int64_t kElementsOfTask = 8192;

/// Emits a step over `count` elements, cut into pieces of kElementsOfTask: f(run, begin, end) does elements [begin, end).
template <class F>
void emit_elements(LowerContext& c, std::string kernel, int64_t count, F f) {
  c.emit(std::move(kernel), ceil_div(count, kElementsOfTask),
         [count, f = std::move(f)](const Run& run, int64_t begin, int64_t end) -> const char* {
           f(run, begin * kElementsOfTask, std::min(count, end * kElementsOfTask));
           return nullptr;
         });
}

}  // namespace svengine::ops
