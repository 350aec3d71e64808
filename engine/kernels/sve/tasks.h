// How work over rows is cut into tasks.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// Elements a task should have at least: some microseconds of work, a few pages of memory.
inline constexpr int64_t kTaskElements = 8192;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/// `count` items of `elements` each, grouped into tasks of `group` items.
struct TaskPartition {
  int64_t count;
  int64_t group;

  TaskPartition(int64_t items, int64_t elements) : count(items), group(larger(1, kTaskElements / larger(1, elements))) {}
  int64_t tasks() const { return ceil_div(count, group); }
  int64_t begin(int64_t task) const { return smaller(count, task * group); }
};

template <class Args>
int64_t no_scratch(const Args&) noexcept {
  return 0;
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
