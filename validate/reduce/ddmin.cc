#include "validate/reduce/ddmin.h"

#include <algorithm>

namespace svengine::validate {

Result<std::vector<int>> ddmin(std::vector<int> items, const std::function<Result<bool>(const std::vector<int>&)>& test) {
  for (size_t n = 2; items.size() >= 2;) {
    n = std::min(n, items.size());
    const auto chunk = [&](size_t i, bool rest) {
      const auto begin = items.begin() + static_cast<std::ptrdiff_t>(items.size() * i / n);
      const auto end = items.begin() + static_cast<std::ptrdiff_t>(items.size() * (i + 1) / n);
      std::vector<int> out;
      if (!rest) return out.assign(begin, end), out;
      out.assign(items.begin(), begin);
      out.insert(out.end(), end, items.end());
      return out;
    };
    bool smaller = false;
    for (const bool rest : {false, true}) {
      if (rest && n == 2) break;  // the rests of two halves are the halves
      for (size_t i = 0; i < n && !smaller; ++i) {
        std::vector<int> part = chunk(i, rest);
        SV_ASSIGN(smaller, test(part));
        if (!smaller) continue;
        items = std::move(part);
        n = rest ? std::max<size_t>(n - 1, 2) : 2;
      }
      if (smaller) break;
    }
    if (smaller) continue;
    if (n == items.size()) break;
    n *= 2;
  }
  return items;
}

Result<std::vector<int>> halve(std::vector<int> items, const std::function<Result<bool>(const std::vector<int>&)>& test) {
  while (items.size() > 1) {
    const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
    std::vector<int> first(items.begin(), middle), second(middle, items.end());
    SV_ASSIGN(const bool in_first, test(first));
    if (in_first) {
      items = std::move(first);
      continue;
    }
    SV_ASSIGN(const bool in_second, test(second));
    if (!in_second) break;
    items = std::move(second);
  }
  return items;
}

Result<std::vector<int>> bisect_range(std::vector<int> items, const std::function<Result<bool>(const std::vector<int>&)>& test) {
  const auto part = [&](size_t begin, size_t end) {
    return std::vector<int>(items.begin() + static_cast<std::ptrdiff_t>(begin), items.begin() + static_cast<std::ptrdiff_t>(end));
  };
  size_t low = 0, high = items.size();  // the beginning of length `high` does it
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    SV_ASSIGN(const bool does, test(part(0, middle)));
    (does ? high : low) = middle;
  }
  size_t first = 0, beyond = high;  // what begins at `first` does it
  while (beyond - first > 1) {
    const size_t middle = first + (beyond - first) / 2;
    SV_ASSIGN(const bool does, test(part(middle, high)));
    (does ? first : beyond) = middle;
  }
  return part(first, high);
}

}  // namespace svengine::validate
