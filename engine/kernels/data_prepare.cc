#include "engine/kernels/data_prepare.h"

#include <algorithm>
#include <cmath>

namespace svengine::kernels {

namespace {

struct Dimension {
  int64_t extent, src, dst;
};

}  // namespace

CopyArgs collapse_copy(CopyArgs args) {
  std::vector<Dimension> dims;
  for (int d = 0; d < args.rank; ++d)
    if (args.extent[d] != 1) dims.push_back({args.extent[d], args.src_stride[d], args.dst_stride[d]});
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dimension& a, const Dimension& b) { return std::abs(a.dst) > std::abs(b.dst); });
  std::vector<Dimension> merged;
  for (const Dimension& d : dims) {
    if (!merged.empty() && merged.back().src == d.src * d.extent && merged.back().dst == d.dst * d.extent) {
      merged.back() = {merged.back().extent * d.extent, d.src, d.dst};
    } else {
      merged.push_back(d);
    }
  }
  args.rank = static_cast<int32_t>(merged.size());
  for (size_t d = 0; d < merged.size(); ++d) {
    args.extent[d] = merged[d].extent;
    args.src_stride[d] = merged[d].src;
    args.dst_stride[d] = merged[d].dst;
  }
  return args;
}

std::vector<int32_t> pad_map(PadMode mode, int64_t extent, int64_t begin, int64_t end) {
  const int64_t first = std::max<int64_t>(0, -begin), kept = extent - first - std::max<int64_t>(0, -end);
  const auto source = [&](int64_t i) -> int64_t {  // of element i of what is kept
    if (i >= 0 && i < kept) return first + i;
    switch (mode) {
      case PadMode::kConstant:
        return -1;
      case PadMode::kEdge:
        return first + (i < 0 ? 0 : kept - 1);
      case PadMode::kWrap:
        return first + (i % kept + kept) % kept;
      case PadMode::kReflect:
        break;
    }
    const int64_t period = std::max<int64_t>(1, 2 * (kept - 1));  // 0 1 2 3 2 1 | 0 1 2 3 2 1
    const int64_t phase = (i % period + period) % period;
    return first + (phase < kept ? phase : period - phase);
  };
  std::vector<int32_t> map;
  const int64_t before = std::max<int64_t>(0, begin), out = extent + begin + end;
  for (int64_t i = 0; i < out; ++i) map.push_back(static_cast<int32_t>(source(i - before)));
  return map;
}

bool doubles(const std::vector<int32_t>& map) {
  for (size_t i = 0; i < map.size(); ++i)
    if (map[i] != static_cast<int32_t>(i / 2)) return false;
  return map.size() > 1;
}

MapRun longest_run(const std::vector<int32_t>& map) {
  MapRun best{0, 0};
  const int64_t count = static_cast<int64_t>(map.size());
  for (int64_t first = 0; first < count;) {
    int64_t last = first + 1;
    while (last < count && map[last] == map[last - 1] + 1) ++last;
    int64_t begin = first;
    if (map[begin] < 0) ++begin;  // -1, 0, 1, ...: the run starts at 0
    if (last - begin > best.length) best = {begin, last - begin};
    first = last;
  }
  return best;
}

}  // namespace svengine::kernels
