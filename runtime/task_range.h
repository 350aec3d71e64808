// Shares of a step's tasks, and how threads that help each other cut pieces off them.
#pragma once
#include <algorithm>
#include <cstdint>

namespace svengine {

struct TaskRange {
  int64_t begin = 0, end = 0;
  bool empty() const { return begin >= end; }
};

/// Groups up to this size help each other: in one of A64FX's, 12 equally fast cores, looking around costs more than it gives.
inline constexpr int kMostHelpers = 8;

inline TaskRange share_of(int64_t tasks, int64_t thread, int64_t threads) {
  return {tasks * thread / threads, tasks * (thread + 1) / threads};
}

/// No fewer tasks are taken at once than a share's sixteenth part, and a step's grain.
inline int64_t least_taken(int64_t tasks, int64_t threads, int64_t grain) { return std::max(tasks / threads / 16, grain); }

/// Cuts the owner's next piece off the front of what is left of its share: half of it.
inline TaskRange take_front(TaskRange& left, int64_t least) {
  const int64_t count = left.end - left.begin, some = std::max(count / 2, least);
  const TaskRange taken{left.begin, left.begin + (count - some < least ? count : some)};
  left.begin = taken.end;
  return taken;
}

/// Cuts a helper's piece off the end: a quarter.
inline TaskRange take_back(TaskRange& left, int64_t least) {
  const int64_t count = left.end - left.begin, some = std::max(count / 4, least);
  const TaskRange taken{left.end - (count - some < least ? count : some), left.end};
  left.end = taken.begin;
  return taken;
}

}  // namespace svengine
